// Everything arrives by itself: changes that commands make are in the feed without a reload, and whoever was away misses nothing and hears nothing twice (seed 002 §6.3, §9).
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  callReply,
  changesReply,
  claimsReply,
  conversationReply,
  decisionsReply,
  liveEvents,
  runsReply,
  searchReply,
  sessionsReply,
  tasksReply,
  timelineReply,
  tokensReply,
  treeReply,
  whyReply,
} from '../../src/hub/contract.ts'
import { spine, type Spine } from '../spine/spine.ts'
import { callEvents, linesOf, runStart, writeRecord } from '../support/event-records.ts'
import { type Browser, startHub } from '../support/hub.ts'
import { runsDir } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

/** An agent that does what it is told, one line at a time. */
const OBEYS = 'while read -r line; do eval "$line"; echo "done $?"; done'
const PATH = `${process.cwd()}/bin:${process.env['PATH'] ?? ''}`

const obedient = (project: Spine, agent: string, task: string): Promise<unknown> =>
  project.json(['run', '--agent', agent, '--task', task, '--detach', '--', 'env', `PATH=${PATH}`, 'bash', '-c', OBEYS])

async function tell(browser: Browser, agent: string, command: string): Promise<void> {
  const reply = await browser.post(`/api/agents/${agent}/input`, { text: command })
  expect(reply.json()).toMatchObject({ done: true, outcome: 'sent' })
}

test('claims, incursions, handoffs and their acknowledgement are rows in the seed’s words, and a person’s ack is a person’s', async () => {
  const project = spine()
  project.write('src/billing/invoice.ts', 'one\ntwo\n')
  project.git('add', '.')
  project.git('commit', '-qm', 'files')
  await obedient(project, 'ivory-lynx', 'BILL-77')
  await obedient(project, 'teal-badger', 'BILL-78')
  const hub = await startHub(project)
  const browser = await hub.browser()
  const feed = browser.feed()
  await feed.see('state', ({ agents }) => agents.length === 2)

  await tell(browser, 'ivory-lynx', 'heimdall claim src/billing --task BILL-77')
  const rowOf = async (type: string) => {
    const { rows } = await feed.see('log', ({ rows: some }) => some.some((row) => row.event_type === type))
    return rows.find((row) => row.event_type === type)
  }
  expect(await rowOf('CLAIM')).toMatchObject({ label: 'Claimed', actor: 'ivory-lynx', scope: 'src/billing' })
  await tell(browser, 'teal-badger', 'heimdall claim src/billing/invoice.ts --task BILL-78')
  expect(await rowOf('INCURSION')).toMatchObject({ kind: 'incursion', label: 'Incursion', liveness: 'active' })
  const { waits } = await feed.see('state', (state) => state.waits.some(({ kind }) => kind === 'collision'))
  expect(waits.find(({ kind }) => kind === 'collision')).toMatchObject({
    agent_id: 'teal-badger',
    collision: { scope: 'src/billing/invoice.ts', holder: 'ivory-lynx', kind: 'partial', attempts: 1 },
  })
  const claims = claimsReply.parse(await browser.get('/api/claims'))
  expect(claims.claims).toMatchObject([{ agent_id: 'ivory-lynx', scopes: ['src/billing'], epoch: expect.any(Number) }])
  expect(claims.incursions).toMatchObject([{ owner: 'ivory-lynx', incoming: 'teal-badger', is_open: true }])
  const why = whyReply.parse(await browser.get('/api/why?path=src/billing/invoice.ts'))
  expect(why.holders).toMatchObject([{ kind: 'partial', held: 'src/billing' }])
  expect(why.history.map(({ event_type: type }) => type)).toContain('INCURSION')
  expect(treeReply.parse(await browser.get('/api/tree')).files).toMatchObject([
    { path: 'src/billing/invoice.ts', lines: 2 },
  ])

  // Away: what happens meanwhile is made up for, once.
  const left = feed.lastId
  feed.close()
  await tell(
    browser,
    'teal-badger',
    'heimdall note send --to ivory-lynx --task BILL-78 --category HANDOFF --subject "Invoice totals" --body "use Money"',
  )
  const note = await until('the note', async () => {
    const { rows } = conversationReply.parse(await browser.get('/api/agents/ivory-lynx/conversation'))
    return rows.find(({ label }) => label === 'Passed to')
  })
  expect(note).toMatchObject({ actor: 'teal-badger', to: 'ivory-lynx', note: { state: 'unread', requires_ack: true } })
  const back = browser.feed('', left)
  const hello = liveEvents.hello.parse(await back.see('hello'))
  expect(hello).toMatchObject({ reset: false })
  expect(hello.caught_up).toBeGreaterThan(0)
  await back.see('log', ({ rows }) => rows.some(({ row_id: id }) => id === note.row_id))
  const ack = await browser.post(`/api/notes/${note.note?.note_id ?? ''}/ack`, {})
  expect(ack.json()).toMatchObject({ outcome: 'recorded', by: { kind: 'human' } })
  await back.see('log', ({ rows }) => rows.some((row) => row.label === 'Accepted' && row.actor_kind === 'human'))
  const ids = [...feed.of('log'), ...back.of('log')].flatMap(({ rows }) => rows.map(({ row_id: id }) => id))
  expect(ids.length).toBe(new Set(ids).size)
  const task = conversationReply.parse(await browser.get('/api/sessions/BILL-78/conversation'))
  expect(task.rows.find(({ label }) => label === 'Passed to')?.note).toMatchObject({
    state: 'acked',
    accepted_by: 'human',
    accepted_at: expect.any(String),
  })
  expect(sessionsReply.parse(await browser.get('/api/sessions')).sessions.map(({ task_id: id }) => id)).toContain(
    'BILL-78',
  )
  expect(tasksReply.parse(await browser.get('/api/tasks')).tasks).toHaveLength(2)
  tokensReply.parse(await browser.get('/api/tokens'))

  await tell(browser, 'ivory-lynx', 'echo three >> src/billing/invoice.ts; echo new > "src/ö \\".ts"; echo written')
  const changes = await until('the change', async () => {
    const found = changesReply.parse(await browser.get('/api/agents/ivory-lynx/changes?path=src/billing/invoice.ts'))
    return found.files.some(({ path }) => path.startsWith('src/ö')) && found
  })
  expect(changes.files.filter(({ path }) => path.startsWith('src/'))).toMatchObject([
    { path: 'src/billing/invoice.ts', added: 1, removed: 0, kind: 'modified', in_own_claims: true },
    { path: 'src/ö ".ts', kind: 'untracked', in_own_claims: false },
  ])
  expect(changes.diff).toContain('+three')
  const found = searchReply.parse(await browser.get('/api/search?q=billing'))
  expect(Object.keys(found.counts)).toEqual(expect.arrayContaining(['path', 'agent']))
})

test('calls and decisions of a run: listed, counted, searched, with what the agent did next, and live as they are written', async () => {
  const project = spine()
  const run = randomUUID()
  const events = [
    { ...runStart(run), workload: { repo_path: project.root } },
    ...callEvents(run, {
      callId: 'c1',
      server: 'git',
      tool: 'push',
      action: 'REJECT_WITH_HINT',
      rule: 'no-force',
      args: '{"force":true}',
      hint: 'push without force',
      atMs: 1_000,
      status: 'ERROR',
    }),
    ...callEvents(run, { callId: 'c2', server: 'git', tool: 'push', args: '{"force":false}', atMs: 5_000 }),
  ]
  const record = writeRecord(runsDir(project.home), run, events)
  const elsewhere = randomUUID()
  writeRecord(runsDir(project.home), elsewhere, [
    { ...runStart(elsewhere), workload: { repo_path: '/nowhere' } },
    ...callEvents(elsewhere, { callId: 'x1', server: 'git', tool: 'push', args: '{"force":true}' }),
  ])
  const hub = await startHub(project)
  const browser = await hub.browser()
  const all = decisionsReply.parse(await browser.get('/api/decisions'))
  expect(all.calls.map(({ call_id: id }) => id)).toEqual(['c2', 'c1'])
  expect(all.counts).toMatchObject({ allowed: 1, refused_with_hint: 1 })
  const refused = decisionsReply.parse(await browser.get('/api/decisions?decision=refused_with_hint&limit=1'))
  expect(refused.calls).toMatchObject([
    { call_id: 'c1', rule: 'no-force', next: { text: expect.any(String), call_id: 'c2', after_ms: 4_000 } },
  ])
  const one = callReply.parse(await browser.get(`/api/calls/${run}/c1`))
  expect(one).toMatchObject({ args: { force: true }, hint: { text: 'push without force' }, next: { call_id: 'c2' } })
  expect(runsReply.parse(await browser.get('/api/runs')).runs).toMatchObject([{ run_id: run, calls: 2 }])
  const line = timelineReply.parse(await browser.get(`/api/runs/${run}/timeline`))
  expect(line.spans.filter(({ lane }) => lane === 'call')).toHaveLength(2)
  expect(line.spans.filter(({ lane }) => lane === 'decision')).toMatchObject([
    { kind: 'refused_with_hint', ref: `${run}/c1` },
  ])
  const { hits } = searchReply.parse(await browser.get('/api/search?q=force'))
  expect(hits.map(({ kind, ref }) => [kind, ref])).toEqual(
    expect.arrayContaining([
      ['decision', `${run}/c1`],
      ['call', `${run}/c2`],
    ]),
  )
  expect((await browser.post('/api/waits/none/answer', { answer_id: 'x' })).json()).toMatchObject({ outcome: 'gone' })

  const feed = browser.feed()
  await feed.see('state')
  appendFileSync(record, linesOf(callEvents(run, { callId: 'c3', tool: 'read_file', atMs: 9_000 })))
  const { calls } = await feed.see('log', (log) => log.calls.some(({ call_id: id }) => id === 'c3'))
  expect(calls).toMatchObject([{ call_id: 'c3', decision: 'allowed', status: 'OK' }])
})
