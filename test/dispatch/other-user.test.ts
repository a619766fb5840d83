// Another user takes the port of a worker or an orchestrator that was killed, or uses a token that leaked: it receives no token, runs no task and ends none.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { otherUserListens, otherUserPosts } from '../support/other-user.ts'
import type { Json } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { addressFile, DONE, fleet, type Fleet } from './dispatch-kit.ts'
import { contractOf } from './worker-in-process.ts'

const portOf = (url: string): number => Number(new URL(url).port)

/** As in a state folder whose processes run in another container: the file does not tell whether its process has ended. */
function forgetProcess(project: Fleet, role: string, name: string): void {
  const file = addressFile(project.home, role, name)
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as Json), process: null }))
}

const COMPLETED = {
  jsonrpc: '2.0',
  id: 1,
  result: {
    id: 'x',
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: 'a', parts: [{ text: 'all done' }] }],
  },
}

test.each([
  ['whose file names an ended process', false],
  ['whose file does not tell', true],
])('nothing is sent to the port of a killed orchestrator, %s', async (_which, isForgotten) => {
  const project = fleet()
  const orchestrator = await project.serve()
  const { url } = JSON.parse(readFileSync(addressFile(project.home, 'orchestrators', 'orchestrator'), 'utf8')) as {
    url: string
  }
  await project.worker('early', `touch "$HOME/ran"; ${DONE}`)
  if (isForgotten) forgetProcess(project, 'orchestrators', 'orchestrator')
  orchestrator.kill('SIGKILL')
  await orchestrator.ended
  const squatter = await otherUserListens(portOf(url))

  const late = await project.worker('late', DONE)
  const check = await project.run('heimdall', ['peers', 'check', '--json'])
  // It changes what the worker announces.
  await project.send('do it', ['--worker', 'early'])
  expect(squatter.received()).toBe('')
  const why = `the program at 127.0.0.1:${squatter.port} belongs to another user`
  expect(late.program.stderr().includes(why)).toBe(isForgotten)
  const peers = (JSON.parse(check.stdout) as { data: Json[] }).data
  expect(peers.find(({ name }) => name === 'orchestrator')).toEqual(
    isForgotten ? expect.objectContaining({ reachable: false, why }) : undefined,
  )
  expect(existsSync(join(project.home, 'ran'))).toBe(true)
})

test('a token of a worker or an orchestrator is of no use to another user', async () => {
  const project = fleet()
  await project.serve()
  const worker = await project.worker('w', `touch "$HOME/ran"; ${DONE}`)
  const orchestrator = JSON.parse(readFileSync(addressFile(project.home, 'orchestrators', 'orchestrator'), 'utf8')) as {
    url: string
    token: string
  }
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }, { data: contractOf('stolen') }] }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  for (const { url, token } of [worker, orchestrator])
    expect(await otherUserPosts(url, body, { 'A2A-Version': '1.0', Authorization: `Bearer ${token}` })).toMatch(
      /^(ECONNRESET|EPIPE)$/,
    )
  await until('it to be noted', () => worker.program.stderr().includes('the client belongs to another user'))
  // It serves its own user as before, and has run nothing else.
  expect(existsSync(join(project.home, 'ran'))).toBe(false)
  expect(await project.send('do it')).toMatchObject({ state: 'done' })
})

test('with --open, clients of other users are accepted', async () => {
  const project = fleet()
  const worker = await project.worker('w', DONE, ['--open'])
  expect(await otherUserPosts(worker.url, {})).toBe('401')
})

test.each([
  ['whose file names an ended process', false],
  ['whose file does not tell', true],
])('the port of a killed worker receives no token and ends no task: one %s', async (_which, isForgotten) => {
  const project = fleet()
  const orchestrator = await project.serve()
  const worker = await project.worker('w', 'echo $$ > "$HOME/pid"; exec sleep 600')
  const sent = await project.run('heimdall', ['task', 'add', 'do it', '--id', 'T', '--json'])
  expect(sent.code).toBe(0)
  await until('it to run', () => existsSync(join(project.home, 'pid')))
  if (isForgotten) forgetProcess(project, 'workers', 'w')
  worker.program.kill('SIGKILL')
  await worker.program.ended
  const squatter = await otherUserListens(portOf(worker.url), COMPLETED)
  const why = isForgotten ? `the program at 127.0.0.1:${squatter.port} belongs to another user` : 'w is no peer'
  await until('the orchestrator to try', () => orchestrator.stderr().includes(why) || squatter.received() !== '')
  expect(squatter.received()).toBe('')
  expect(await project.json(['task', 'show', 'T'])).not.toMatchObject({ state: 'done' })
})
