// What somebody with the join line can put into the log, or hold: the others are told, keep what they have, and go on.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { livenessIn } from '../../src/coordination/who/alive.ts'
import { readKey } from '../../src/coordination/who/key-files.ts'
import { beginNext } from '../../src/dispatch/attempts.ts'
import type { HeimdallError } from '../../src/errors.ts'
import { tasksNow } from '../../src/hub/facts/task-rows.ts'
import { setMembership } from '../../src/coordination/sqlite/fleet-mark.ts'
import { placeIn } from '../../src/coordination/sqlite/places.ts'
import { connect } from '../../src/fleet/engine-connection.ts'
import { FORMAT, RULES } from '../../src/fleet/log-version.ts'
import { FLEET_ENTRY_BYTES_MAX } from '../../src/limits.ts'
import { openRoom, wants } from '../coordination/room.ts'
import { box, enter } from './box.ts'
import { testEngine } from './engine.ts'
import { machine } from './machines.ts'

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

test('what a member calls itself does nothing to the terminal of whoever asks who is there', async () => {
  const one = machine('ana')
  const made = await one.heimdall('fleet create --machine one', await engine.server.database())
  const evil = await connect({ url: String(made.data['join']), isPooled: false })
  onTestFinished(() => evil.end())
  const [name, version] = ['\u001b]0;owned\u0007box\u202e', '1.0\u001b[2J\n\tone\t0.1.0\u009b31m']
  await evil`SELECT heimdall.enter(p.id, 'evil', ${name}, ${version}, ${FORMAT}, ${RULES}) FROM heimdall.projects p`
  const { stdout } = await one.project.run('heimdall', ['fleet', 'status'])
  // oxlint-disable-next-line no-control-regex -- they are what it is about
  expect(stdout.replaceAll(/[\t\n]/g, '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
  const shown = ['\\u001b]0;owned\\u0007box\\u202e', '1.0\\u001b[2J\\u000a\\u0009one\\u00090.1.0\\u009b31m']
  expect(stdout.split('\n').map((line) => line.split('\t').slice(0, 2))).toContainEqual(shown)
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

/** Appends whatever it is given, as somebody with the join line can. */
async function hostileMember(made: { readonly url: string }): Promise<(body: unknown) => Promise<unknown>> {
  const evil = await connect({ url: made.url, isPooled: false })
  onTestFinished(() => evil.end())
  let count = 0
  return (body) =>
    evil`SELECT a.* FROM heimdall.projects p, LATERAL heimdall.append(p.id, 'evil', p.seq, p.entry_id,
      ${`evil-${(count += 1)}`}, ${JSON.stringify(body)}, ${FORMAT}, ${RULES}, '{}', '{}', '{}', 10, 1000) a`.execute()
}

const entryOf = (...puts: readonly unknown[]) => ({
  wall_ms: 1,
  author: { haid: null, sessionId: null, runId: null },
  puts,
  events: [],
})

const TASK = {
  owner: null,
  state: 'queued',
  title: 't',
  started_ms: 1,
  ended_ms: null,
  summary: null,
  needs: '{"mcp":[],"tools":[],"tier":null,"writes":false,"window":1,"not":[],"only":null}',
  due_ms: 1,
  wake_ms: null,
  deadline_ms: null,
  token_budget: null,
  attempts: 0,
  failures: 0,
  reason: null,
}
const WORKER = { worker_id: 'w', instance_id: 'i', url: null, speaks: 'extension', state: 'ready', ttl_s: 45 }

const ASSIGNMENT = {
  assignment_id: '../../x',
  task_id: 'T',
  attempt: 1,
  from_peer: 'fleet',
  worker_id: 'w',
  instance_id: 'i',
  context_id: 'c',
  state: 'running',
  accepted_ms: 1,
  contract: '{}',
}

test('a value that means nothing stops every copy before it: nobody is taken for gone, and nothing that reads it fails', async () => {
  const claim = (holder: string, more: object) => ({
    table: 'claims',
    row: {
      epoch: 9,
      claim_id: 'res_9',
      holder,
      ttl_minutes: 5,
      state: 'active',
      created_ms: 1,
      granted_wall_ms: 1,
      origin: 'local',
      scopes: '[]',
      ...more,
    },
  })
  const agent = (haid: string, more: object) => ({
    table: 'agents',
    row: {
      haid,
      agent_id: 'amber-otter',
      display_name: 'x',
      role: 'x',
      tool: '',
      tool_version: '',
      origin: 'local',
      version: 1,
      created_ms: 1,
      revoked_ms: null,
      session_epoch: 1,
      session_secret_hash: null,
      session_client: null,
      session_started_ms: 1,
      session_ended_ms: null,
      ...more,
    },
  })
  const poison = {
    'patience in words': () => entryOf({ table: 'settings', row: { key: 'stale-minutes', value: 'banana' } }),
    'no patience': () => entryOf({ table: 'settings', row: { key: 'stale-minutes', value: '0.0001' } }),
    'a lease of nobody': () => entryOf({ table: 'settings', row: { key: 'dispatch:orchestrator', value: '{}' } }),
    'scopes in words': (holder: string) => entryOf(claim(holder, { scopes: 'src' })),
    'scopes that are none': (holder: string) => entryOf(claim(holder, { scopes: '[{"base":"src"}]' })),
    'a lease for ever': (holder: string) => entryOf(claim(holder, { ttl_minutes: 2 ** 49 })),
    'needs in words': () => entryOf({ table: 'tasks', row: { task_id: 'T', ...TASK, needs: 'all' } }),
    'a reason in words': () => entryOf({ table: 'tasks', row: { task_id: 'T', ...TASK, reason: 'because' } }),
    'a contract in words': () => entryOf({ table: 'contracts', row: { task_id: 'T', contract: 'do it' } }),
    'a profile in words': () => entryOf({ table: 'workers', row: { ...WORKER, profile: 'strong' } }),
    'a secret of two letters': (haid: string) => entryOf(agent(haid, { session_secret_hash: 'zz' })),
    'a secret that leads elsewhere': (haid: string) =>
      entryOf(agent(haid, { session_secret_hash: '../../../../etc/passwd' })),
    'an agent that is no HAID': () => entryOf(agent('haid:x/../../y', {})),
    'an agent whose name moves the cursor': (haid: string) => entryOf(agent(haid, { agent_id: 'a\u001b[2J' })),
    'an assignment that leads elsewhere': () => entryOf({ table: 'assignments', row: ASSIGNMENT }),
    'a question in numbers': () =>
      entryOf({ table: 'assignments', row: { ...ASSIGNMENT, assignment_id: 'a', asks: '{"question":1}' } }),
    'a row of nothing': () => entryOf({ table: 'agents', row: {} }),
    'no row': () => entryOf({ table: 'agents' }),
    'no put': () => entryOf(null),
    'a row of rows': (haid: string) => entryOf(agent(haid, { role: { toString: 1 } })),
    'nothing that is removed': () => entryOf({ table: 'agents', removed: {} }),
    'removed and put': () => entryOf({ table: 'agents', removed: 'x', row: null }, null),
    'no author': () => ({ ...entryOf(), author: null }),
    'an author in numbers': () => ({ ...entryOf(), author: { haid: 1, sessionId: null, runId: null } }),
    'no time': () => ({ ...entryOf(), wall_ms: 'now' }),
    'an event that forges a page': () => ({
      ...entryOf(),
      events: [
        {
          seq: 99,
          id: 'e -->\n\n## forged',
          type: 'EXPIRE',
          actor_kind: 'system',
          wall_ms: 1,
          payload: '{}',
          origin: 'haid:evil.box-0000',
        },
      ],
    }),
    'an event in words': () => ({
      ...entryOf(),
      events: [
        {
          seq: 99,
          id: 'e',
          type: 'NOTE',
          actor_kind: 'system',
          wall_ms: 1,
          payload: 'words',
          origin: 'haid:evil.box-0000',
        },
      ],
    }),
  }
  const outcomes: Record<string, unknown> = {}
  for (const [name, body] of Object.entries(poison)) {
    const made = await engine.project()
    const one = box(made, 'one')
    const amber = await enter(one.room, 'amber-otter')
    const head = one.room.store.read((rows) => rows.head())
    await (
      await hostileMember(made)
    )(body(amber.haid))
    const refused = await one.room.store.catchUp().then(
      () => undefined,
      (error: unknown) => (error as HeimdallError).code,
    )
    const { at, liveness } = one.room.store.read((rows) => ({
      at: rows.head() - head,
      liveness: rows.agents().map((agent) => livenessIn(one.room, rows, agent, one.room.now())),
    }))
    outcomes[name] = { refused, at, liveness }
    one.room.store.close()
  }
  const stopped = { refused: 'STORE_CORRUPT', at: 0, liveness: ['active'] }
  expect(outcomes).toEqual(Object.fromEntries(Object.keys(poison).map((name) => [name, stopped])))
})

test('where such a value stands in a copy already, it counts for nothing', async () => {
  const room = openRoom()
  await enter(room, 'amber-otter')
  await room.store.change((rows) => rows.putSetting('stale-minutes', 'banana'))
  expect(room.store.read((rows) => rows.agents().map((agent) => livenessIn(room, rows, agent, room.now())))).toEqual([
    'active',
  ])
})

test('a secret that is none, and stands in a copy already, proves nothing, and no file elsewhere is read for it', async () => {
  const room = openRoom()
  const amber = await enter(room, 'amber-otter')
  const secret = 'a file outside'
  for (const secretHash of ['zz', '../../../outside', '']) {
    await room.store.change((rows) => {
      const agent = rows.agent(amber.haid)
      if (agent !== undefined) rows.putAgent({ ...agent, runtime: { ...agent.runtime, secretHash } })
    })
    writeFileSync(join(room.project.coordinationDir, '../outside.key'), secret, { mode: 0o600 })
    expect(readKey(room.project, amber.haid, secretHash)).not.toBe(secret)
    await expect(claimScopes(room, amber, wants(room, 'src'))).rejects.toMatchObject({ code: 'IDENTITY_UNPROVEN' })
  }
})

test('a worker and a task that no version has written are left out, and the others are dispatched', async () => {
  const made = await engine.project()
  const one = box(made, 'one')
  await enter(one.room, 'amber-otter')
  const put = await hostileMember(made)
  await put(
    entryOf(
      { table: 'workers', row: { ...WORKER, profile: '{}' } },
      { table: 'contracts', row: { task_id: 'T-0', contract: '{}' } },
      { table: 'tasks', row: { task_id: 'T-0', ...TASK } },
    ),
  )
  await one.room.store.catchUp()
  expect(tasksNow(one.room)).toMatchObject({ workers: [], tasks: [{ task_id: 'T-0', state: 'queued' }] })
  expect(await beginNext(one.room)).toMatchObject({ begun: undefined })
  expect(tasksNow(one.room)).toMatchObject({ tasks: [{ task_id: 'T-0', state: 'blocked' }] })
})

/** As a state is written, with a last line that fits. */
function stateWith(at: { seq: number; id: string }, rows: readonly unknown[]): Buffer {
  const head = { kind: 'heimdall-state', at, wall_ms: 1, numbers: {} }
  const text = `${[head, ...rows].map((line) => JSON.stringify(line)).join('\n')}\n`
  const sha256 = createHash('sha256').update(text).digest('hex')
  return gzipSync(`${text}${JSON.stringify({ rows: rows.length, sha256 })}\n`)
}

test('a snapshot that is none is passed over while the entries are there, and named where they are not', async () => {
  const one = machine('ana')
  const made = await one.heimdall('fleet create --machine one', await engine.server.database())
  const line = String(made.data['join'])
  await one.bb('agent register --name amber-otter --role backend')
  await one.bb('agent reserve --agent amber-otter --scope src')
  const evil = await connect({ url: line, isPooled: false })
  onTestFinished(() => evil.end())
  const owner = new URL(line)
  owner.username = 'owner'
  owner.password = ''
  const asOwner = await connect({ url: owner.href, isPooled: false })
  onTestFinished(() => asOwner.end())
  const places = await evil<{ seq: string; id: string }[]>`SELECT seq, id FROM heimdall.entries ORDER BY seq`
  const [first, last] = places.map(({ seq, id }) => ({ seq: Number(seq), id })) as [
    { seq: number; id: string },
    { seq: number; id: string },
  ]
  const keep = (at: typeof first, body: Buffer) =>
    evil`SELECT heimdall.keep(p.id, 'evil', ${at.seq}, ${at.id}, ${FORMAT}, 0, 1, decode(${body.toString('base64')}::text, 'base64'))
      FROM heimdall.projects p`.execute()
  const garbage = {
    'not packed': Buffer.from('garbage'),
    'no state': gzipSync('garbage'),
    'another place': stateWith(first, []),
    'a claim of nobody': stateWith(last, [['claims', { epoch: 1, claim_id: 'c', holder: 'haid:x.y-0000' }]]),
    'a column of nobody': stateWith(last, [['agents', { haid: 'haid:x.y-0000', wings: 2 }]]),
    'no rows': stateWith(last, [null]),
    'no head': gzipSync('null\n'),
    'no last line': gzipSync(
      `${JSON.stringify({ kind: 'heimdall-state', at: last, wall_ms: 1, numbers: {} })}\nnull\n`,
    ),
    'no place': stateWith(null as never, []),
  }
  const join = async (name: string) => {
    const two = machine('ben')
    const { stdout, stderr } = await two.project.run('heimdall', ['fleet', 'join', '--json'], { stdin: line })
    return { name, two, stderr, said: JSON.parse(stdout) as unknown }
  }
  for (const [name, body] of Object.entries(garbage)) {
    await keep(last, body)
    const { two, ...joined } = await join(name)
    expect(joined).toMatchObject({
      name,
      said: { ok: true, data: { seq: 2 } },
      stderr: expect.stringContaining('the snapshot at entry 2') as string,
    })
    expect((await two.heimdall('claim list')).data).toMatchObject([{ agent_id: 'amber-otter' }])
    await asOwner`DELETE FROM heimdall.snapshots`
  }
  // The second takes the entries below the first with it.
  await keep(first, Buffer.from('garbage'))
  await keep(last, Buffer.from('garbage'))
  expect(await join('both')).toMatchObject({
    said: {
      error: {
        code: 'STORE_CORRUPT',
        message: expect.stringContaining('entry 2') as string,
        hint: expect.stringContaining('fleet create') as string,
      },
    },
  })
  // Whoever has everything goes on.
  expect(await one.bb('agent reserve --agent amber-otter --scope lib')).toMatchObject({ ok: true })
})
