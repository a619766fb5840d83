// A person is asked before a call: held for a moment, answered as a hint, allowed or denied by a person alone (seed 004 §7.4: no new kind of decision).
import { closeSync, constants, mkdirSync, openSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ASK_OPEN_MAX } from '../../src/limits.ts'
import { EventText } from '../../src/events/event-text.ts'
import { Approvals } from '../../src/runs/approvals.ts'
import { hm } from '../hm/hm.ts'
import { runLauncher } from '../support/in-process.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import {
  bundle,
  checkBooks,
  eventsOfRun,
  type Json,
  ofType,
  rule,
  runFolders,
  runsDir,
  type ShimClient,
  startShim,
  tool,
  toolCall,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const ask = (wait_ms: number, more: object = {}): object =>
  rule('ask-writes', 'deny', tool('write*'), {
    action: 'ASK',
    message: 'writes are asked about',
    ask: { question: 'May it write?', wait_ms },
    ...more,
  })

async function listed(home: string): Promise<Json[]> {
  const { stdout } = await runLauncher('heimdall', ['approve', '--all', '--json'], {
    env: { HOME: home },
  })
  return (JSON.parse(stdout) as { data: { requests: Json[] } }).data.requests
}

const openId = (home: string): Promise<string> =>
  until('a question', async () => {
    const found = (await listed(home)).find(({ answer }) => answer === null)
    return found?.['id'] as string | undefined
  })

/** What a person types, at a terminal of their own. */
async function person(home: string, ...words: string[]): Promise<string> {
  const terminal = ownTerminal([...launcher('heimdall'), ...words], { cwd: home, env: { HOME: home } })
  expect(await terminal.ended, terminal.written()).toBe(0)
  return terminal.written()
}

const reason = (answer: Json): string =>
  (answer['error']?.data.subluminal.reason_code as string | undefined) ?? 'passed'

test('a call is held until a person allows it, and then it passes; it stands in the record as one allowed call', async () => {
  const shim = startShim({ policy: bundle([ask(50_000)]) })
  shim.send(toolCall(1, 'write', { path: 'a', api_key: 'hunter' }))
  // Others do not wait for it.
  expect(await shim.call('read')).toHaveProperty('result')
  const id = await openId(shim.home)
  expect((await listed(shim.home))[0]).toMatchObject({
    id,
    rule_id: 'ask-writes',
    tool_name: 'write',
    question: 'May it write?',
    answer: null,
    args_preview: 'a\npath: a\napi_key: [REDACTED]',
  })
  expect(shim.received()).not.toContain('write')
  expect(await person(shim.home, 'approve', id)).toContain(`Allowed ${id}: this call of write, once`)
  expect(await shim.answer(1)).toHaveProperty('result')
  const { events } = await shim.end()
  expect(ofType(events, 'approval_requested')).toMatchObject([
    {
      call: { tool_name: 'write' },
      approval: { id, rule_id: 'ask-writes', question: 'May it write?', wait_ms: 50_000 },
    },
  ])
  expect(ofType(events, 'approval_decided')).toMatchObject([
    {
      approval: {
        id,
        rule_id: 'ask-writes',
        answer: 'allow',
        lasts: 'once',
        scope: 'call',
        decided_by: expect.any(String),
      },
    },
  ])
  expect(ofType(events, 'tool_call_decision').map(({ decision }) => decision.explain.reason_code as string)).toEqual([
    'DEFAULT_ALLOW',
    'APPROVED',
  ])
  expect(checkBooks(events)).toEqual([])
})

test('without an answer in time it is a hint that says so; repeats count nowhere; what was allowed once passes once', async () => {
  const shim = startShim({
    policy: bundle([
      ask(0),
      rule('writes', 'budget', tool('write*'), { budget: { limit_calls: 2, on_exceed: 'BLOCK' } }),
      rule(
        'loop',
        'breaker',
        {},
        { breaker: { repeat_threshold: 4, repeat_window_ms: 600_000, on_trip: 'TERMINATE_RUN' } },
      ),
      rule(
        'pace',
        'rate_limit',
        {},
        {
          rate_limit: { capacity: 3, refill_tokens: 1, refill_period_ms: 3_600_000, on_limit: 'BLOCK' },
        },
      ),
      rule('once', 'dedupe', tool('write*'), { dedupe: { window_ms: 600_000, on_duplicate: 'BLOCK' } }),
    ]),
    name: 'fs',
  })
  for (let i = 0; i < 10; i += 1) {
    const { error } = await shim.call('write', { path: 'a' })
    expect(error).toMatchObject({
      code: -32_083,
      data: {
        subluminal: { action: 'REJECT_WITH_HINT', reason_code: 'APPROVAL_REQUIRED', hint: { hint_kind: 'SAFETY' } },
      },
    })
    expect(error.message).toBe(
      'The call of write on fs was refused: writes are asked about. Instead: a person was asked and has not answered yet. Advice: the same call may be made again: it passes once it is allowed, and asking costs nothing. (REJECT_WITH_HINT APPROVAL_REQUIRED, rule ask-writes)',
    )
  }
  const id = await openId(shim.home)
  expect((await listed(shim.home))[0]).toMatchObject({ times: 10 })
  await person(shim.home, 'approve', id)
  expect(await shim.call('write', { path: 'a' })).toHaveProperty('result')
  // For once: the same call is a repetition now, and another one is asked about again.
  expect(reason(await shim.call('write', { path: 'a' }))).toBe('DEDUPE_DUPLICATE')
  expect(reason(await shim.call('write', { path: 'b' }))).toBe('APPROVAL_REQUIRED')
  const { events } = await shim.end()
  expect(ofType(events, 'approval_requested').length).toBe(2)
  const spent = ofType(events, 'tool_call_decision').map(
    ({ decision }) => (decision.counters as Json[]).find(({ rule_id }) => rule_id === 'writes')?.['after'] as number,
  )
  expect(spent).toEqual([...Array<number>(10).fill(0), 1, 1, 1])
  expect(checkBooks(events)).toEqual([])
})

test('a yes for once is used up by one call, also of those that come together', async () => {
  const shim = startShim({ policy: bundle([ask(0)]) })
  await shim.call('write', { path: 'a' })
  await person(shim.home, 'approve', await openId(shim.home))
  for (const id of [11, 12, 13]) shim.send(toolCall(id, 'write', { path: 'a' }))
  const together = await Promise.all([11, 12, 13].map((id) => shim.answer(id)))
  expect(together.map(reason).toSorted()).toEqual(['APPROVAL_REQUIRED', 'APPROVAL_REQUIRED', 'passed'])
  expect(reason(await shim.call('write', { path: 'a' }))).toBe('APPROVAL_REQUIRED')
})

test('a no holds for the run; a yes for the rule is one for all its calls', async () => {
  const shim = startShim({ policy: bundle([ask(0)]) })
  await shim.call('write', { path: 'a' })
  await person(shim.home, 'deny', await openId(shim.home))
  const denied = await shim.call('write', { path: 'a' })
  expect(denied['error']).toMatchObject({ code: -32_081, data: { subluminal: { reason_code: 'APPROVAL_DENIED' } } })
  expect(reason(await shim.call('write', { path: 'a' }))).toBe('APPROVAL_DENIED')
  expect(reason(await shim.call('write', { path: 'b' }))).toBe('APPROVAL_REQUIRED')
  expect(await person(shim.home, 'approve', await openId(shim.home), '--rule', '--for', '10m')).toContain('for 600 s')
  for (const path of ['b', 'c', 'd']) expect(reason(await shim.call('write_file', { path }))).toBe('passed')
  await shim.end()
})

test('only a person answers, and only what was asked', async () => {
  const shim = startShim({ policy: bundle([ask(0)]) })
  await shim.call('write', { path: 'a' })
  const id = await openId(shim.home)
  const env = { HOME: shim.home }
  const agent = await runLauncher('heimdall', ['approve', id], { env })
  expect(agent).toMatchObject({ code: 4, stderr: expect.stringContaining('needs a human at a terminal') })
  const inSession = ownTerminal([...launcher('heimdall'), 'approve', id, '--run'], {
    cwd: shim.home,
    env: { ...env, HEIMDALL_SESSION_ID: 'x' },
  })
  expect(await inSession.ended).toBe(4)
  const unknown = ownTerminal([...launcher('heimdall'), 'approve', 'nothing'], { cwd: shim.home, env })
  expect(await unknown.ended).toBe(3)
  expect(reason(await shim.call('write', { path: 'a' }))).toBe('APPROVAL_REQUIRED')
  await shim.end()
})

test('the first characters of an id are enough where they name one call, and a denial says why', async () => {
  const shim = startShim({ policy: bundle([ask(0)]) })
  // Ids are hashes of the call: enough calls for two that start alike.
  for (let i = 0; i < 40; i += 1) shim.send(toolCall(i, 'write', { path: String(i) }))
  await shim.answer(39)
  const ids = (await listed(shim.home)).map(({ id }) => String(id))
  expect(ids).toHaveLength(40)
  const id = ids.find((one) => ids.every((other) => other === one || !other.startsWith(one.slice(0, 4)))) ?? ''
  const denied = await person(shim.home, 'deny', id.slice(0, 4), '-m', 'use the test database')
  expect(denied).toContain(`Denied ${id}: this call of write, for the whole run`)
  const { args_preview: args } = (await listed(shim.home)).find((one) => one['id'] === id) ?? {}
  const refused = await shim.call('write', { path: String(args).split('\n')[0] })
  expect(reason(refused)).toBe('APPROVAL_DENIED')
  expect(refused['error'].message).toContain('denied by a human: use the test database')
  const tooShort = ownTerminal([...launcher('heimdall'), 'approve', ids[0]?.slice(0, 3) ?? ''], {
    cwd: shim.home,
    env: { HOME: shim.home },
  })
  expect([await tooShort.ended, tooShort.written()]).toEqual([3, expect.stringContaining('no waiting call has the id')])
  const { events } = await shim.end()
  expect(checkBooks(events)).toEqual([])
})

test('answers belong to the run: all its shims go by them, also one that starts later', async () => {
  const home = temporaryFolder()
  const start = (): ShimClient =>
    startShim({ policy: bundle([ask(0)]), bin: 'heimdall', home, env: { SUB_RUN_ID: 'shared', SUB_AGENT_ID: 'amber' } })
  const first = start()
  expect(reason(await first.call('write', { path: 'a' }))).toBe('APPROVAL_REQUIRED')
  expect((await listed(home))[0]).toMatchObject({ run_id: 'shared', agent_id: 'amber' })
  const id = await openId(home)
  await first.end()
  await person(home, 'approve', id, '--run')
  const second = start()
  const third = start()
  for (const shim of [second, third, second]) expect(reason(await shim.call('write', { path: 'a' }))).toBe('passed')
  expect(reason(await third.call('write', { path: 'b' }))).toBe('APPROVAL_REQUIRED')
  // The question was put by a shim that is gone; whoever looks next tells the record of the answer.
  await until('the answer in the record', () =>
    ofType(eventsOfRun(home, runFolders(home)[0] ?? ''), 'approval_decided').length === 1 ? true : undefined,
  )
  await second.end()
  await third.end()
})

test('observe never holds a call and asks nobody', async () => {
  const shim = startShim({ policy: bundle([ask(50_000)], { mode: 'observe' }) })
  expect(await shim.call('write', { path: 'a' })).toHaveProperty('result')
  const { events } = await shim.end()
  expect(ofType(events, 'approval_requested')).toEqual([])
  expect(ofType(events, 'tool_call_decision')[0]?.['decision']).toMatchObject({
    action: 'REJECT_WITH_HINT',
    enforced: false,
    explain: { reason_code: 'APPROVAL_REQUIRED' },
  })
  expect(checkBooks(events)).toEqual([])
})

test('a client that leaves or gives up while its call is held leaves no call without an end', async () => {
  const shim = startShim({ policy: bundle([ask(50_000)]) })
  shim.send(toolCall('given-up', 'write', { path: 'a' }))
  shim.send(toolCall('left', 'write', { path: 'b' }))
  shim.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'given-up' } })
  await shim.call('read')
  const { events, lines } = await shim.end()
  expect(lines.find(({ id }) => id === 'left')).toMatchObject({ error: { code: -32_083 } })
  expect(lines.find(({ id }) => id === 'given-up')).toBe(undefined)
  expect(shim.received()).not.toContain('write')
  expect(ofType(events, 'tool_call_end').length).toBe(3)
  expect(checkBooks(events)).toEqual([])
})

test('a call that is cancelled takes its question back, and an approval that came meanwhile (seed 004 §3.1)', async () => {
  const shim = startShim({ policy: bundle([ask(50_000)]) })
  const cancel = (id: number): void =>
    shim.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
  shim.send(toolCall(1, 'write', { path: 'a' }))
  const id = await openId(shim.home)
  cancel(1)
  await until('the question to be gone', async () => ((await listed(shim.home)).length === 0 ? true : undefined))
  const late = ownTerminal([...launcher('heimdall'), 'approve', id], { cwd: shim.home, env: { HOME: shim.home } })
  expect([await late.ended, late.written()]).toEqual([3, expect.stringContaining('no waiting call has the id')])
  // Asked again, it is a new question.
  shim.send(toolCall(2, 'write', { path: 'a' }))
  expect(await openId(shim.home)).toBe(id)
  expect(shim.received()).not.toContain('write')
  // Of two calls alike one goes on waiting.
  shim.send(toolCall(3, 'write', { path: 'a' }))
  await shim.call('read')
  cancel(2)
  await shim.call('read')
  await person(shim.home, 'approve', id)
  expect(await shim.answer(3)).toHaveProperty('result')
  const { events } = await shim.end()
  expect(ofType(events, 'approval_withdrawn')).toMatchObject([{ approval: { id, rule_id: 'ask-writes' } }])
  expect(checkBooks(events)).toEqual([])
})

test('an approval for once that came before the cancellation does not allow the repetition', () => {
  const call = { serverName: 's', toolName: 'write', argsHash: 'h' }
  const rule = { ruleId: 'ask', ruleHash: 'r' }
  const now = { bootId: 'b', monoMs: 0 }
  const approvals = new Approvals()
  const enter = (type: string, body: object): void => approvals.enter(type, body as Json, { run_id: 'run' }, '')
  const approval = { id: 'i', rule_id: 'ask', rule_hash: 'r', args_hash: 'h' }
  enter('approval_requested', { call: { server_name: 's', tool_name: 'write' }, approval })
  enter('approval_decided', { approval: { ...approval, answer: 'allow', lasts: 'once', scope: 'call' } })
  expect(approvals.find([rule], call, now).byRule.size).toBe(1)
  enter('approval_withdrawn', { approval: { id: 'i', rule_id: 'ask' } })
  expect(approvals.find([rule], call, now).byRule.size).toBe(0)
})

test('15 KB of content do not hide the path, and what is cut is shown by --show', async () => {
  const shim = startShim({ policy: bundle([ask(0)]) })
  const content = Array.from({ length: 1_500 }, (_, i) => `line ${i}`).join('\n')
  await shim.call('write_file', { content, path: '/etc/passwd' })
  const id = await openId(shim.home)
  const { stdout } = await runLauncher('heimdall', ['approve'], { env: { HOME: shim.home } })
  expect(stdout.split('\n')[0]).toMatch(new RegExp(`^${id}  open  \\S+ write_file /etc/passwd$`))
  expect(stdout).toContain('May it write? (unknown, rule ask-writes)')
  expect(stdout).toContain('… 1488 more lines')
  expect(stdout).toContain(`all of it: heimdall approve --show ${id}`)
  expect(stdout).not.toContain('line 700')
  const whole = await runLauncher('heimdall', ['approve', '--show', id.slice(0, 8)], { env: { HOME: shim.home } })
  for (const line of ['line 0', 'line 700', 'line 1499']) expect(whole.stdout).toContain(`  | ${line}\n`.trimEnd())
  expect(whole.stdout).not.toContain('more lines')
  await shim.end()
})

test('a question in a host that the user started is in status and next', async () => {
  const { root: home } = temporaryProject()
  const shim = startShim({
    policy: bundle([ask(0)]),
    bin: 'heimdall',
    home,
    cwd: home,
    env: { CLAUDE_CODE_SESSION_ID: 'aa11' },
  })
  await shim.call('write_file', { text: 'x', path: 'src/a.ts' })
  const id = await openId(home)
  for (const [command, pick] of [
    ['status', (data: Json) => (data['waits'] as Json[])[0]],
    ['next', (data: Json) => data['wait'] as Json],
  ] as const) {
    const { stdout } = await runLauncher('heimdall', [command, '--json'], { env: { HOME: home }, cwd: home })
    expect(pick((JSON.parse(stdout) as { data: Json }).data), command).toMatchObject({
      id,
      kind: 'permission',
      asks: expect.stringMatching(/write_file src\/a\.ts: May it write\?$/),
      detail: expect.stringContaining('path: src/a.ts'),
    })
  }
  await shim.end()
})

test('a run that ends takes held calls with it', async () => {
  const shim = startShim({
    policy: bundle([
      ask(50_000),
      rule('none', 'budget', tool('mail'), { budget: { limit_calls: 0, on_exceed: 'TERMINATE_RUN' } }),
    ]),
  })
  shim.send(toolCall('held', 'write', { path: 'a' }))
  expect((await shim.call('mail'))['error'].code).toBe(-32_084)
  expect((await shim.answer('held'))['error'].code).toBe(-32_084)
  const { events } = await shim.end()
  expect(checkBooks(events)).toEqual([])
})

test('the session of the agent shows that a person is waited for, with the question', async () => {
  const box = hm()
  const { home } = box
  await box.session('agent', ['sh', '-c', 'read line'])
  const needs = async (): Promise<Json> => (await box.json(['status', 'agent']))['needs_input'] as Json
  const shim = startShim({ policy: bundle([ask(0)]), home, env: { HEIMDALL_SESSION_ID: 'agent' } })
  await shim.call('write', { path: 'a' })
  const id = await openId(home)
  await until('needs input', async () => ((await needs())['value'] === true ? true : undefined))
  expect(await needs()).toEqual({
    value: true,
    source: 'hook',
    evidence: `May it write? (heimdall approve ${id})`,
  })
  await person(home, 'approve', id)
  await until('nobody waited for', async () => ((await needs())['value'] === false ? true : undefined))
  // That somebody has answered says nothing of what the agent does now.
  expect(await needs()).toEqual({ value: false, source: 'none', evidence: null })
  await shim.end()
})

test('a yes for arguments without a canonical form is one for these bytes alone', async () => {
  const shim = startShim({ policy: bundle([ask(0)]) })
  const call = (id: number, args: string): string =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"write","arguments":${args}}}`
  shim.send(call(1, '{"path":"a","path":"a"}'))
  expect(reason(await shim.answer(1))).toBe('APPROVAL_REQUIRED')
  await person(shim.home, 'approve', await openId(shim.home))
  shim.send(call(2, '{"path":"/etc/passwd","path":"a"}'))
  expect(reason(await shim.answer(2))).toBe('APPROVAL_REQUIRED')
  shim.send(call(3, '{"path":"a","path":"a"}'))
  expect(await shim.answer(3)).toHaveProperty('result')
  expect((await shim.end()).events.length).toBeGreaterThan(0)
})

// Approvals are bounded and expire; an answer applies to the rule as it was read, and every held call is answered (seed 004 §7.4).
describe('bounds of approvals', () => {
  const ask = (wait_ms: number, message = 'writes are asked about'): object =>
    rule('ask-writes', 'deny', tool('write*'), { action: 'ASK', message, ask: { question: 'May it write?', wait_ms } })

  async function listed(home: string, ...flags: string[]): Promise<Json[]> {
    const { stdout } = await runLauncher('heimdall', ['approve', '--json', ...flags], {
      env: { HOME: home },
    })
    return (JSON.parse(stdout) as { data: { requests: Json[] } }).data.requests
  }

  /** What a person types, at a terminal of their own. */
  async function person(home: string, ...words: string[]): Promise<void> {
    const terminal = ownTerminal([...launcher('heimdall'), ...words], { cwd: home, env: { HOME: home } })
    expect(await terminal.ended, terminal.written()).toBe(0)
  }

  const reason = (answer: Json): string =>
    (answer['error']?.data.subluminal.reason_code as string | undefined) ?? 'passed'

  test('so many questions and no more: past the bound a call is refused unasked, until somebody answers', async () => {
    const shim = startShim({ policy: bundle([ask(0)]), env: { SUB_RUN_ID: 'full' } })
    for (let i = 0; i < ASK_OPEN_MAX; i += 1) shim.send(toolCall(i, 'write', { i }))
    expect(reason(await shim.answer(ASK_OPEN_MAX - 1))).toBe('APPROVAL_REQUIRED')
    const refused = await shim.call('write', { i: 'one more' })
    expect(reason(refused)).toBe('APPROVAL_UNAVAILABLE')
    expect(refused['error'].message).toMatch(/nobody was asked: \d+ questions are open already/)
    // A question that is open already is no new one.
    expect(reason(await shim.call('write', { i: 0 }))).toBe('APPROVAL_REQUIRED')
    const open = await listed(shim.home)
    expect(open.length).toBe(ASK_OPEN_MAX)
    await person(shim.home, 'deny', String(open[0]?.['id']))
    expect(reason(await shim.call('write', { i: 'one more' }))).toBe('APPROVAL_REQUIRED')
    const { events } = await shim.end()
    expect(checkBooks(events)).toEqual([])
  })

  test('the questions of a run end with it, also when it was killed', async () => {
    const home = temporaryFolder()
    const start = (id: string, ownProcess = false): ReturnType<typeof startShim> =>
      startShim({ policy: bundle([ask(0)]), bin: 'heimdall', home, ownProcess, env: { SUB_RUN_ID: id } })
    const ended = start('ended')
    await ended.call('write', { path: 'a' })
    const killed = start('killed', true)
    await killed.call('write', { path: 'a' })
    expect((await listed(home)).map(({ run_id }) => run_id as string).toSorted()).toEqual(['ended', 'killed'])
    await ended.end()
    expect((await listed(home)).map(({ run_id }) => run_id as string)).toEqual(['killed'])
    killed.program.kill('SIGKILL')
    await killed.program.ended
    await runLauncher('heimdall', ['doctor', '--fix'], { env: { HOME: home }, cwd: home })
    expect(await listed(home)).toEqual([])
    expect(await listed(home, '--all')).toMatchObject([
      { answer: null, closed_at: expect.any(String) },
      { answer: null, closed_at: expect.any(String) },
    ])
    // Asked again, it is open again.
    const again = start('ended')
    await again.call('write', { path: 'a' })
    expect(await listed(home)).toMatchObject([{ run_id: 'ended', closed_at: null }])
    await again.end()
  })

  test('what a shim alone has asked goes with it; what a killed one leaves behind is not listed, and swept', async () => {
    const home = temporaryFolder()
    const solo = join(runsDir(home), '.solo')
    const start = (ownProcess: boolean): ReturnType<typeof startShim> =>
      startShim({ policy: bundle([ask(0)]), home, ownProcess })
    const alive = start(false)
    const killed = start(true)
    await alive.call('write', { path: 'alive' })
    await killed.call('write', { path: 'killed' })
    killed.program.kill('SIGKILL')
    await killed.program.ended
    expect(await listed(home)).toMatchObject([{ args_preview: expect.stringContaining('alive') }])
    expect(readdirSync(solo).length).toBe(2)
    for (const name of readdirSync(solo)) utimesSync(join(solo, name), 0, 0)
    await runLauncher('heimdall', ['runs', 'prune'], { env: { HOME: home }, cwd: home })
    expect(readdirSync(solo).length).toBe(1)
    expect(await listed(home)).toMatchObject([{ args_preview: expect.stringContaining('alive') }])
    await alive.end()
    expect(readdirSync(solo)).toEqual([])
  })

  test('an answer is one for the rule as it stood: another text of it asks again', async () => {
    const shim = startShim({ policy: bundle([ask(0)]) })
    const load = async (message: string, times: number): Promise<void> => {
      writeFileSync(shim.policyPath, JSON.stringify(bundle([ask(0, message)], { version: String(times) })))
      await until('the policy taken up', () =>
        ofType(shim.events(), 'policy_loaded').length > times ? true : undefined,
      )
    }
    await shim.call('write', { path: 'a' })
    const [first] = await listed(shim.home)
    await person(shim.home, 'approve', String(first?.['id']), '--rule', '--run')
    expect(reason(await shim.call('write', { path: 'b' }))).toBe('passed')
    await load('writes are asked about, and meant differently', 1)
    expect(reason(await shim.call('write', { path: 'b' }))).toBe('APPROVAL_REQUIRED')
    // What changed is in the bundle beside the rule, not in it.
    await load('writes are asked about', 2)
    expect(reason(await shim.call('write', { path: 'b' }))).toBe('passed')
    await shim.end()
  })

  test('held calls are answered when the shim ends in the middle of a turn that cannot be finished', async () => {
    const pipe = join(temporaryFolder(), 'events')
    await runProgram(['mkfifo', pipe])
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const shim = startShim({ policy: bundle([ask(50_000)]), flags: ['--events', pipe] })
      shim.send(toolCall('held', 'write', { path: 'a' }))
      await until('the question', async () => ((await listed(shim.home)).length > 0 ? true : undefined))
      // Nobody reads the events: from some call on the shim waits for its record, and then its client leaves.
      const some = { text: 'x'.repeat(1_000) }
      for (let i = 0; i < 700; i += 1) shim.send(toolCall(i, 'read', some))
      const { lines } = await shim.end()
      expect(lines.filter(({ id }) => id === 'held')).toMatchObject([
        { error: { data: { subluminal: { reason_code: 'APPROVAL_REQUIRED' } } } },
      ])
    } finally {
      closeSync(reader)
    }
  })

  test('a shim that leaves has said so to the session', async () => {
    const box = hm()
    const { home } = box
    await box.session('agent', ['sh', '-c', 'read line'])
    const needs = async (): Promise<Json> => (await box.json(['status', 'agent']))['needs_input'] as Json
    for (let i = 0; i < 3; i += 1) {
      const shim = startShim({ policy: bundle([ask(0)]), home, env: { HEIMDALL_SESSION_ID: 'agent' } })
      await shim.call('write', { path: String(i) })
      await until('needs input', async () => ((await needs())['value'] === true ? true : undefined))
      await shim.end()
      // Nobody is left who could say it later.
      await until('nobody waited for', async () => ((await needs())['value'] === false ? true : undefined))
    }
  })
})

test('an id that several waiting calls start with is an error that lists them', async () => {
  const home = temporaryFolder()
  const folder = join(runsDir(home), 'two')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const ids = ['abcd000000000001', 'abcd000000000002']
  const source = { host_id: 'h', proc_id: 'p', shim_id: 's' }
  const text = new EventText({ run_id: 'two', agent_id: 'amber', client: 'custom', env: 'dev', source }, Date.now)
  for (const id of ids)
    text.approvalRequested(
      { call_id: id, server_name: 's', tool_name: 'write', args_hash: id },
      { id, rule_id: 'ask', rule_hash: 'h', question: 'May it?', wait_ms: 0, args_hash: id, args_preview: '{}' },
    )
  writeFileSync(join(folder, 'events.jsonl'), text.lines.encode(), { mode: 0o600 })
  const terminal = ownTerminal([...launcher('heimdall'), 'approve', 'abcd'], { cwd: home, env: { HOME: home } })
  expect(await terminal.ended).toBe(2)
  expect(terminal.written()).toContain(`abcd matches several waiting calls: ${ids[0]} (write), ${ids[1]} (write)`)
})
