// A state that somebody has written: a store is made from it, or it is refused in words. Whoever joins a fleet reads what any member has put there.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { changeAs } from '../../src/coordination/change.ts'
import { type Coordination, openCoordination } from '../../src/coordination/coordination.ts'
import { recordDecision } from '../../src/coordination/ledger/decisions-on-record.ts'
import { exportLedger } from '../../src/coordination/ledger/coordination-ledger.ts'
import { sendNote } from '../../src/coordination/notes.ts'
import { makeStore, wholeState } from '../../src/coordination/sqlite/whole-state.ts'
import { storePath } from '../../src/coordination/store-path.ts'
import { endTask, startTask } from '../../src/coordination/tasks.ts'
import { HeimdallError } from '../../src/errors.ts'
import { findProject } from '../../src/paths.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { enter, openRoom, wants } from './room.ts'

const NOW = { boot: 'boot-2', monoMs: 1, wallMs: 1_800_000_000_000 }

/** As it is written, line by line, without the last one. */
async function goodLines(): Promise<string[]> {
  const room = openRoom()
  const amber = await enter(room, 'amber-otter')
  const cobalt = await enter(room, 'cobalt-harbor')
  await claimScopes(room, amber, wants(room, ['src', 'docs/*.md']))
  await claimScopes(room, cobalt, wants(room, 'src/a.ts'))
  await sendNote(room, amber, { to: 'cobalt-harbor', category: 'INFO', subject: 'hello', body: 'you', task: 'T-1' })
  await startTask(room, amber, { taskId: 'T-1', title: 'do it' })
  await endTask(room, amber, { taskId: 'T-1', state: 'done', summary: 'done' })
  await recordDecision(room, amber, { title: 'so be it', body: 'because' })
  await changeAs(room, amber, (change) =>
    change.record({ type: 'CONFLICT_RAISED', payload: { page: 'conflicts/2026-01-01-c.md', id: 'c', title: 't' } }),
  )
  return wholeState(storePath(room.project)).text.split('\n').slice(0, -2)
}

function signed(lines: readonly string[]): string {
  const text = `${lines.join('\n')}\n`
  const sha256 = createHash('sha256').update(text).digest('hex')
  return `${text}${JSON.stringify({ rows: lines.length - 1, sha256 })}\n`
}

/** What became of it; anything but a store or words about it is thrown. */
async function outcomeOf(state: string): Promise<'made' | 'refused'> {
  const env = { USER: 'ana' }
  const project = findProject(temporaryFolder(), env)
  const path = storePath(project)
  try {
    makeStore(path, { state, membership: undefined, now: NOW })
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    expect(error.code).toMatch(/^(STORE_CORRUPT|FLEET_NEWER)$/)
    return 'refused'
  }
  const room = openCoordination({ project, env, clock: systemClock, machine: { boot: 'boot-2', host: 'box' } })
  try {
    await readAll(room)
  } finally {
    room.store.close()
  }
  return 'made'
}

/** Whoever is let in is read by everybody, and told of in files. */
async function readAll(room: Coordination): Promise<void> {
  room.store.read((rows) => {
    rows.agents()
    rows.claims({})
    rows.candidates(['src'])
    rows.events({})
    rows.notes({})
    rows.tickets()
    rows.tasks({})
  })
  await exportLedger(room)
}

const strange = fc.oneof(
  fc.constantFrom<unknown>(null, true, '', 'x', '../../x', 'a\0b', '{', '[]', '{}', -1, 0.5, 1e300, 2 ** 52, [], {}),
  fc.constantFrom<unknown>(
    { toString: 1, valueOf: 1 },
    { __proto__: null, length: 1e9 },
    'haid:x.y-0000',
    '9'.repeat(400),
  ),
  fc.jsonValue(),
)

type Mutation = (lines: string[]) => string[]

const at = fc.nat(1_000)
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(at, strange).map(
    ([line, value]): Mutation =>
      (lines) =>
        lines.with(line % lines.length, JSON.stringify(value)),
  ),
  fc
    .tuple(at, at, fc.constantFrom('', 'x', '"', '{', '\u0000', ','))
    .map(([line, place, text]): Mutation => (lines) => {
      const old = lines[line % lines.length] ?? ''
      const i = place % (old.length + 1)
      return lines.with(line % lines.length, old.slice(0, i) + text + old.slice(i + 1))
    }),
  fc.tuple(at, at).map(
    ([from, to]): Mutation =>
      (lines) =>
        lines.with(to % lines.length, lines[from % lines.length] ?? ''),
  ),
  fc.tuple(at, at, strange).map(([line, place, value]): Mutation => (lines) => {
    const parsed = JSON.parse(lines[line % lines.length] ?? '') as unknown
    return lines.with(line % lines.length, JSON.stringify(replaced(parsed, place, value)))
  }),
)

/** The value at one of the places in it is another one; texts that are JSON are places too. */
function replaced(whole: unknown, place: number, value: unknown): unknown {
  let left = place % placesIn(whole)
  const walk = (one: unknown): unknown => {
    if ((left -= 1) === -1) return value
    if (Array.isArray(one)) return one.map(walk)
    if (typeof one === 'string' && /^[[{]/.test(one)) return JSON.stringify(walk(JSON.parse(one)))
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, walk(inner)]))
  }
  return walk(whole)
}

function placesIn(one: unknown): number {
  if (typeof one === 'string' && /^[[{]/.test(one)) return 1 + placesIn(JSON.parse(one))
  if (typeof one !== 'object' || one === null) return 1
  return Object.values(one).reduce<number>((sum, inner) => sum + placesIn(inner), 1)
}

test('a state that was changed on its way is refused, and the same one makes the same store', async () => {
  const lines = await goodLines()
  const whole = signed(lines)
  const path = join(temporaryFolder(), 'a.db')
  makeStore(path, { state: whole, membership: undefined, now: NOW })
  expect(wholeState(path).text.split('\n').slice(1, -2)).toEqual(lines.slice(1))
  // Every byte of the last line, which no digest covers.
  for (let i = whole.lastIndexOf('\n', whole.length - 2) + 1; i < whole.length; i += 1)
    expect([i, await outcomeOf(`${whole.slice(0, i)}${whole[i] === '1' ? 2 : 1}${whole.slice(i + 1)}`)]).toEqual([
      i,
      'refused',
    ])
  await fc.assert(
    fc.asyncProperty(at, fc.nat(255), async (place, byte) => {
      const bytes = Buffer.from(whole)
      const i = (place * 97) % bytes.length
      fc.pre(bytes[i] !== byte)
      bytes[i] = byte
      expect(await outcomeOf(bytes.toString('utf8'))).toBe('refused')
      expect(await outcomeOf(whole.slice(0, i))).toBe('refused')
    }),
    { numRuns: scaled(40, 2_000) },
  )
})

test('whatever somebody writes into a state and signs, a store that can be read is made of it, or it is refused in words', async () => {
  const lines = await goodLines()
  for (const head of [
    null,
    'x',
    {},
    { kind: 'heimdall-state', at: null },
    { kind: 'heimdall-state', at: {}, numbers: null },
  ])
    expect([head, await outcomeOf(signed([JSON.stringify(head), ...lines.slice(1)]))]).toEqual([head, 'refused'])
  for (const last of ['null', '1', '[]', ''])
    expect([last, await outcomeOf(`${lines.join('\n')}\n${last}\n`)]).toEqual([last, 'refused'])
  await fc.assert(
    fc.asyncProperty(mutation, async (mutate) => {
      await outcomeOf(signed(mutate(lines)))
    }),
    { numRuns: scaled(80, 10_000) },
  )
})
