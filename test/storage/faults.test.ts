// Disk faults: whichever call of an operation fails, with whichever error, nothing acknowledged is lost and nothing is left in a mess.
import { expect, test } from 'vitest'
import { HeimdallError } from '../../src/errors.ts'
import { openAppendLog } from '../../src/storage/append-log.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../../src/storage/atomic-file.ts'
import { updateFile } from '../../src/storage/file-lock.ts'
import type { Fs } from '../../src/storage/fs.ts'
import { readLog } from '../../src/storage/log-reader.ts'
import { readSideFile, writeSideFile } from '../../src/storage/side-file.ts'
import { everyFault, failingFs } from '../support/failing-fs.ts'
import { emptyDisk, simulateDisk } from '../support/simulated-disk.ts'

const ERRNOS = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'EACCES', 'short']

interface Outcome {
  readonly error: unknown
  readonly acknowledged: string[]
}

/**
 * Runs `act` with every fault of the catalogue at every call. After the fault has passed, `check` sees what was
 * acknowledged and the healed disk. Only errors of ours may come out, and no file may stay open.
 */
async function withstands(
  prepare: (fs: Fs) => void,
  act: (fs: Fs, acknowledge: (what: string) => void) => Promise<void> | void,
  check: (fs: Fs, outcome: Outcome) => void,
): Promise<number> {
  const attempt = async (fault?: Parameters<typeof failingFs>[1]) => {
    const disk = simulateDisk(emptyDisk)
    prepare(disk.fs)
    const failing = failingFs(disk.fs, fault)
    const acknowledged: string[] = []
    let error: unknown
    try {
      await act(failing.fs, (what) => acknowledged.push(what))
    } catch (caught) {
      error = caught
    }
    return { disk, failing, outcome: { error, acknowledged } }
  }
  const flawless = await attempt()
  expect(flawless.outcome.error).toBeUndefined()
  let faults = 0
  for (const fault of everyFault(flawless.failing.calls(), ERRNOS)) {
    const { disk, failing, outcome } = await attempt(fault)
    const story = JSON.stringify(fault)
    faults += 1
    expect(failing.hasStruck(), story).toBe(true)
    if (outcome.error !== undefined && !(outcome.error instanceof HeimdallError)) throw outcome.error
    expect(disk.openFiles(), `${story} left files open`).toBe(0)
    failing.heal()
    try {
      check(failing.fs, outcome)
    } catch (error) {
      throw new Error(`${story}: ${String(outcome.error)}\n${JSON.stringify(disk.tree(), null, 1)}`, { cause: error })
    }
  }
  return faults
}

const linesOf = (fs: Fs): string[] => [...readLog('/log', { fs })].map(({ text }) => text)

test('appending: a reported line is a reported line, and the log goes on afterwards', async () => {
  const faults = await withstands(
    (fs) => replaceFile('/log', '{"old":1}\n', { fs }),
    async (fs, acknowledge) => {
      const log = openAppendLog('/log', { fs })
      try {
        for (const line of ['{"a":1}', '{"b":2}', '{"c":3}']) {
          // One line failing must not keep the next one from being written.
          await log.appendDurably(line).then(
            () => acknowledge(line),
            (error: unknown) => {
              if (!(error instanceof HeimdallError)) throw error
            },
          )
        }
      } finally {
        log.close()
      }
    },
    (fs, { acknowledged }) => {
      const log = openAppendLog('/log', { fs })
      log.append('{"after":9}')
      log.close()
      const lines = linesOf(fs)
      expect(lines).toEqual(expect.arrayContaining(['{"old":1}', '{"after":9}', ...acknowledged]))
      // What is not a whole line is a sealed beginning of one, never a fusion of two.
      for (const line of lines)
        expect(
          ['{"old":1}', '{"after":9}', '{"a":1}', '{"b":2}', '{"c":3}'].some((whole) => whole.startsWith(line)),
        ).toBe(true)
    },
  )
  expect(faults).toBeGreaterThan(200)
})

test('a passing fault costs only the lines it struck', async () => {
  await withstands(
    () => undefined,
    async (fs, acknowledge) => {
      const log = openAppendLog('/log', { fs })
      const lines = ['1', '2', '3', '4', '5', '6']
      for (const line of lines)
        await log.appendDurably(line).then(
          () => acknowledge(line),
          (error: unknown) => {
            if (!(error instanceof HeimdallError)) throw error
          },
        )
      log.close()
    },
    (fs, { acknowledged, error }) => {
      // A fault that passes hits one line, or the opening; a lasting one all that follow. Never one and then another.
      if (error === undefined && acknowledged.at(-1) === '6') expect(acknowledged.length).toBeGreaterThanOrEqual(5)
      expect(linesOf(fs)).toEqual(expect.arrayContaining(acknowledged))
    },
  )
})

test('replacing: old or new, the temporary file is gone after the next replace', async () => {
  await withstands(
    (fs) => replaceFile('/state', 'old', { fs }),
    (fs, acknowledge) => {
      replaceFile('/state', 'new', { fs })
      acknowledge('new')
    },
    (fs, { acknowledged }) => {
      expect(acknowledged.length > 0 ? ['new'] : ['old', 'new']).toContain(readFileIfThere('/state', fs)?.toString())
      replaceFile('/state', 'third', { fs })
      expect(readFileIfThere('/state', fs)?.toString()).toBe('third')
      expect(fs.lstat('/.state.0.tmp')).toBeUndefined()
    },
  )
})

test('updating: the count is right and the lock is free', async () => {
  const increment = (fs: Fs): Promise<void> =>
    updateFile('/a/count', (before) => String(Number(before?.toString() ?? 0) + 1), { fs })
  const outcomes: number[] = []
  await withstands(
    () => undefined,
    async (fs, acknowledge) => {
      ensureFolder('/a', fs)
      await increment(fs)
      acknowledge('1')
      await increment(fs)
      acknowledge('2')
    },
    (fs, { acknowledged }) => {
      ensureFolder('/a', fs)
      const count = Number(readFileIfThere('/a/count', fs)?.toString() ?? 0)
      expect([acknowledged.length, acknowledged.length + 1]).toContain(count)
      const fd = fs.open('/a/count.lock', 0o102)
      expect([fs.tryLock(fd, 0), fs.tryLock(fd, 1)]).toEqual([true, true])
      fs.close(fd)
      outcomes.push(count)
    },
  )
  expect(new Set(outcomes)).toEqual(new Set([0, 1, 2]))
})

test('side files: whole or absent', async () => {
  await withstands(
    () => undefined,
    (fs, acknowledge) => acknowledge(writeSideFile('/bodies', 'a large body', fs).hash),
    (fs, { acknowledged }) => {
      const { hash } = writeSideFile('/other', 'a large body', fs)
      const body = fs.lstat('/bodies') === undefined ? undefined : readSideFile('/bodies', hash, fs)?.toString()
      expect(acknowledged.length > 0 ? ['a large body'] : ['a large body', undefined]).toContain(body)
    },
  )
})

test('a failed flush fails every line written before it was known, and none after', async () => {
  const { fs } = simulateDisk(emptyDisk)
  let failures = 0
  let flushes = 0
  const flushed = new Set<number>()
  const flaky: Fs = {
    ...fs,
    async syncDataLater(fd) {
      flushes += 1
      flushed.add(fd)
      await new Promise<void>((resolve) => {
        setImmediate(resolve)
      })
      if (failures > 0) {
        failures -= 1
        throw Object.assign(new Error('EIO: the medium is gone'), { code: 'EIO' })
      }
      await fs.syncDataLater(fd)
    },
  }
  const log = openAppendLog('/log', { fs: flaky })
  failures = 1
  const first = log.appendDurably('first')
  const together = log.appendDurably('together')
  await Promise.resolve()
  await Promise.resolve()
  // The flush of the first two is under way; this one waits for the next, which the kernel would call clean.
  const during = log.appendDurably('during')
  const results = await Promise.allSettled([first, together, during])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(results[0]).toMatchObject({ reason: { code: 'STORE_UNREADABLE' } })
  expect(flushes).toBe(1)
  await log.appendDurably('later')
  expect(flushes).toBe(2)
  // Opened anew: on the old one the kernel would call the lost pages clean.
  expect(flushed.size).toBe(2)
  log.close()
})

test('lines written in one breath share one flush', async () => {
  const { fs, ops } = simulateDisk(emptyDisk)
  const log = openAppendLog('/log', { fs })
  await Promise.all(Array.from({ length: 50 }, (_, n) => log.appendDurably(`line ${n}`)))
  log.close()
  const file = ops.find((op) => op.type === 'write')?.inode
  expect(ops.filter((op) => op.type === 'sync' && op.inode === file)).toHaveLength(1)
  expect(linesOf(fs)).toHaveLength(50)
})

test('a log closed while lines wait for the disk acknowledges them and then closes', async () => {
  const disk = simulateDisk(emptyDisk)
  const log = openAppendLog('/log', { fs: disk.fs })
  const waiting = log.appendDurably('last')
  log.close()
  expect(disk.openFiles()).toBeGreaterThan(0)
  await waiting
  await Promise.resolve()
  expect(disk.openFiles()).toBe(0)
  expect(() => log.append('too late')).toThrow(/closed/)
})
