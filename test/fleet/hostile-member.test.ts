// What somebody with the join line can put into the log, or hold: the others are told, keep what they have, and go on.
import { expect, onTestFinished, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { placeIn, setMembership } from '../../src/coordination/sqlite/whole-state.ts'
import { connect } from '../../src/fleet/engine-connection.ts'
import { FORMAT, RULES } from '../../src/fleet/log-version.ts'
import { FLEET_ENTRY_BYTES_MAX } from '../../src/limits.ts'
import { wants } from '../coordination/room.ts'
import { box, enter } from './box.ts'
import { testEngine } from './engine.ts'

const engine = testEngine()

test('an entry that is none stops every copy at the one before it, with words, and whoever is stopped can go on alone', async () => {
  const made = await engine.project()
  const [one, two] = [box(made, 'one'), box(made, 'two')]
  const amber = await enter(one.room, 'amber-otter')
  const cobalt = await enter(two.room, 'cobalt-harbor')
  await claimScopes(one.room, amber, wants(one.room, 'good'))
  const head = one.room.store.read((rows) => rows.head())
  const evil = await connect({ url: made.url, isPooled: false })
  onTestFinished(() => evil.end())
  const put = (body: string) =>
    evil`SELECT a.* FROM heimdall.projects p, LATERAL heimdall.append(p.id, 'evil', p.seq, p.entry_id, ${`e-${body.length}`},
      ${body}, ${FORMAT}, ${RULES}, '{}', '{}', '{}', 10, 1000) a`.execute()
  await expect(put('x'.repeat(FLEET_ENTRY_BYTES_MAX + 1))).rejects.toMatchObject({ code: '54000' })
  const author = { haid: null, sessionId: null, runId: null }
  const row = { seq: 2 ** 53 - 1, id: 'e', type: 'NOTE', wall_ms: 1 }
  await put(JSON.stringify({ wall_ms: 1, author, puts: [], events: [row] }))
  const refused = { code: 'STORE_CORRUPT', details: { seq: head + 1 } }
  await expect(claimScopes(two.room, cobalt, wants(two.room, 'mine'))).rejects.toMatchObject(refused)
  // Up to there everything has come, and nothing of its own is left in doubt.
  expect(two.room.store.read((rows) => [rows.head(), rows.claims({}).length])).toEqual([head, 1])
  expect(placeIn(two.path).pending).toBeUndefined()
  two.room.store.close()
  expect(setMembership(two.path, undefined)).toMatchObject({ seq: head })
  await expect(one.room.store.catchUp()).rejects.toMatchObject(refused)
})

test('a line that somebody holds is waited for only so long', async () => {
  const made = await engine.project()
  const evil = await connect({ url: made.url, isPooled: false })
  onTestFinished(() => evil.end())
  const one = box(made, 'one')
  await enter(one.room, 'amber-otter')
  // Left open after an append at a place that is gone: the engine hangs up on whoever says nothing.
  const held = evil.begin(async (sql) => {
    await sql`SELECT heimdall.append(p.id, 'evil', 0, '', 'e', '{}', ${FORMAT}, ${RULES}, '{}', '{}', '{}', 10, 1000)
      FROM heimdall.projects p`
    return new Promise<never>(() => undefined)
  })
  const ended = held.then(
    () => 'ended',
    () => 'hung up on',
  )
  expect(await enter(one.room, 'cobalt-harbor')).toBeDefined()
  expect(await ended).toBe('hung up on')
})
