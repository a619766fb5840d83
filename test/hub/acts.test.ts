// What a person does through the hub goes to the same place as the command for it, and is on record as a person's: each act once.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  actReply,
  agentReply,
  callReply,
  changesReply,
  claimsReply,
  conversationReply,
  decisionsReply,
  fleetReply,
  replayReply,
  routingReply,
  runsReply,
  tasksReply,
  timelineReply,
  type WaitCard,
  waitsReply,
} from '../../src/hub/contract.ts'
import { fleet } from '../dispatch/dispatch-kit.ts'
import { type Browser, startHub } from '../support/hub.ts'
import { calls } from '../support/sample-agents.ts'
import { parcelworks } from '../support/sample-fleet.ts'
import { until } from '../support/wait.ts'

async function acted(browser: Browser, path: string, body: unknown = {}) {
  const reply = await browser.post(path, body)
  expect([path, reply.status, reply.text]).toEqual([path, 200, expect.any(String)])
  return actReply.parse(reply.json())
}

test('answers: a choice by its key, what a policy asks, a holder that is asked; notes; an end; and what was answered', async () => {
  const project = parcelworks()
  const policyFile = project.path('policy.json')
  const team = JSON.parse(readFileSync(policyFile, 'utf8')) as Record<string, unknown>
  writeFileSync(policyFile, JSON.stringify({ ...team, mode: 'guardrails' }))
  // Nothing governs the first: what is said of the others is not said of it.
  await project.json(['run', '--agent', 'free-finch', '--detach', '--', 'cat'], { env: project.more })
  const asking = [calls('files', [['delete_file', { path: 'docs/api.md' }]])]
  await project.start({ id: 'ivory-lynx', claims: ['src/billing/**'], screen: 'at work' })
  await Promise.all([
    project.start({ id: 'careful-crow', screen: '', does: asking }),
    project.start({ id: 'hasty-hare', screen: '', does: asking }),
    project.start({ id: 'amber-otter', screen: 'Keep it?', does: ["hm report --needs-input 'Keep it?'"] }),
    project.start({ id: 'grey-wolf', screen: 'Delete all files? [y/N]', does: [] }),
    project.start({
      id: 'teal-badger',
      screen: '',
      does: ['heimdall claim src/billing/tax.ts >/dev/null 2>&1'],
    }),
  ])
  const hub = await startHub(project)
  const browser = await hub.browser()
  const feed = browser.feed()
  const waitOf = async (agent: string): Promise<WaitCard> =>
    until(`the wait of ${agent}`, async () =>
      waitsReply.parse(await browser.get('/api/waits')).waits.find(({ agent_id: id }) => id === agent),
    )
  const answer = async (agent: string, answerId: string) => {
    const { wait_id: id, answers } = await waitOf(agent)
    expect(answers.map((one) => one.answer_id)).toContain(answerId)
    const reply = await acted(browser, `/api/waits/${id}/answer`, { answer_id: answerId })
    return { id, reply }
  }
  const gone = (id: string) => feed.see('state', ({ waits_gone: ids }) => ids.includes(id))

  const key = await answer('amber-otter', 'key_2')
  await gone(key.id)
  const told = (agent: string, line: string) =>
    until(`${agent} to have its answer`, async () => (await project.run('hm', ['logs', agent])).stdout.includes(line))
  // A key ends the wait when it is typed; the program reads it a moment later.
  await told('amber-otter', 'you said: 2')
  // A plain question has no numbers: yes and no are words, and are sent off.
  expect((await waitOf('grey-wolf')).answers.map(({ label }) => label)).toEqual(['Yes', 'No', 'Type into the session'])
  await answer('grey-wolf', 'say_y')
  await told('grey-wolf', 'you said: y')
  expect((await waitOf('careful-crow')).why).toContainEqual({
    label: 'Policy',
    text: 'team 2026-11-01, guardrails',
    evidence: 'the run',
  })
  expect(fleetReply.parse(await browser.get('/api/fleet')).totals.policy?.name).toBe('team 2026-11-01')
  await gone((await answer('careful-crow', 'allow_once')).id)
  await gone((await answer('hasty-hare', 'deny')).id)
  const listed = await project.run('heimdall', ['approve', '--all', '--json'])
  expect(JSON.parse(listed.stdout)).toMatchObject({
    data: { requests: expect.arrayContaining([expect.objectContaining({ answer: 'allow' })]) },
  })

  // The holder is asked in the name of the one who waits, and the record says that a person did it.
  const { reply: asked } = await answer('teal-badger', 'ask_holder')
  expect(asked).toMatchObject({ outcome: 'recorded', text: 'Passed to ivory-lynx', by: { kind: 'human' } })
  const inbox = async () => {
    const talk = conversationReply.parse(await browser.get('/api/agents/ivory-lynx/conversation'))
    return talk.rows.filter(({ note }) => note !== null)
  }
  const [note] = await inbox()
  expect(note).toMatchObject({ actor_kind: 'human', to: 'ivory-lynx', label: 'Needs input' })
  await acted(browser, `/api/notes/${note?.note?.note_id}/seen`)
  expect((await inbox())[0]?.note).toMatchObject({ state: 'read', seen_at: expect.any(String) })
  const passed = { from: 'amber-otter', to: 'ivory-lynx', category: 'HANDOFF', subject: 'tokens', body: 'go on' }
  await acted(browser, '/api/notes', passed)
  expect((await inbox()).at(-1)).toMatchObject({ label: 'Passed to', actor_kind: 'human', text: 'tokens' })
  const stranger = await browser.post('/api/notes', { ...passed, to: 'nobody-here' })
  expect([stranger.status, stranger.text]).toEqual([expect.any(Number), expect.stringContaining('UNKNOWN_RECIPIENT')])
  expect(claimsReply.parse(await browser.get('/api/claims')).incursions[0]).toMatchObject({ is_open: true })

  const { agent } = agentReply.parse(await browser.get('/api/agents/careful-crow'))
  expect(agent).toMatchObject({
    guard: { kind: 'advisory', by: ['shim'] },
    uncommitted: expect.any(Number),
    exit_code: null,
  })
  project.write('src/new.ts', 'one\ntwo\n')
  const changed = changesReply.parse(await browser.get('/api/agents/careful-crow/changes?path=src/new.ts'))
  expect(changed).toMatchObject({ diff: expect.stringContaining('+two') })
  for (const [path, status, code] of [
    ['../../../etc/passwd', 403, 'PATH_OUTSIDE_ROOT'],
    ['/etc/passwd', 403, 'PATH_OUTSIDE_ROOT'],
    ['', 400, 'HUB_REQUEST_INVALID'],
  ] as const) {
    const asked = browser.get(`/api/agents/careful-crow/changes?path=${encodeURIComponent(path)}`)
    await expect(asked).rejects.toThrow(new RegExp(`: ${status} .*${code}`))
  }
  // What is Heimdall's own is no work of an agent, committed or not.
  project.git('add', '--all', '--force', '.planning')
  project.git('commit', '--quiet', '--message=the ledger too')
  const later = changesReply.parse(await browser.get('/api/agents/careful-crow/changes'))
  expect(later.files.filter(({ path }) => path.startsWith('.planning/ledger/'))).toEqual([])

  // A run that is over keeps its terminal, its time and its calls.
  await acted(browser, '/api/agents/careful-crow/end')
  const run = await until('the end of the run', async () =>
    runsReply
      .parse(await browser.get('/api/runs'))
      .runs.find(({ agent_id: id, ended_at: at }) => id === 'careful-crow' && at !== null),
  )
  expect(run).toMatchObject({ mode: 'guardrails', calls: 1 })
  const { calls: made } = decisionsReply.parse(await browser.get(`/api/decisions?run=${run.run_id}`))
  const whole = callReply.parse(await browser.get(`/api/calls/${run.run_id}/${made[0]?.call_id}`))
  expect(whole.policy).toEqual({ name: 'team', version: '2026-11-01', mode: 'guardrails' })
  const { answered_count: count, answered } = waitsReply.parse(await browser.get('/api/waits'))
  expect(count).toBeGreaterThanOrEqual(2)
  expect(answered.map(({ agent_id: id }) => id)).toEqual(expect.arrayContaining(['amber-otter', 'careful-crow']))
  timelineReply.parse(await browser.get(`/api/runs/${run.run_id}/timeline`))
  const cast = await browser.text(`/api/runs/${run.run_id}/recording`)
  expect(JSON.parse(cast.split('\n')[0] ?? '')).toMatchObject({ version: expect.any(Number) })
  const policy = JSON.stringify({
    policy_id: 'lenient',
    version: '1',
    mode: 'control',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules: [],
  })
  const again = await browser.post(`/api/runs/${run.run_id}/replay`, { policy })
  expect(replayReply.parse(again.json())).toMatchObject({
    policy: { name: 'lenient' },
    counts: { total: 1, looser: 1 },
    rows: [{ tool: 'delete_file', outcome: 'looser' }],
  })
  const broken = await browser.post(`/api/runs/${run.run_id}/replay`, { policy: '{' })
  expect(broken.text).toContain('POLICY_INVALID')
  expect(broken.text).toContain('heimdall policy lint FILE')
})

test('tasks: sent from the page, brought to a worker by the hub, explained, cancelled; a worker is drained', async () => {
  const project = fleet()
  const hub = await startHub(project)
  const browser = await hub.browser()
  const task = async (title: string) =>
    tasksReply.parse(await browser.get('/api/tasks')).tasks.find((one) => one.title === title)
  const waits = { title: 'Nobody is there', brief: 'wait', tokens_budget: 5_000, priority: 'high' }
  await acted(browser, '/api/tasks', waits)
  const first = await task('Nobody is there')
  expect(first).toMatchObject({ priority: 'high', tokens_budget: 5_000, tokens_spent: 0 })
  expect(routingReply.parse(await browser.get(`/api/tasks/${first?.task_id}/routing`))).toMatchObject({
    workers: [],
    summary: 'no worker is known: heimdall worker start',
  })
  await expect(browser.get('/api/tasks/nope/routing')).rejects.toThrow(/: 404 .*TASK_NOT_FOUND/)
  expect(await acted(browser, `/api/tasks/${first?.task_id}/cancel`)).toMatchObject({
    text: expect.stringContaining('is cancelled'),
  })
  const twice = await browser.post(`/api/tasks/${first?.task_id}/cancel`, {})
  expect(twice.text).toContain('TASK_FORBIDDEN')
  const unable = await browser.post(`/api/tasks/${first?.task_id}/retry`, {})
  expect(unable.text).toContain('TASK_FORBIDDEN')

  await project.worker('swift-owl', 'echo did it > it.txt')
  await acted(browser, '/api/tasks', { title: 'Say it', brief: 'say it' })
  const done = await until('the task to be done', async () => {
    const now = await task('Say it')
    return now?.state === 'done' ? now : undefined
  })
  expect(done).toMatchObject({ worker: 'swift-owl', attempt: 1, attempts_max: 3 })
  const stateOf = async () => tasksReply.parse(await browser.get('/api/tasks')).workers[0]?.state
  await until('the worker to have said that it is free', async () => (await stateOf()) === 'ready')
  const { workers: verdicts } = routingReply.parse(await browser.get(`/api/tasks/${done.task_id}/routing`))
  expect(verdicts).toMatchObject([{ worker: 'swift-owl', is_chosen: true, answer: 'Gets it: it alone can' }])
  await acted(browser, '/api/workers/swift-owl/drain')
  await until('the worker to be drained', async () => (await stateOf()) !== 'ready')
  expect((await browser.post('/api/workers/nobody/drain', {})).text).toContain('WORKER_NOT_FOUND')
  expect(await hub.stop()).toBe(0)
})
