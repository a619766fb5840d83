// What is offered is what the screen takes: a key, a line, or only words of one's own.
import { expect, test } from 'vitest'
import { choicesOf, type ShownChoice, typedBy } from './choices.ts'
import type { Wait } from './fleet.ts'

const wait = (asks: string, source: string, kind: Wait['kind'] = 'question'): Wait => ({
  id: 'w',
  kind,
  agent_id: 'amber-otter',
  asks,
  detail: null,
  since: '2026-11-17T10:00:00.000Z',
  evidence: { source, seen: asks },
  session_id: 'amber-otter',
  run_id: null,
  answers: [],
  snoozed_until: null,
})

const offered = (asked: Wait, shown: readonly ShownChoice[] = []): unknown[] =>
  choicesOf(asked, { hasSession: true, showsPin: false, shown }).map(({ id, label }) => [label, typedBy(id)])

const WORDS = ['Type into the session', undefined]

test('a line that is answered with yes or no offers these, and each is sent off', () => {
  const yes = (text: string): unknown => ['Yes', { text, isLine: true }]
  const no = (text: string): unknown => ['No', { text, isLine: true }]
  expect(offered(wait('Delete all files? [y/N]', 'screen'))).toEqual([yes('y'), no('n'), WORDS])
  expect(offered(wait('Overwrite a.txt (y/n):', 'screen', 'needs input'))).toEqual([yes('y'), no('n'), WORDS])
  expect(offered(wait('Continue connecting (yes/no/[fingerprint])?', 'screen'))).toEqual([yes('yes'), no('no'), WORDS])
  expect(choicesOf(wait('Delete? [y/N]', 'screen'), { hasSession: true, showsPin: false, shown: [] })[0]?.isFirst).toBe(
    false,
  )
})

test('numbers are offered where a list stands, or where a host asks by a hook or by itself', () => {
  const list = [
    { key: '1', label: 'red', isLine: true },
    { key: '2', label: 'blue', isLine: true },
  ]
  expect(offered(wait('Which?', 'screen'), list)).toEqual([
    ['red', { text: '1', isLine: true }],
    ['blue', { text: '2', isLine: true }],
    WORDS,
  ])
  expect(offered(wait('Which file?', 'screen'))).toEqual([WORDS])
  expect(offered(wait('to run: rm', 'hook', 'permission'))).toEqual([
    ...[1, 2, 3].map((key) => [`Its choice ${key}`, { text: String(key), isLine: false }]),
    WORDS,
  ])
})
