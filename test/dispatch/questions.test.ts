// A worker that cannot go on without a person: what our orchestrator makes of such a peer, and what our worker tells of its own.
import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { A2aPeer } from '../../src/dispatch/a2a/a2a-peer.ts'
import { EXTENSION } from '../../src/dispatch/a2a/extension.ts'
import { Orchestrator } from '../../src/dispatch/orchestrator.ts'
import { readReason } from '../../src/dispatch/parking.ts'
import { answerTask } from '../../src/dispatch/questions.ts'
import { sendTask } from '../../src/dispatch/send-task.ts'
import { cancelTask, showTask, waitsForPerson } from '../../src/dispatch/tasks.ts'
import { openRoom } from '../coordination/room.ts'
import { until } from '../support/wait.ts'
import type { Json } from '../support/shim-client.ts'
import { Asking, textPart } from './asking-peer.ts'
import { fleet } from './dispatch-kit.ts'
import { stockServer } from './stock-server.ts'
import { contractOf, ownWorker } from './worker-in-process.ts'

function orchestrate(room: Coordination, url: string): { stop: () => Promise<void> } {
  const peer = new A2aPeer({ name: 'stock', url, token: () => undefined, clock: systemClock, note: () => undefined })
  const orchestrator = new Orchestrator({
    room,
    peers: () => new Map([['stock', { peer, url }]]),
    note: () => undefined,
  })
  const running = orchestrator.run()
  const stop = async (): Promise<void> => {
    orchestrator.stop()
    await running
  }
  onTestFinished(stop)
  return { stop }
}

const asked = (room: Coordination, taskId: string): string | undefined => {
  const { task } = showTask(room, taskId)
  return waitsForPerson(task) ? readReason(task)?.asks?.question : undefined
}

const eventsOf = (room: Coordination, taskId: string): string[] =>
  room.store.read((rows) => rows.events({}).flatMap(({ type, task }) => (task === taskId ? [type] : [])))

test.each(['1.0', '0.3'] as const)(
  'a peer of %s that asks for input keeps its task: a person answers, also after a restart, and the same task goes on',
  async (version) => {
    const executor = new Asking(TaskState.TASK_STATE_INPUT_REQUIRED, ['which branch?', 'really?'])
    const { url } = await stockServer(version, false, executor)
    const room = openRoom({ clock: systemClock })
    const first = orchestrate(room, url)
    await sendTask(room, { contract: contractOf('Q-1'), title: 'Q-1' })
    await until('it to ask', () => asked(room, 'Q-1') === 'which branch?')
    expect(showTask(room, 'Q-1')).toMatchObject({ task: { state: 'in_progress' }, attempts: [{ state: 'accepted' }] })
    await first.stop()
    // Nobody orchestrates: the answer is kept.
    await answerTask(room, 'Q-1', 'main')
    await expect(answerTask(room, 'Q-1', 'no, next')).rejects.toMatchObject({ code: 'TASK_FORBIDDEN' })
    orchestrate(room, url)
    const shown = readReason(showTask(room, 'Q-1').task)?.asks?.since
    await until('it to ask again', () => asked(room, 'Q-1') === 'really?')
    // To a question that has been answered since, as somebody sends it who still looks at that.
    await expect(answerTask(room, 'Q-1', 'main', { since: `${shown}` })).rejects.toMatchObject({
      code: 'TASK_FORBIDDEN',
      message: expect.stringContaining('another question') as string,
    })
    const since = readReason(showTask(room, 'Q-1').task)?.asks?.since
    await answerTask(room, 'Q-1', 'yes', { by: 'ann', ...(since === undefined ? {} : { since }) })
    await until('the task to end', () => showTask(room, 'Q-1').task.state === 'done')
    expect(executor.heard.slice(1)).toEqual(['main', 'yes'])
    const { attempts } = showTask(room, 'Q-1')
    expect(attempts).toHaveLength(1)
    expect(JSON.parse(attempts[0]?.result ?? '{}')).toMatchObject({ status: 'done', reply: 'done with: yes' })
    const answers = room.store.read((rows) => rows.events({ types: ['TASK_ANSWERED'] }))
    expect(answers.map(({ actorKind, payload }) => [actorKind, payload['by']])).toEqual([
      ['system', undefined],
      ['human', 'ann'],
    ])
    expect(eventsOf(room, 'Q-1').filter((type) => /_ASKS$|_ANSWER/.test(type))).toEqual([
      'TASK_ASKS',
      'TASK_ANSWERED',
      'TASK_ASKS',
      'TASK_ANSWERED',
    ])
  },
)

test.each(['1.0', '0.3'] as const)(
  'a peer of %s that asks for authorisation is waited for, and goes on when it has that from elsewhere',
  async (version) => {
    const executor = new Asking(TaskState.TASK_STATE_AUTH_REQUIRED, ['log in at the vendor'])
    const { url } = await stockServer(version, false, executor)
    const room = openRoom({ clock: systemClock })
    orchestrate(room, url)
    await sendTask(room, { contract: contractOf('Q-2'), title: 'Q-2' })
    await until('it to ask', () => asked(room, 'Q-2') === 'log in at the vendor')
    expect(readReason(showTask(room, 'Q-2').task)?.asks).toMatchObject({ isAuth: true })
    executor.goOn()
    await until('the task to end', () => showTask(room, 'Q-2').task.state === 'done')
  },
)

test('what asks can be cancelled; an answer is refused where nothing is asked, and where it looks like a secret', async () => {
  const executor = new Asking(TaskState.TASK_STATE_INPUT_REQUIRED, ['key?'])
  const { url } = await stockServer('1.0', false, executor)
  const room = openRoom({ clock: systemClock })
  orchestrate(room, url)
  await expect(answerTask(room, 'Q-3', 'x')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
  await sendTask(room, { contract: contractOf('Q-3'), title: 'Q-3' })
  await until('it to ask', () => asked(room, 'Q-3') !== undefined)
  await expect(answerTask(room, 'Q-3', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789')).rejects.toMatchObject({
    code: 'DISPATCH_INVALID',
  })
  await expect(answerTask(room, 'Q-3', ' ')).rejects.toMatchObject({ code: 'DISPATCH_INVALID' })
  await cancelTask(room, 'Q-3', 'enough')
  await expect(answerTask(room, 'Q-3', 'x')).rejects.toMatchObject({ code: 'TASK_FORBIDDEN' })
})

test('our worker: a session that waits for a person is INPUT_REQUIRED, and an answer from afar is typed once', async () => {
  const project = fleet()
  const script = [
    String.raw`printf 'Which one? \033]7501;state=blocked:kind=question:msg=V2hpY2ggb25lPw==\033\\'`,
    'read -r line',
    String.raw`printf '\033]7501;state=working\033\\'`,
    String.raw`printf '{"status":"done","reply":"%s %s"}' "$line" "$TRACEPARENT" > "$HEIMDALL_RESULT_FILE"`,
  ].join('\n')
  const worker = await project.worker('w', script, ['--slots', '2'])
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  // What is asked here stands once in the list, as the question of the session.
  const sent = await project.run('heimdall', ['task', 'add', 'choose', '--id', 'T-1', '--wait', '--json'], {
    env: { ...project.env, TRACEPARENT: trace },
  })
  expect(sent.code).not.toBe(0)
  expect(JSON.parse(sent.stdout)).toMatchObject({
    data: { state: 'in_progress', reason: expect.stringContaining('Which one') as string },
  })
  const waits = async (): Promise<(string | undefined)[][]> => {
    const status = (await project.json(['status'])) as { waits: { kind: string; answers: { command: string }[] }[] }
    return status.waits.map(({ kind, answers }) => [kind, answers[0]?.command.slice(0, 12)])
  }
  // The worker may have heard of it before the keeper of the run has.
  const seen = await until('the question of the session', async () => {
    const found = await waits()
    return found.some(([, command]) => command === 'hm attach w-') ? found : undefined
  })
  expect(seen).toEqual([['question', 'hm attach w-']])
  const answered = await project.json(['task', 'answer', 'T-1', 'the second'])
  expect(answered).toMatchObject({ task_id: 'T-1' })
  const serve = await project.serve()
  await until('it to end', async () => (await project.json(['task', 'show', 'T-1']))['state'] === 'done')
  expect(await project.json(['task', 'show', 'T-1'])).toMatchObject({
    contract: { trace },
    result: { reply: `the second ${trace}`, trace },
  })
  serve.kill()

  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('Authorization', `Bearer ${worker.token}`)
    return fetch(input, { ...init, headers })
  }
  const legacyCompat = { enabled: true }
  const old: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    if (init?.method === undefined || init.method === 'GET') headers.set('A2A-Version', '0.3')
    return fetchImpl(input, { ...init, headers })
  }
  for (const [version, how] of [
    ['1.0', { fetchImpl }],
    ['0.3', { fetchImpl: old, legacyCompat }],
  ] as const) {
    const client = await new ClientFactory({
      transports: [new JsonRpcTransportFactory(how)],
      cardResolver: new DefaultAgentCardResolver(how),
    }).createFromUrl(worker.url)
    expect(client.protocolVersion).toBe(version)
    const message = (messageId: string, taskId: string, text: string): Message => ({
      messageId,
      contextId: '',
      taskId,
      role: Role.ROLE_USER,
      parts: [textPart(text)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    })
    const ask = async (one: Message): Promise<Task> =>
      (await client.sendMessage({ tenant: '', message: one, configuration: undefined, metadata: undefined })) as Task
    // Whoever waits for an answer has one when the task rests.
    const task = await ask(message(`m-${version}`, '', 'choose'))
    expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
    expect(task.status?.message?.parts[0]?.content).toMatchObject({
      value: expect.stringContaining('Which one?') as string,
    })
    const [one, two] = await Promise.all([
      ask(message(`a-${version}`, task.id, 'the first')),
      ask(message(`a-${version}`, task.id, 'the first')),
    ])
    expect([one.status?.state, two.status?.state]).toEqual([
      TaskState.TASK_STATE_COMPLETED,
      TaskState.TASK_STATE_COMPLETED,
    ])
    expect(one.artifacts[0]?.parts[0]?.content).toMatchObject({ value: { reply: 'the first ' } })
    await expect(ask(message('late', task.id, 'again'))).rejects.toThrow(/ended/)
  }
})

test('what a policy asks is allowed where the worker runs: AUTH_REQUIRED, and no message does', async () => {
  const { desk, end, serve, ask } = ownWorker()
  const url = await serve()
  const client = new A2aPeer({ name: 'w', url, token: () => 'boss', clock: systemClock, note: () => undefined })
  const never = new AbortController().signal
  const sent = await client.send(contractOf('P-1'), [], never)
  const remoteId = 'remoteId' in sent ? sent.remoteId : ''
  await until('it to run', () => desk.assignment(remoteId)?.state === 'running')
  await ask('P-1', { question: 'may it push? (heimdall approve 0123456789abcdef)', isAuth: true })
  const reply = await client.follow(remoteId, contractOf('P-1'), 'working', () => undefined, never)
  expect(reply).toMatchObject({
    kind: 'asks',
    isAuth: true,
    question: expect.stringContaining('may it push?') as string,
  })
  expect(await client.answer(remoteId, contractOf('P-1'), { text: 'yes', id: '1' }, never)).toMatchObject({
    kind: 'rejected',
    why: expect.stringContaining('where the worker runs') as string,
  })
  await ask('P-1', undefined)
  expect(await client.follow(remoteId, contractOf('P-1'), undefined, () => undefined, never)).toMatchObject({
    kind: 'working',
  })
  end('P-1')
  expect(await client.follow(remoteId, contractOf('P-1'), 'working', () => undefined, never)).toMatchObject({
    kind: 'ended',
  })
})

test('stopped at its budget, a task of ours is INPUT_REQUIRED with a part done; more tokens let it go on', async () => {
  const project = fleet()
  const frame = (value: object): string => `printf '%s\\n' '${JSON.stringify(value)}'`
  const start = { type: 'system', subtype: 'init', model: 'claude-sonnet-4', session_id: 's1', tools: [] }
  const usage = { input_tokens: 10, output_tokens: 500 }
  const script = [
    'cat > /dev/null',
    frame(start),
    `case "$*" in *--resume*) ${frame({ type: 'result', subtype: 'success', result: 'all of it', session_id: 's1', usage: { input_tokens: 1, output_tokens: 2 } })};; *) ${frame({ type: 'assistant', message: { id: 'm', content: [], usage } })}; exec sleep 600;; esac`,
  ].join('\n')
  const worker = await project.worker('w', script, ['--runtime', 'claude', '--slots', '2'])
  const args = ['--budget', '100', '--read-only', '--resume-within', '10m']
  const asked = await project.send('much', ['--id', 'M-1', ...args])
  expect(asked).toMatchObject({
    state: 'in_progress',
    reason: expect.stringContaining('How many more tokens') as string,
  })
  const get = async (id: string): Promise<Json> => {
    const response = await fetch(`${worker.url}/tasks/${id}`, {
      headers: { Authorization: `Bearer ${worker.token}`, 'A2A-Version': '1.0' },
    })
    return (await response.json()) as Json
  }
  const remote = String((asked['list'] as Json[])[0]?.['remote_id'])
  expect(await get(remote)).toMatchObject({
    status: { state: 'TASK_STATE_INPUT_REQUIRED' },
    metadata: { [EXTENSION]: { substate: 'partial', resume_by: expect.any(String) as string } },
    artifacts: [{ artifactId: 'task-result', parts: [{ data: { status: 'partial', tokens_spent: 510 } }, {}] }],
  })
  const wrong = await project.run('heimdall', ['task', 'answer', 'M-1', 'more'])
  expect([wrong.code === 0, wrong.stderr]).toEqual([false, expect.stringContaining('not a number of tokens')])
  const serve = await project.serve()
  expect(await project.json(['task', 'answer', 'M-1', '4000'])).toMatchObject({ token_budget: 4_100 })
  await until('it to end', async () => (await project.json(['task', 'show', 'M-1']))['state'] === 'done')
  expect(await project.json(['task', 'show', 'M-1'])).toMatchObject({
    attempts: 1,
    tokens_settled: 513,
    tokens_reserved: 0,
    result: { status: 'done', reply: 'all of it' },
  })
  serve.kill()
})
