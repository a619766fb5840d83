// Snapshots of a project in its engine: whole ones count, two that are made at once are two, and none is larger than it may be.
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { sendNote } from '../../src/coordination/notes.ts'
import { placeIn } from '../../src/coordination/sqlite/places.ts'
import { wholeState } from '../../src/coordination/sqlite/whole-state.ts'
import { connect, type Sql } from '../../src/fleet/engine-connection.ts'
import { FORMAT } from '../../src/fleet/log-version.ts'
import { onEngine } from '../../src/fleet/membership.ts'
import { packedState } from '../../src/fleet/packed-state.ts'
import { keepIfDue, makeFromEngine } from '../../src/fleet/snapshots.ts'
import { FLEET_SNAPSHOT_PART_BYTES, FLEET_SNAPSHOT_PARTS_MAX } from '../../src/limits.ts'
import { wants } from '../coordination/room.ts'
import { temporaryFolder } from '../support/project.ts'
import { box, enter, type Made, stateOf } from './box.ts'
import { testEngine } from './engine.ts'

const engine = testEngine()

interface Part {
  readonly making: string
  readonly at: { readonly seq: number; readonly id: string }
  readonly n: number
  readonly of: number
  readonly body: Buffer
}

const put = (sql: Sql, { making, at, n, of, body }: Part): Promise<unknown> =>
  sql`SELECT heimdall.keep(p.id, ${making}, ${at.seq}, ${at.id}, ${FORMAT}, ${n}, ${of},
    decode(${body.toString('base64')}::text, 'base64')) FROM heimdall.projects p`.execute()

async function memberOf(made: Made): Promise<Sql> {
  const sql = await connect({ url: made.url, isPooled: false })
  onTestFinished(() => sql.end())
  return sql
}

const keep = (made: Made, path: string): Promise<boolean> =>
  onEngine({ url: made.url, isPooled: false }, (ask) => keepIfDue(ask, made.project, path, 1))

/** A copy that a new machine makes from what the engine has; the places of snapshots that it has passed over. */
async function madeAnew(made: Made) {
  const path = `${temporaryFolder()}/coordination.db`
  const membership = { project: made.project, member: 'new', machine: 'new' }
  const now = { boot: 'b', monoMs: 1, wallMs: 1 }
  const refused = await onEngine({ url: made.url, isPooled: false }, (ask) =>
    makeFromEngine(ask, made.project, path, { membership, now }),
  )
  return { path, refused }
}

test('one that was killed half way counts for nothing: the whole one before it stays, and so do the entries since', async () => {
  const made = await engine.project()
  const sql = await memberOf(made)
  const one = box(made, 'one')
  const ana = await enter(one.room, 'ana')
  expect(await keep(made, one.path)).toBe(true)
  const whole = placeIn(one.path).at.seq
  await claimScopes(one.room, ana, wants(one.room, 'a'))
  const half = placeIn(one.path).at
  await put(sql, { making: 'half', at: half, n: 0, of: 2, body: Buffer.from('half') })
  await claimScopes(one.room, ana, wants(one.room, 'b'))
  // While it may still be under way nobody else begins; then it is one that was killed.
  expect(await onEngine({ url: made.url, isPooled: false }, (ask) => keepIfDue(ask, made.project, one.path, 2))).toBe(
    false,
  )
  expect(await keep(made, one.path)).toBe(true)
  const kept = await sql`SELECT seq::int, is_whole FROM heimdall.snapshots ORDER BY seq`
  expect(kept.map(({ seq, is_whole }) => [seq, is_whole] as unknown)).toEqual([
    [whole, true],
    [half.seq, false],
    [placeIn(one.path).at.seq, true],
  ])
  const bodies = await sql`SELECT seq::int FROM heimdall.entries WHERE body IS NOT NULL ORDER BY seq`
  expect(bodies.map(({ seq }) => seq as unknown)).toEqual([half.seq, half.seq + 1])
})

test('what two members make at the same entry does not mix', async () => {
  const made = await engine.project()
  const sql = await memberOf(made)
  const one = box(made, 'one')
  await enter(one.room, 'ana')
  const { at, text } = wholeState(one.path)
  const halves = (level: number): Buffer[] => {
    const whole = gzipSync(text, { level })
    return [whole.subarray(0, 100), whole.subarray(100)]
  }
  const [fast, small] = [halves(1), halves(9)] as [[Buffer, Buffer], [Buffer, Buffer]]
  await put(sql, { making: 'fast', at, n: 0, of: 2, body: fast[0] })
  await put(sql, { making: 'small', at, n: 1, of: 2, body: small[1] })
  expect(await sql`SELECT FROM heimdall.snapshots WHERE is_whole`).toHaveLength(0)
  await put(sql, { making: 'fast', at, n: 1, of: 2, body: fast[1] })
  await put(sql, { making: 'small', at, n: 0, of: 2, body: small[0] })
  expect(await sql`SELECT FROM heimdall.snapshots WHERE is_whole`).toHaveLength(2)
  const { path, refused } = await madeAnew(made)
  expect(refused).toEqual([])
  expect(stateOf(path)).toEqual(stateOf(one.path))
})

test('parts and their number have limits, and a part that is none is refused', async () => {
  const made = await engine.project()
  const sql = await memberOf(made)
  const one = box(made, 'one')
  await enter(one.room, 'ana')
  const { at } = placeIn(one.path)
  const [making, body] = ['evil', Buffer.from('x')]
  const refused = { code: '22023' }
  await expect(
    put(sql, { making, at, n: 0, of: 1, body: Buffer.alloc(FLEET_SNAPSHOT_PART_BYTES + 1) }),
  ).rejects.toMatchObject(refused)
  for (const [n, of] of [
    [0, FLEET_SNAPSHOT_PARTS_MAX + 1],
    [0, 0],
    [1, 1],
    [-1, 1],
  ] as const)
    await expect(put(sql, { making, at, n, of, body })).rejects.toMatchObject(refused)
  expect(await sql`SELECT FROM heimdall.snapshots`).toHaveLength(0)
})

test('whoever follows keeps one when it is due, and the log is trimmed without anybody who joins', async () => {
  const made = await engine.project()
  const sql = await memberOf(made)
  const one = box(made, 'one', { every: 4 })
  const ana = await enter(one.room, 'ana')
  const over = new AbortController()
  const told: string[] = []
  const following = one.room.store.link(over.signal, ({ message }) => told.push(message))
  const whole = async (): Promise<unknown[]> =>
    (await sql`SELECT seq::int FROM heimdall.snapshots WHERE is_whole ORDER BY seq`).map(({ seq }) => seq as unknown)
  for (const seq of [4, 8, 12]) {
    while (placeIn(one.path).at.seq < seq) await claimScopes(one.room, ana, wants(one.room, `a/${Math.random()}`))
    await expect.poll(async () => (await whole()).at(-1)).toBe(seq)
  }
  expect(await whole()).toEqual([8, 12])
  expect(await sql`SELECT FROM heimdall.entries WHERE body IS NULL`).toHaveLength(8)
  over.abort()
  await following
  expect(told).toEqual([])
})

test('packed a piece at a time it is the same state, and others write meanwhile', async () => {
  const made = await engine.project()
  const one = box(made, 'one')
  const ana = await enter(one.room, 'ana')
  await enter(one.room, 'ben')
  const note = { to: 'ben', task: 'T-1', category: 'INFO', subject: 'words', body: 'ä'.repeat(4_000) }
  for (let n = 0; n < 30; n += 1) await sendNote(one.room, ana, note)
  const { at, text } = wholeState(one.path)
  const packing = packedState(one.path)
  await claimScopes(one.room, ana, wants(one.room, 'b'))
  const { packed, at: packedAt } = await packing
  expect(packedAt).toEqual(at)
  expect(gunzipSync(packed).toString('utf8')).toBe(text)
})
