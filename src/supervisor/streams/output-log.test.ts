// The output log: what is kept is what was written, by absolute offset, within its bound.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { advance, isCut, START_OF_STREAM } from './cut.ts'
import { OutputLog } from './output-log.ts'

function append(log: OutputLog, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) {
    const room = log.room()
    const count = bytes.copy(room, 0, at, Math.min(bytes.length, at + 4_096))
    log.commit(count)
    at += count
  }
}

test('offsets, slices and the bound agree with the whole stream', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1, maxLength: 12 }),
      fc.nat(300_000),
      fc.nat(1_000_000),
      fc.nat(1_000_000),
      (sizes, keep, a, b) => {
        const log = new OutputLog(keep)
        let whole = Buffer.alloc(0)
        for (const [i, size] of sizes.entries()) {
          const part = Buffer.alloc(size, `chunk ${i} `)
          append(log, part)
          whole = Buffer.concat([whole, part])
        }
        expect([log.end, log.start]).toEqual([whole.length, Math.max(0, whole.length - keep)])
        const from = log.start + (a % (log.end - log.start + 1))
        const to = Math.min(log.end, from + b)
        expect(Buffer.concat(log.slices(from, to)).equals(whole.subarray(from, to))).toBe(true)
      },
    ),
    { numRuns: 60 },
  )
})

const pieces = fc.array(
  fc.constantFrom(
    'text ',
    '\x1b[1;31m',
    '\x1b]0;a title\x07',
    '\x1b]8;;u\x1b\\',
    'é日😀',
    '\n',
    '\x1bPdata\ndata\x1b\\',
    'x'.repeat(3_000),
  ),
  { minLength: 1, maxLength: 120 },
)

test('cuts before and after any offset are the nearest ones', () => {
  fc.assert(
    fc.property(pieces, fc.nat(200_000), (parts, where) => {
      const log = new OutputLog(1 << 30)
      const whole = Buffer.from(parts.join(''))
      append(log, whole)
      const at = where % (whole.length + 1)
      const isCutAt = (n: number): boolean => isCut(advance(START_OF_STREAM, whole.subarray(0, n)))
      let next: number | undefined = at
      while (next !== undefined && !isCutAt(next)) next = next < whole.length ? next + 1 : undefined
      let before = at
      while (!isCutAt(before)) before -= 1
      expect([log.cutAtOrAfter(at), log.cutAtOrBefore(at)]).toEqual([next, before])
    }),
    { numRuns: 60 },
  )
})
