// The command lines of docs/fleet.md, in its order, on the machines that it speaks of: the one whose state everybody gets, and another.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { testEngine } from '../fleet/engine.ts'
import { blocksOf, reader, wayOf, type Ways } from './reader.ts'

const CTRL_C = '\u0003'
const engine = testEngine()

/** Typed on the other machine. */
const OTHERS = ['heimdall fleet join', 'heimdall fleet leave', 'heimdall fleet import']

const WAYS: Ways = {
  // There is no such machine.
  'heimdall fleet expel': { ends: 3 },
  'heimdall fleet link': { see: 'Ctrl-C', type: CTRL_C },
}

test('every line about several machines does what it says', async () => {
  const [first, other] = clones()
  await engine.sync()
  first.write('owner-url', await engine.server.database())
  const lines = blocksOf('docs/fleet.md').flat()
  expect(lines.length).toBeGreaterThan(OTHERS.length)
  for (const line of lines) {
    if (line.startsWith('heimdall fleet join')) other.write('member-url', joinUrlOf(first.said()))
    if (line.startsWith('heimdall fleet import')) other.write('state.jsonl', readFileSync(first.path('state.jsonl')))
    const machine = OTHERS.some((start) => line.startsWith(start)) ? other : first
    await machine.type(line, wayOf(line, WAYS))
  }
})

test('the line that fleet create prints for others joins them as it stands', async () => {
  const [first, other] = clones()
  first.write('owner-url', await engine.server.database())
  await first.type('heimdall fleet create < owner-url')
  const printed = /^\s*(printf .*\| heimdall fleet join)/m.exec(first.said().replaceAll('\r', ''))?.[1]
  await other.type(`sh -c "${printed}"`, { see: 'This machine is' })
})

/** Of one repository: the other has the first commit of the first. */
function clones() {
  const [first, other] = [reader(), reader()]
  other.git('fetch', '--quiet', first.root)
  return [first, other] as const
}

const joinUrlOf = (said: string): string => /postgres(?:ql)?:\/\/[^'\s]+/.exec(said)?.[0] ?? 'no URL was printed'
