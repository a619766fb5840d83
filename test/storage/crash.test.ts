// Power cuts: every crash state of every storage operation is recovered from (acknowledged ⊆ recovered ⊆ attempted).
import { expect, test } from 'vitest'
import { openAppendLog } from '../../src/storage/append-log.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../../src/storage/atomic-file.ts'
import { updateFile } from '../../src/storage/file-lock.ts'
import type { Fs } from '../../src/storage/fs.ts'
import { readLog } from '../../src/storage/log-reader.ts'
import { readSideFile, writeSideFile } from '../../src/storage/side-file.ts'
import { crashStates } from '../support/crash-states.ts'
import { type DiskImage, emptyDisk, type SimulatedDisk, simulateDisk, treeOf } from '../support/simulated-disk.ts'

/** Runs `act` on a disk and returns how many crash states were checked. */
async function survivesCrashes(
  start: DiskImage,
  act: (disk: SimulatedDisk) => Promise<void> | void,
  check: (fs: Fs, marks: readonly string[]) => void,
): Promise<number> {
  const disk = simulateDisk(start)
  await act(disk)
  expect(disk.openFiles()).toBe(0)
  let states = 0
  for (const { image, marks, story } of crashStates(start, disk.ops)) {
    states += 1
    try {
      check(simulateDisk(image).fs, marks)
    } catch (error) {
      throw new Error(story, { cause: error })
    }
  }
  return states
}

const linesOf = (fs: Fs, path = '/log'): string[] =>
  [...readLog(path, { fs })]
    .filter(({ isTorn, text }) => !isTorn && isJson(text))
    .map(({ text }) => (JSON.parse(text) as { line: string }).line)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return false
  }
}

const json = (line: string): string => JSON.stringify({ line })

/** Acknowledged lines are there, none is there that nobody wrote, a second recovery changes nothing, and the log goes on. */
function checkLog(fs: Fs, acknowledged: readonly string[], attempted: readonly string[]): void {
  openAppendLog('/log', { fs }).close()
  const recovered = linesOf(fs)
  expect(recovered).toEqual(expect.arrayContaining([...acknowledged]))
  expect(attempted).toEqual(expect.arrayContaining(recovered))
  expect(new Set(recovered).size).toBe(recovered.length)
  const bytes = readFileIfThere('/log', fs)?.toString('latin1')
  openAppendLog('/log', { fs }).close()
  expect(readFileIfThere('/log', fs)?.toString('latin1') === bytes).toBe(true)
  const log = openAppendLog('/log', { fs })
  log.append(json('after'))
  log.close()
  expect(linesOf(fs)).toEqual([...recovered, 'after'])
}

/** A disk on which `act` has happened and everything is flushed. */
async function settled(act: (fs: Fs) => Promise<void> | void, start: DiskImage = emptyDisk): Promise<DiskImage> {
  const disk = simulateDisk(start)
  await act(disk.fs)
  return disk.image()
}

const withLog = (content: string): Promise<DiskImage> => settled((fs) => replaceFile('/log', content, { fs }))

test.each([
  ['no log yet', ''],
  ['a log with lines', `${json('old 1')}\n${json('old 2')}\n`],
  ['a log with a torn tail', `${json('old 1')}\n{"line":"to`],
  ['a log with zeros at its end', `${json('old 1')}\n\0\0\0`],
])('durable appends survive a power cut: %s', async (_, content) => {
  const start = content === '' ? emptyDisk : await withLog(content)
  const old = ['old 1', 'old 2'].filter((line) => content.includes(json(line)))
  const added = ['a', 'b'.repeat(5_000), 'c', 'd']
  const states = await survivesCrashes(
    start,
    async (disk) => {
      const log = openAppendLog('/log', { fs: disk.fs })
      const [first = '', ...together] = added
      await log.appendDurably(json(first))
      disk.mark(first)
      await Promise.all(
        together.map(async (line) => {
          await log.appendDurably(json(line))
          disk.mark(line)
        }),
      )
      log.close()
    },
    (fs, marks) => checkLog(fs, [...old, ...marks], [...old, ...added]),
  )
  expect(states).toBeGreaterThan(50)
})

test('two writers of one log, each acknowledged on its own', async () => {
  const start = await withLog(`${json('old')}\n`)
  await survivesCrashes(
    start,
    async (disk) => {
      const logs = [openAppendLog('/log', { fs: disk.fs }), openAppendLog('/log', { fs: disk.fs })]
      await Promise.all(
        logs.map(async (log, writer) => {
          for (const n of [1, 2]) {
            await log.appendDurably(json(`${writer}.${n}`))
            disk.mark(`${writer}.${n}`)
          }
          log.close()
        }),
      )
    },
    (fs, marks) => checkLog(fs, ['old', ...marks], ['old', '0.1', '0.2', '1.1', '1.2']),
  )
})

test.each([
  ['new', undefined],
  ['existing', 'old content'],
])('a replaced file is the old one or the new one: %s', async (_, before) => {
  const content = 'new content '.repeat(700)
  const start = before === undefined ? emptyDisk : await settled((fs) => replaceFile('/state', before, { fs }))
  const states = await survivesCrashes(
    start,
    (disk) => {
      replaceFile('/state', content, { fs: disk.fs })
      disk.mark('acknowledged')
    },
    (fs, marks) => {
      const text = readFileIfThere('/state', fs)?.toString()
      expect(marks.length > 0 ? [content] : [before, content]).toContain(text)
      // The next writer finds its way whatever was left behind, and leaves nothing behind itself.
      replaceFile('/state', 'third', { fs })
      expect(readFileIfThere('/state', fs)?.toString()).toBe('third')
    },
  )
  expect(states).toBeGreaterThan(5)
})

test('a leftover temporary file is gone after the next replace, whatever the crash', async () => {
  const start = await settled((fs) => replaceFile('/state', 'old', { fs }))
  const disk = simulateDisk(start)
  replaceFile('/state', 'new', { fs: disk.fs })
  let leftovers = 0
  for (const { image, story } of crashStates(start, disk.ops)) {
    if (Object.keys(treeOf(image)).length > 1) leftovers += 1
    const after = simulateDisk(image)
    replaceFile('/state', 'third', { fs: after.fs })
    expect(after.tree(), story).toEqual({ '/state': 'third' })
  }
  expect(leftovers).toBeGreaterThan(0)
})

test('updates in a new folder: each acknowledged one is counted', async () => {
  await survivesCrashes(
    emptyDisk,
    async (disk) => {
      ensureFolder('/a/b', disk.fs)
      for (const n of [1, 2, 3]) {
        await updateFile('/a/b/count', (before) => String(Number(before?.toString() ?? 0) + 1), { fs: disk.fs })
        disk.mark(String(n))
      }
    },
    (fs, marks) => {
      ensureFolder('/a/b', fs)
      const count = Number(readFileIfThere('/a/b/count', fs)?.toString() ?? 0)
      expect(count).toBeGreaterThanOrEqual(marks.length)
      expect(count).toBeLessThanOrEqual(marks.length + 1)
    },
  )
})

test('a line that names a side file is never there without it', async () => {
  const body = 'body '.repeat(2_000)
  await survivesCrashes(
    emptyDisk,
    async (disk) => {
      const log = openAppendLog('/log', { fs: disk.fs })
      const { hash } = writeSideFile('/bodies', body, disk.fs)
      await log.appendDurably(json(hash))
      disk.mark(hash)
      log.close()
    },
    (fs, marks) => {
      openAppendLog('/log', { fs }).close()
      const hashes = linesOf(fs)
      expect(hashes).toEqual(expect.arrayContaining([...marks]))
      for (const hash of hashes) expect(readSideFile('/bodies', hash, fs)?.toString()).toBe(body)
      expect(writeSideFile('/bodies', body, fs).bytes).toBe(body.length)
    },
  )
})
