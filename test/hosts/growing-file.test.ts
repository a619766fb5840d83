// A file that somebody else writes: whole lines once, in order, whatever happens to the file.
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TRANSCRIPT_LINE_BYTES_MAX, TRANSCRIPT_READ_BYTES } from '../../src/limits.ts'
import { GrowingFile } from '../../src/hosts/usage/growing-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'growing-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function follow(name = 'a.jsonl', marks: readonly string[] = ['"m"', '"n"']) {
  const path = join(folder, name)
  const file = new GrowingFile(path, marks)
  const seen: string[] = []
  let tooLong = 0
  const visitor = { line: (text: string) => void seen.push(text), tooLong: () => void (tooLong += 1) }
  return {
    path,
    seen,
    tooLong: () => tooLong,
    read: () => file.read(visitor),
    rest: () => file.readRest(visitor),
    close: () => file.close(),
  }
}

test('lines with a mark, each once, however the bytes come', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('{"m":1}', '{"x":2}', '{"n":"ü"}', '', '{"m":1,"n":2}', '"m" "m"')),
      fc.array(fc.nat({ max: 40 })),
      (lines, cuts) => {
        const { path, seen, read, close } = follow(`${Math.random()}.jsonl`)
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
        let at = 0
        for (const cut of [...cuts, bytes.length]) {
          appendFileSync(path, bytes.subarray(at, at + cut))
          at += cut
          read()
        }
        expect(seen).toEqual(lines.filter((line) => /"[mn]"/.test(line)))
        close()
      },
    ),
    { numRuns: 50 },
  )
})

test('a line without its end waits for it, and is read at last when nobody goes on', () => {
  const { path, seen, read, rest, close } = follow()
  expect(read()).toBe('gone')
  writeFileSync(path, '{"m":1}\n{"m":2')
  expect(read()).toBe('read')
  expect(seen).toEqual(['{"m":1}'])
  rest()
  expect(seen).toEqual(['{"m":1}', '{"m":2'])
  close()
})

test('a file that was moved away is read to its end, then the new one from its beginning', () => {
  const { path, seen, read, close } = follow()
  writeFileSync(path, '{"m":1}\n')
  read()
  appendFileSync(path, '{"m":2}\n')
  renameSync(path, `${path}.1`)
  writeFileSync(path, '{"m":3}\n')
  expect(read()).toBe('rewritten')
  read()
  expect(seen).toEqual(['{"m":1}', '{"m":2}', '{"m":3}'])
  close()
})

test.each([
  ['cut', (path: string) => truncateSync(path, 8)],
  ['written anew in place, and longer', (path: string) => writeFileSync(path, '{"m":7}\n{"x":0}\n{"m":8}\n{"m":9}\n')],
])('a file that was %s is read again', (_, change) => {
  const { path, seen, read, close } = follow()
  writeFileSync(path, '{"m":1}\n{"m":2}\n')
  read()
  change(path)
  expect(read()).toBe('rewritten')
  const before = seen.length
  expect(read()).toBe('read')
  expect(seen.length).toBeGreaterThan(before)
  close()
})

test('a line longer than a block is read whole, one that nobody keeps is passed over', () => {
  const { path, seen, tooLong, read, close } = follow()
  const long = `{"m":"${'x'.repeat(3 * TRANSCRIPT_READ_BYTES)}"}`
  writeFileSync(path, `${long}\n{"m":2}\n`)
  read()
  expect(seen).toEqual([long, '{"m":2}'])
  appendFileSync(path, `{"m":"${'y'.repeat(TRANSCRIPT_LINE_BYTES_MAX)}"}\n{"m":3}\n`)
  read()
  expect(tooLong()).toBe(1)
  expect(seen.at(-1)).toBe('{"m":3}')
  close()
})
