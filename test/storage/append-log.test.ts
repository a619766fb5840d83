// The append log on a real disk: torn tails, dead neighbours, removed files, limits; and reading it while it grows.
import { appendFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LOG_FOLLOW_MS, LOG_LINE_BYTES_MAX } from '../../src/limits.ts'
import { openAppendLog } from '../../src/storage/append-log.ts'
import { type Fs, realFs } from '../../src/storage/fs.ts'
import { followLog, type LogLine, readLog } from '../../src/storage/log-reader.ts'
import { readSideFile, writeSideFile } from '../../src/storage/side-file.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'

const logPath = (): string => join(temporaryFolder(), 'log')
const texts = (path: string, from = 0): string[] => [...readLog(path, { from })].map(({ text }) => text)

test('opening closes a torn tail so that the next line stands alone', () => {
  const path = logPath()
  writeFileSync(path, 'one\ntor')
  const log = openAppendLog(path)
  expect(readFileSync(path, 'utf8')).toBe('one\ntor\n')
  log.append('two')
  log.close()
  expect(texts(path)).toEqual(['one', 'tor', 'two'])
})

test('two openers that close the same tail cost an empty line, which readers skip', () => {
  const path = logPath()
  writeFileSync(path, 'one\ntor')
  // The second opener has looked before the first one wrote.
  const late: Fs = {
    ...realFs,
    write(fd, bytes) {
      appendFileSync(path, '\n')
      return realFs.write(fd, bytes)
    },
  }
  const log = openAppendLog(path, { fs: late })
  log.close()
  expect(readFileSync(path, 'utf8')).toBe('one\ntor\n\n')
  expect(texts(path)).toEqual(['one', 'tor'])
})

test('a neighbour that dies in mid-line cannot take our line with it, whenever it dies', () => {
  const path = logPath()
  const log = openAppendLog(path)
  log.append('one')
  appendFileSync(path, '{"torn":"by a neighb')
  log.append('two')
  expect(texts(path)).toEqual(['one', '{"torn":"by a neighb', 'two'])
  log.close()

  // Between our look at the tail and our write: only the place where the line landed tells.
  const unlucky: Fs = {
    ...realFs,
    write(fd, bytes) {
      if (Buffer.from(bytes).includes('three') && !readFileSync(path, 'utf8').includes('again'))
        appendFileSync(path, 'torn again')
      return realFs.write(fd, bytes)
    },
  }
  const second = openAppendLog(path, { fs: unlucky })
  second.append('three')
  second.close()
  expect(texts(path).slice(3)).toEqual(['torn againthree', 'three'])
})

test('a neighbour that writes whole lines in between costs nothing', () => {
  const path = logPath()
  const busy: Fs = {
    ...realFs,
    write(fd, bytes) {
      appendFileSync(path, 'neighbour\n')
      const written = realFs.write(fd, bytes)
      appendFileSync(path, 'neighbour\n')
      return written
    },
  }
  const log = openAppendLog(path, { fs: busy })
  log.append('ours')
  log.close()
  expect(texts(path)).toEqual(['neighbour', 'ours', 'neighbour'])
})

test('a log that was removed is made anew with the next line', async () => {
  const path = logPath()
  const log = openAppendLog(path)
  await log.appendDurably('one')
  rmSync(path)
  await log.appendDurably('two')
  log.close()
  expect(texts(path)).toEqual(['two'])
})

test('a new log is private', () => {
  const path = logPath()
  openAppendLog(path).close()
  expect((statSync(path).mode & 0o777).toString(8)).toBe('600')
})

test('a line up to the cap goes in, a longer one is refused and its body kept aside', () => {
  const path = logPath()
  const log = openAppendLog(path)
  const longest = 'x'.repeat(LOG_LINE_BYTES_MAX - 1)
  log.append(longest)
  expect(() => log.append(`${longest}x`)).toThrow(expect.objectContaining({ code: 'LINE_TOO_LARGE' }))
  expect(() => log.append('ä'.repeat(LOG_LINE_BYTES_MAX / 2))).toThrow(
    expect.objectContaining({ code: 'LINE_TOO_LARGE' }),
  )
  const folder = join(path, '../bodies')
  const { hash, bytes } = writeSideFile(folder, `${longest}x`)
  log.append(JSON.stringify({ body: hash, bytes }))
  log.close()
  const [first, second = ''] = texts(path)
  expect(first).toBe(longest)
  expect(readSideFile(folder, (JSON.parse(second) as { body: string }).body)?.toString()).toBe(`${longest}x`)
})

test.each(['two\nlines', '', 'a zero \0 byte'])('what a reader would not give back is refused: %j', (line) => {
  const log = openAppendLog(logPath())
  expect(() => log.append(line)).toThrow(expect.objectContaining({ code: 'INTERNAL' }))
  log.close()
})

test('side files: kept once, checked when read, never outside their folder', () => {
  const folder = join(temporaryFolder(), 'bodies')
  const { hash } = writeSideFile(folder, 'body')
  const { ino } = statSync(join(folder, hash))
  expect(writeSideFile(folder, Buffer.from('body'))).toEqual({ hash, bytes: 4 })
  expect(statSync(join(folder, hash)).ino).toBe(ino)
  writeFileSync(join(folder, hash), 'forged')
  expect(() => readSideFile(folder, hash)).toThrow(expect.objectContaining({ code: 'STORE_CORRUPT' }))
  writeSideFile(folder, 'body')
  expect(readSideFile(folder, hash)?.toString()).toBe('body')
  expect(readSideFile(folder, '0'.repeat(64))).toBeUndefined()
  expect(() => readSideFile(folder, '../secrets')).toThrow(/64 lower-case hex/)
})

test('reading gives whole lines with offsets to go on from, and tells torn ones', () => {
  const path = logPath()
  const parts = [
    '"one"\n',
    '\n',
    '"zwei ä"\n',
    '\0\0\0"three"\n',
    '\xff"four"\n',
    `${'x'.repeat(200_000)}\n`,
    '"six"\n',
  ]
  writeFileSync(
    path,
    Buffer.concat([
      ...parts.map((part) => Buffer.from(part, part.includes('\xff') ? 'latin1' : 'utf8')),
      Buffer.from('"unfinish'),
    ]),
  )
  const lines = [...readLog(path)]
  expect(lines.map(({ isTorn }) => isTorn)).toEqual([false, false, true, true, true, false])
  expect(lines[1]).toEqual({ offset: 7, next: 17, text: '"zwei ä"', isTorn: false })
  for (const [index, { offset }] of lines.entries())
    expect([...readLog(path, { from: offset })]).toEqual(lines.slice(index))
  expect(texts(path, lines.at(-1)?.next)).toEqual([])
  expect(texts(join(path, '../missing'))).toEqual([])
})

test('lines longer than one read are put together at every place where reads can cut them', () => {
  const path = logPath()
  const lines = Array.from({ length: 300 }, (_, n) => `${n}:${'äöü'.repeat((n * 37) % 700)}`)
  writeFileSync(path, `${lines.join('\n')}\n`)
  for (const step of [1, 7, 4096]) {
    const slow: Fs = { ...realFs, read: (fd, into, position) => realFs.read(fd, into.subarray(0, step), position) }
    const some = step === 1 ? lines.slice(0, 20) : lines
    const read: string[] = []
    for (const { text } of readLog(path, { fs: slow })) if (read.push(text) === some.length) break
    expect(read).toEqual(some)
  }
})

/** Collects what a follower yields while the test moves its clock. */
function following(path: string, from = 0) {
  const clock = fakeClock()
  const stop = new AbortController()
  const lines: LogLine[] = []
  const done = (async () => {
    for await (const line of followLog(path, { from, clock, signal: stop.signal })) lines.push(line)
  })()
  return {
    lines: () => lines.map(({ text }) => text),
    async until(count: number) {
      await until(`${count} lines`, async () => {
        await clock.advanceAsync(LOG_FOLLOW_MS)
        return lines.length >= count
      })
    },
    async stop() {
      stop.abort()
      await done
      expect(clock.pending()).toBe(0)
    },
  }
}

test('following goes on as the log grows, and waits for a log that is not there yet', async () => {
  const path = logPath()
  const follower = following(path)
  await follower.until(0)
  const log = openAppendLog(path)
  log.append('one')
  await follower.until(1)
  appendFileSync(path, 'tw')
  await follower.until(1)
  appendFileSync(path, 'o\nthree\n')
  await follower.until(3)
  await follower.stop()
  log.close()
  expect(follower.lines()).toEqual(['one', 'two', 'three'])
})

test('following from an offset skips what came before; a log made anew is read from its start', async () => {
  const path = logPath()
  writeFileSync(path, 'one\ntwo\n')
  const follower = following(path, 4)
  await follower.until(1)
  appendFileSync(path, 'last of the old file\n')
  rmSync(path)
  writeFileSync(path, 'first of the new file\n')
  await follower.until(3)
  truncateSync(path)
  await follower.until(3)
  appendFileSync(path, 'after a cut\n')
  await follower.until(4)
  await follower.stop()
  expect(follower.lines()).toEqual(['two', 'last of the old file', 'first of the new file', 'after a cut'])
})
