import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeimdallError } from '../errors.ts'
import { countLines, formatCapsule, parseCapsule } from './capsule-text.ts'

const TS = '2026-06-11T12:07:27Z'

test('seed 000, capsules: the file is front matter and labelled lines', () => {
  const text = formatCapsule('w2', { what: 'added book diff', where: 'F13', depends: ['w1', 'w0'] }, TS)
  expect(text).toBe(`---\nid: w2\ndepends: w1,w0\nts: ${TS}\n---\nWHAT: added book diff\nWHERE: F13\n`)
  expect(parseCapsule('w2', text)).toEqual({
    id: 'w2',
    depends: ['w1', 'w0'],
    ts: TS,
    body: 'WHAT: added book diff\nWHERE: F13',
  })
})

test('seed 000, capsules: ten lines are taken, eleven are refused', () => {
  const what = (extra: number): string => Array.from({ length: 1 + extra }, (_, i) => `line ${i}`).join('\n')
  expect(countLines(formatCapsule('w', { what: what(4), depends: [] }, TS))).toBe(10)
  expect(() => formatCapsule('w', { what: what(5), depends: [] }, TS)).toThrow(/11 lines/)
})

test.each([
  ['an id with a path in it', () => formatCapsule('../w', { what: 'x', depends: [] }, TS), 'ID_INVALID'],
  [
    'a dependency with a path in it',
    () => formatCapsule('w', { what: 'x', depends: ['../../decisions'] }, TS),
    'ID_INVALID',
  ],
  ['a dependency on itself', () => formatCapsule('w', { what: 'x', depends: ['w'] }, TS), 'CAPSULE_CYCLE'],
  [
    'ten lines that hold a book',
    () => formatCapsule('w', { what: 'x'.repeat(8_180), depends: [] }, TS),
    'CAPSULE_TOO_LONG',
  ],
  ['an escape sequence', () => formatCapsule('w', { what: 'a\u001b[2Jb', depends: [] }, TS), 'VALUE_INVALID'],
  ['a text without front matter', () => parseCapsule('w', 'WHAT: x\n'), 'STORE_CORRUPT'],
  [
    'front matter that depends on a path',
    () => parseCapsule('w', '---\ndepends: ../x\n---\nWHAT: x\n'),
    'STORE_CORRUPT',
  ],
])('%s is refused', (_, act, code) => {
  expect(act).toThrow(HeimdallError)
  expect(act).toThrow(expect.objectContaining({ code }))
})

test("the seed's own tool may separate dependencies by blanks, and its file may end its lines with CRLF", () => {
  expect(parseCapsule('w', '---\r\nid: w\r\ndepends: a, b c\r\nts: t\r\n---\r\nWHAT: x\r\n').depends).toEqual([
    'a',
    'b',
    'c',
  ])
})

test('no text in the body can pass for a dependency', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('x', '---', 'depends: evil', 'id: evil', '\n'), { minLength: 1, maxLength: 5 }),
      (parts) => {
        const what = `w${parts.join('\n')}`
        try {
          expect(parseCapsule('w', formatCapsule('w', { what, depends: ['d'] }, TS)).depends).toEqual(['d'])
        } catch (error) {
          if (!(error instanceof HeimdallError) || error.code !== 'CAPSULE_TOO_LONG') throw error
        }
      },
    ),
  )
})
