// heimdall task over both kinds of tasks: dispatched to workers, and started by agents themselves.
import { expect, test } from 'vitest'
import { fleet } from './dispatch-kit.ts'

test('both kinds are in one list, each once; ids are found by unique prefixes', async () => {
  const project = fleet()
  const heimdall = (...args: string[]) => project.run('heimdall', args)
  await heimdall('agent', 'add', 'amber-otter', '--role', 'backend')
  await heimdall('task', 'start', 'own-1', '--agent', 'amber-otter', '--title', 'Rewrite the parser')
  await heimdall('task', 'add', 'Fix the login', '--id', 'login-1')
  await heimdall('task', 'add', 'Fix the logout', '--id', 'logout-1')
  expect(await project.json(['task', 'list'])).toMatchObject([
    { task_id: 'own-1', kind: 'agent', state: 'in_progress', title: 'Rewrite the parser' },
    { task_id: 'login-1', kind: 'dispatched', state: 'queued', worker: null, owner: null },
    { task_id: 'logout-1', kind: 'dispatched', state: 'queued' },
  ])
  expect((await heimdall('task', 'list')).stdout.split('\n')).toEqual([
    'TASK\tKIND\tSTATE\tOWNER\tABOUT',
    'own-1\tagent\tin progress\tamber-otter\tRewrite the parser',
    'login-1\tdispatched\tqueued\t-\tFix the login',
    'logout-1\tdispatched\tqueued\t-\tFix the logout',
    '',
  ])
  expect((await heimdall('task', 'show', 'own')).stdout).toContain('amber-otter\tRewrite the parser')
  expect(await heimdall('task', 'show', 'log')).toMatchObject({
    code: 3,
    stderr: 'error: "log" is the prefix of 2 task ids\nhint: name one: login-1, logout-1\n',
  })
  expect((await heimdall('task', 'cancel', 'logo')).stdout).toBe('logout-1 is cancelled\n')
  expect(await project.json(['task', 'list', '--state', 'canceled'])).toMatchObject([{ task_id: 'logout-1' }])
  expect(await project.json(['task', 'list'])).toHaveLength(2)
  expect(await project.json(['task', 'list', '--all'])).toHaveLength(3)
  const unknown = await heimdall('task', 'list', '--state', 'waiting')
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('--state takes queued, parked')])
  // Its agent ends it: there is no worker to be asked.
  expect(await heimdall('task', 'cancel', 'own-1')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('was started by an agent, not dispatched') as string,
  })
})
