import { expect, test } from 'vitest'
import { ERRORS, EXIT, HeimdallError, ignore, isErrno } from './errors.ts'

test('every code has an exit code of the table, and a sentence', () => {
  const exits: readonly number[] = Object.values(EXIT)
  for (const [code, entry] of Object.entries(ERRORS)) {
    expect(code).toMatch(/^[A-Z][A-Z0-9_]+$/)
    expect(exits, code).toContain(entry.exit)
    expect(entry.exit, code).not.toBe(EXIT.ok)
    expect(entry.means, code).toMatch(/^[a-z].{10,}[^.]$/)
  }
})

test('ignore swallows the named system error alone', () => {
  const missing = Object.assign(new Error('x'), { code: 'ENOENT' })
  expect(ignore('ENOENT')(missing)).toBeUndefined()
  expect(() => ignore('EEXIST')(missing)).toThrow(missing)
  expect(isErrno(new HeimdallError('USAGE', 'x'), 'ENOENT')).toBe(false)
})
