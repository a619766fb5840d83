// What strangers, bad days and impatient people do to a worker: nothing runs twice, nothing is lost, and nobody sees what is another's.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openCoordination } from '../../src/coordination/coordination.ts'
import { findProject } from '../../src/paths.ts'
import { sendTask } from '../../src/dispatch/send-task.ts'
import { retryTask } from '../../src/dispatch/tasks.ts'
import { openRoom } from '../coordination/room.ts'
import { isRunning } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { DONE, fleet, type RunningWorker } from './dispatch-kit.ts'
import { contractOf, ownWorker } from './worker-in-process.ts'

interface Answer {
  readonly error?: { readonly code: number }
  readonly result?: {
    readonly id?: string
    readonly status?: { readonly state: string }
    readonly task?: { readonly id: string; readonly status: { readonly state: string } }
  }
}

async function rpc(
  { url, token }: Pick<RunningWorker, 'url' | 'token'>,
  method: string,
  params: object,
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', Authorization: `Bearer ${token}` },
  })
  return (await response.json()) as Answer
}

const send = (
  to: Pick<RunningWorker, 'url' | 'token'>,
  taskId: string,
  attempt: number,
  messageId: string,
): Promise<Answer> =>
  rpc(to, 'SendMessage', {
    message: {
      messageId,
      role: 'ROLE_USER',
      parts: [{ text: 'x' }, { data: { ...contractOf(taskId), dispatch_id: taskId, attempt } }],
    },
    configuration: { returnImmediately: true },
  })

test('messages that are repeated, overtake each other or are of another: one run, and nothing for strangers', async () => {
  const { desk, started, serve, end } = ownWorker({ slots: 4 })
  const url = await serve()
  const [boss, thief] = [
    { url, token: 'boss' },
    { url, token: 'thief' },
  ]
  const second = await send(boss, 'T', 2, 'm2')
  const id = second.result?.task?.id ?? ''
  await until('it to run', () => desk.assignment(id)?.state === 'running')
  // The same attempt under another message id, and one that was overtaken.
  expect((await send(boss, 'T', 2, 'other')).result?.task?.id).toBe(id)
  expect((await send(boss, 'T', 1, 'm1')).result?.task?.status.state).toBe('TASK_STATE_REJECTED')
  expect(started).toEqual(['T#2'])
  for (const [method, params] of [
    ['GetTask', { id }],
    ['CancelTask', { id }],
    ['SubscribeToTask', { id }],
    ['SendMessage', { message: { messageId: 'm9', taskId: id, role: 'ROLE_USER', parts: [{ text: 'x' }] } }],
  ] as const)
    expect([method, (await rpc(thief, method, params)).error?.code]).toEqual([method, -32_001])
  // Another brief under the same id would be told that it was done.
  const other = { ...contractOf('T', { brief: 'something else' }), dispatch_id: 'T', attempt: 2 }
  const message = { messageId: 'm3', role: 'ROLE_USER', parts: [{ text: 'x' }, { data: other }] }
  expect((await rpc(boss, 'SendMessage', { message })).error?.code).toBe(-32_602)
  const inPictures = { acceptedOutputModes: ['image/png'] }
  const asked = { messageId: 'm4', role: 'ROLE_USER', parts: [{ text: 'x' }] }
  expect((await rpc(boss, 'SendMessage', { message: asked, configuration: inPictures })).error?.code).toBe(-32_005)
  // Its own task of the same name is another one.
  expect((await send(thief, 'T', 2, 'm2')).result?.task?.id).not.toBe(id)
  end('T')
})

test('a budget is raised by a person, and never to nothing', async () => {
  const room = openRoom({ clock: systemClock })
  await sendTask(room, { contract: contractOf('T'), title: 'T' })
  for (const budget of [0, -5])
    await expect(retryTask(room, 'T', budget)).rejects.toMatchObject({ code: 'DISPATCH_INVALID' })
})

test('cancelled while it begins, a task ends; killed while it begins, it is ended and not run again', async () => {
  const project = fleet()
  const script = 'echo $$ >> "$HOME/pids"; exec sleep 600'
  const worker = await project.worker('w', script, ['--slots', '4'])
  const pids = (): number[] =>
    existsSync(join(project.home, 'pids'))
      ? readFileSync(join(project.home, 'pids'), 'utf8').trim().split('\n').map(Number)
      : []
  const { result } = await send(worker, 'C-1', 1, 'c1')
  expect((await rpc(worker, 'CancelTask', { id: result?.task?.id })).result?.status?.state).toBe('TASK_STATE_CANCELED')
  expect(pids().filter(isRunning)).toEqual([])

  const id = (await send(worker, 'K-1', 1, 'k1')).result?.task?.id ?? ''
  const before = pids().length
  await until('it to run', async () => {
    const { result: now } = await rpc(worker, 'GetTask', { id })
    return now?.status?.state === 'TASK_STATE_WORKING' && pids().length > before
  })
  worker.program.kill('SIGKILL')
  await worker.program.ended
  // As it is when the kill comes before the word that it runs.
  const room = openCoordination({
    project: findProject(project.root, project.env),
    env: project.env,
    clock: systemClock,
  })
  await room.store.change((rows) => {
    const assignment = rows.assignment(id)
    if (assignment !== undefined) rows.putAssignment({ ...assignment, state: 'accepted', runId: null })
  })
  rmSync(join(project.tasks(), id, 'begun.json'))
  const again = await project.worker('w', script, ['--slots', '4'])
  await until('it to end', () => room.store.read((rows) => rows.assignment(id)?.endedMs !== null))
  expect(JSON.parse(room.store.read((rows) => rows.assignment(id)?.result) ?? '{}')).toMatchObject({
    status: 'error',
    error: { code: 'restarted', side_effects: 'possible' },
  })
  room.store.close()
  await until('what had begun to be gone', () => pids().filter(isRunning).length === 0)
  expect((await send(again, 'K-1', 1, 'k1')).result?.task?.id).toBe(id)
  expect(pids()).toHaveLength(before + 1)
})

test('a worker that is drained in the middle ends what it has and takes nothing more; a second of its name is refused', async () => {
  const project = fleet()
  const worker = await project.worker('w', `while [ ! -e "$HOME/go" ]; do sleep 0.1; done; ${DONE}`)
  const id = (await send(worker, 'D-1', 1, 'd1')).result?.task?.id ?? ''
  const twice = await project.run('heimdall', ['worker', 'start', '--name', 'w', '--', 'true'])
  expect([twice.code === 0, twice.stderr]).toEqual([false, expect.stringContaining('is already running')])
  await project.json(['worker', 'drain', 'w'])
  await until('it to take nothing more', async () => {
    const { result } = await send(worker, `D-${Math.random()}`, 1, 'd2')
    return result?.task?.status.state === 'TASK_STATE_REJECTED'
  })
  writeFileSync(join(project.home, 'go'), '')
  await until('it to end what it has', async () => {
    const { result } = await rpc(worker, 'GetTask', { id })
    return result?.status?.state === 'TASK_STATE_COMPLETED'
  })
})

test('escapes in a reply, an error, a step or a path reach no terminal; --json has them as they were', async () => {
  const project = fleet()
  const evil = '\u001b]0;owned\u0007\u001b[2J\u202e\u009b31m'
  const result = { reply: `first ${evil}\n\tsecond`, next_steps: [`step ${evil}`] }
  const failure = { ...result, status: 'error', error: { summary: `no ${evil}`, side_effects: 'possible' } }
  writeFileSync(join(project.home, 'done.json'), JSON.stringify({ ...result, status: 'done' }))
  writeFileSync(join(project.home, 'failed.json'), JSON.stringify(failure))
  await project.worker(
    'w',
    `touch "$(printf 'a\\033[2J.txt')"; cp "$HOME/$HEIMDALL_TASK_ID.json" "$HEIMDALL_RESULT_FILE"`,
  )
  const typed = { done: 0, failed: 1 }
  for (const [id, code] of Object.entries(typed)) {
    const sent = await project.run('heimdall', ['task', 'add', 'do it', '--id', id, '--wait'])
    expect(sent.code).toBe(code)
    expect(sent.stdout).toContain('first \\u001b]0;owned\\u0007\\u001b[2J\\u202e\\u009b31m\n\tsecond')
    expect(sent.stdout).toContain('changed a\\u001b[2J.txt')
    const shown = [
      sent,
      await project.run('heimdall', ['task', 'show', id]),
      await project.run('heimdall', ['task', 'list', '--all']),
      await project.run('heimdall', ['task', 'list', '--all']),
      await project.run('heimdall', ['task', 'explain', id]),
      await project.run('heimdall', ['worker', 'announce']),
    ]
    for (const { stdout, stderr } of shown) expect(stdout + stderr).not.toMatch(HOSTILE)
    const { stdout: json } = await project.run('heimdall', ['task', 'show', id, '--json'])
    expect(json).not.toMatch(HOSTILE)
    expect(JSON.parse(json)).toMatchObject({ data: { result: { reply: result.reply } } })
  }
})

/** Whatever a terminal obeys, line feeds and tabs apart. */
// oxlint-disable-next-line no-control-regex -- they are what it is about
const HOSTILE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/
