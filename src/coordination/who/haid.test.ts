// HAIDs: grammar, derivation, and input that tries to be one (seed 000 T-1; briefing-origin §2.1).
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { haidFileName, parseHaid, readHaid, rootHaid, rootOf, slug, spawnHaid, trailer } from './haid.ts'

const source = { email: 'Ana.Maria@example.org', user: 'root', host: 'Box-7.local', root: '/repo' }

test('human from the e-mail, machine from the short host name, hash from both and the project', () => {
  expect(rootHaid(source)).toMatch(/^haid:ana-maria\.box-7-[0-9a-f]{4}$/)
  expect(rootHaid(source)).toBe(rootHaid({ ...source, user: 'other' }))
  expect(rootHaid(source)).not.toBe(rootHaid({ ...source, root: '/elsewhere' }))
})

test('what has no letters becomes unknown instead of a malformed HAID', () => {
  expect(rootHaid({ email: '名前@example.org', user: undefined, host: '10.0.0.7', root: '/r' })).toMatch(
    /^haid:unknown\.unknown-/,
  )
})

test('every derived HAID is a HAID, whatever it is derived from', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (email, user, host, role) => {
      const root = rootHaid({ email, user, host, root: '/r' })
      expect(readHaid(root)).toBeDefined()
      if (slug(role) !== '') expect(rootOf(spawnHaid(root, role))).toBe(root)
    }),
  )
})

test.each([
  'haid:ana.box-1f2e\n',
  'haid:ana.box-1F2E',
  'haid:.vm-81d3',
  'haid:ana.box-1f2e/a/b',
  'haid:ana.box-1f2e/-a',
  `haid:${'a'.repeat(200)}.b-1f2e`,
  'ana.box-1f2e',
  '',
])('%j is refused', (text) => {
  expect(() => parseHaid(text)).toThrow(expect.objectContaining({ code: 'HAID_INVALID' }))
})

test('one level of spawning, file names without separators, and the trailer of a commit', () => {
  expect(spawnHaid('haid:ana.box-1f2e/cursor', 'Code Reviewer')).toBe('haid:ana.box-1f2e/code-reviewer')
  expect(() => spawnHaid('haid:ana.box-1f2e', '!!')).toThrow(expect.objectContaining({ code: 'HAID_INVALID' }))
  expect(haidFileName('haid:ana.box-1f2e/cursor')).toBe('haid_ana.box-1f2e_cursor')
  expect(trailer('haid:ana.box-1f2e')).toBe('Heimdall-Agent: haid:ana.box-1f2e')
})
