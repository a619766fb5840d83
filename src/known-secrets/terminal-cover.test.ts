// Secrets on a terminal: covered in place, whatever stands between their letters and wherever the output is cut.
import { expect, test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { HARD_SECRETS, SECRET_FORMS } from '../../test/support/secret-forms.ts'
import { TerminalCover } from './terminal-cover.ts'

const SECRET = 'ghp_Zx81LmQ0vTt4Hs77'

/** Written by hand, not by ours: what a person reads on the screen. */
const read = (bytes: Buffer): string =>
  bytes
    .toString('latin1')
    // oxlint-disable-next-line no-control-regex -- these are what a terminal acts on
    .replaceAll(/\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|[\0-\x1f\x7f]/g, '')

function coverOf(...values: string[]): TerminalCover {
  const cover = new TerminalCover()
  cover.add(values)
  return cover
}

const inPieces = (cover: TerminalCover, pieces: readonly Buffer[]): Buffer =>
  Buffer.concat([...pieces.map((piece) => Buffer.from(cover.push(piece))), cover.end()])

/** Every cut in the soak; in the tests every third, a different one for each place of the secret. */
const CUT_STEP = scaled(3, 1)

const BETWEEN = {
  nothing: '',
  'a colour': '\x1b[1;32m',
  'a move of the cursor': '\x1b[12;40H',
  'the end of a line': '\r\n',
  'a title': '\x1b]0;building\x07',
  'a character set': '\x1b(B',
  'an address': '\x1b]8;;https://x.test\x1b\\',
}

test.each(Object.entries(BETWEEN))('with %s between its letters, cut anywhere', (_, between) => {
  const cover = coverOf(SECRET)
  for (let at = 1; at < SECRET.length; at += 1) {
    const said = Buffer.from(`token: ${SECRET.slice(0, at)}${between}${SECRET.slice(at)} ok`)
    for (let cut = at % CUT_STEP; cut <= said.length; cut += CUT_STEP) {
      const covered = inPieces(cover, [said.subarray(0, cut), said.subarray(cut)])
      expect(read(covered)).toBe('token: [REDACTED]********** ok')
      // Whatever moves the cursor is still there.
      expect(covered.length).toBe(said.length)
      expect(covered.includes(between)).toBe(true)
    }
  }
})

test('byte by byte, and with a sequence before every letter', () => {
  const said = Buffer.from(
    SECRET.split('')
      .map((letter, n) => `\x1b[3${n % 8}m${letter}`)
      .join(''),
  )
  const covered = inPieces(
    coverOf(SECRET),
    [...said].map((byte) => Buffer.of(byte)),
  )
  expect(read(covered)).toBe('[REDACTED]**********')
})

test.each(Object.entries(SECRET_FORMS))('%s: no letter of it is left', (_, encode) => {
  for (const secret of HARD_SECRETS.slice(0, scaled(3, 50))) {
    const written = encode(secret)
    const said = Buffer.from(`a ${written} b`)
    const cover = coverOf(secret)
    for (let cut = 0; cut <= said.length; cut += 3) {
      const covered = inPieces(cover, [said.subarray(0, cut), said.subarray(cut)])
      expect(covered.length).toBe(said.length)
      const core = written.slice(2, -2)
      if (core.length > 4) expect(covered.toString()).not.toContain(core)
      expect(covered.toString()).not.toContain(secret)
    }
  }
})

test('a secret of several lines is found as a terminal writes them', () => {
  const key = '-----BEGIN KEY-----\nMIIBVgIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----'
  const covered = inPieces(coverOf(key), [Buffer.from(`$ cat key\r\n${key.replaceAll('\n', '\r\n')}\r\n$ `)])
  expect(covered.toString()).not.toMatch(/MIIB|hkiG/)
  expect(covered.toString().split('\r\n')).toHaveLength(6)
})

test('in a title, in an address and in the clipboard of a sequence', () => {
  const base64 = Buffer.from(SECRET).toString('base64')
  const said = `\x1b]0;${SECRET}\x07\x1b]8;;https://x.test/?t=${SECRET}\x1b\\x\x1b]8;;\x1b\\\x1b]52;c;${base64}\x07`
  const covered = inPieces(coverOf(SECRET), [Buffer.from(said)]).toString()
  expect(covered).not.toContain(SECRET)
  expect(covered).not.toContain(base64.slice(0, 20))
  expect(covered).toHaveLength(said.length)
})

test('one secret inside another, and a second that begins with the end of the first', () => {
  const cover = (): TerminalCover => coverOf('abcdefgh', 'cdef', 'ghijklmn')
  const said = Buffer.from('<abcdefghijklmn> <xcdefx>')
  for (let cut = 0; cut <= said.length; cut += 1)
    expect(inPieces(cover(), [said.subarray(0, cut), said.subarray(cut)]).toString()).toMatch(
      /^<[^a-n]{14}> <x\*{4}x>$/,
    )
})

test('what is no secret passes unchanged, and only what may have begun waits', () => {
  const cover = coverOf(SECRET)
  const prompt = Buffer.from('\x1b[32m$\x1b[0m ls -l gh')
  expect(cover.push(prompt).toString()).toBe('\x1b[32m$\x1b[0m ls -l ')
  expect(cover.push(Buffer.from('ost.txt')).toString()).toBe('ghost.txt')
  expect(cover.end()).toHaveLength(0)
})

test('a sequence that never ends takes no more memory than its bound, and nothing is lost', () => {
  const cover = coverOf(SECRET)
  const flood = Buffer.alloc(8_192, 'x')
  let bytes = cover.push(Buffer.from('\x1b]1337;File=')).length
  for (let n = 1; n <= 64; n += 1) {
    bytes += cover.push(flood).length
    expect(12 + n * flood.length - bytes).toBeLessThanOrEqual(16 << 10)
  }
  expect(bytes + cover.end().length).toBe(12 + 64 * flood.length)
})

test('without secrets the same bytes come back', () => {
  const cover = new TerminalCover()
  const piece = Buffer.from(SECRET)
  expect(cover.push(piece)).toBe(piece)
  expect(cover.whole(piece)).toBe(piece)
  expect(cover.text(SECRET)).toBe(SECRET)
})
