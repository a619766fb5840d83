// Names: two words, unique, and never without end (seed 002 §3.3).
import { expect, test } from 'vitest'
import { freeName, parseAgentId } from './names.ts'

test('a made-up name is an agent id of two words', () => {
  for (let i = 0; i < 200; i += 1)
    expect(
      parseAgentId(
        freeName(
          () => false,
          () => i / 200,
        ),
      ),
    ).toMatch(/^[a-z]+-[a-z]+$/)
})

test('when everything is taken, a number is added', () => {
  const taken = new Set<string>()
  const isTaken = (name: string): boolean => !/\d$/.test(name) || taken.has(name)
  const first = freeName(isTaken, () => 0)
  taken.add(first)
  expect([first, freeName(isTaken, () => 0)]).toEqual(['amber-anchor-2', 'amber-anchor-3'])
})

test.each([
  'ab',
  'Amber-Otter',
  'amber--otter',
  '-amber',
  'amber-',
  'am ber',
  'амбер-otter',
  'a'.repeat(49),
  '../etc',
  'amber\u0000otter',
])('%j is no agent id', (text) => {
  expect(() => parseAgentId(text)).toThrow(expect.objectContaining({ code: 'INVALID_AGENT_ID' }))
})
