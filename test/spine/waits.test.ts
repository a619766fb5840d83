// Waits of every source end to end: collisions, notes and changed tools are shown by `heimdall status`, and clear by themselves when they are answered. Questions of policy are in top.test.ts.
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { launcher, runProgram } from '../support/programs.ts'
import { listTools, pinnedServer, tool } from '../support/pinned-server.ts'
import type { Json } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { spine } from './spine.ts'

const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`

test('a collision and a note that wants an answer wait for a person until they are resolved; how a run ended is known without its record', async () => {
  const at = spine()
  const waits = async (): Promise<Json[]> => (await at.json(['status']))['waits'] as Json[]
  const start = async (agent: string, script: string): Promise<Json> =>
    await at.json(['run', '--agent', agent, '--detach', '--', 'sh', '-c', script], { env: { PATH } })
  await start('amber-otter', 'heimdall claim src/api.ts --task T-1; read x; heimdall claim release; read x')
  await until('the first to hold it', async () => (await at.claims()).length === 1)
  await start(
    'brisk-heron',
    [
      'heimdall claim src/api.ts --task T-2',
      'heimdall note send --to amber-otter --category BLOCKED --subject "need src/api.ts" --body "it is held"',
      'read x; exit 9',
    ].join('; '),
  )
  const shown = await until('both waits', async () => {
    const all = await waits()
    return all.length === 2 ? all : undefined
  })
  expect(shown).toMatchObject([
    {
      kind: 'collision',
      agent_id: 'brisk-heron',
      asks: 'wants src/api.ts, amber-otter holds it',
      evidence: { source: 'claims', seen: 'INCURSION, 1 attempt' },
    },
    {
      kind: 'needs input',
      agent_id: 'brisk-heron',
      asks: 'need src/api.ts',
      evidence: { source: 'note', seen: 'BLOCKED to amber-otter, urgency medium: brisk-heron is blocked' },
    },
  ])
  await at.run('hm', ['send', 'amber-otter', 'go\n'])
  await until('the collision to be over', async () => (await waits()).map(({ kind }) => kind).join() === 'needs input')
  // Whoever is blocked and goes, is blocked no more.
  await at.run('hm', ['send', 'brisk-heron', 'go\n'])
  await until('nobody to wait', async () => (await waits()).length === 0)
  await until('the run to be closed', () =>
    at.sheets().every((sheet) => (sheet['agent'] as Json)['agent_id'] !== 'brisk-heron'),
  )
  await at.run('hm', ['clean', '--older-than', '0s', '--force'])
  const ended = ((await at.json(['status']))['agents'] as Json[]).find(({ agent_id: id }) => id === 'brisk-heron')
  expect(ended).toMatchObject({ state: 'failed', exit_code: 9, is_over: true })
  // Its task was in progress, and passes on to whoever starts it next.
  expect((await at.run('heimdall', ['run', '--agent', 'first-try', '--task', 'T-7', '--', 'false'])).code).toBe(1)
  expect((await at.run('heimdall', ['run', '--agent', 'next-try', '--task', 'T-7', '--', 'true'])).code).toBe(0)
  // A start that comes to nothing leaves nobody behind.
  const refused = await at.run('heimdall', ['run', '--agent', 'task-bad', '--task', 'T\n9', '--', 'true'])
  expect(refused.code).not.toBe(0)
  const lost = await at.run('heimdall', ['run', '--agent', 'log-bad', '--log-file', '/nowhere/x/y', '--', 'true'])
  expect(lost.stderr).toContain('the folder of the log "/nowhere/x/y" is not there')
  const known = ((await at.json(['status']))['agents'] as Json[]).map(({ agent_id: id }) => id)
  expect(new Set(known)).toEqual(new Set(['amber-otter', 'brisk-heron', 'first-try', 'next-try']))
})

test('a BLOCKED note to everybody is one wait, and one acknowledgement answers it', async () => {
  const at = spine()
  const start = async (agent: string, script: string): Promise<Json> =>
    await at.json(['run', '--agent', agent, '--detach', '--', 'sh', '-c', script], { env: { PATH } })
  const waits = async (): Promise<Json[]> => (await at.json(['status']))['waits'] as Json[]
  await start('amber-otter', 'read id; heimdall note ack $id; read x')
  await start('cobalt-fox', 'read x')
  const note = 'heimdall note send --to broadcast --category BLOCKED --subject "need a key" --body "none is set"'
  await start('brisk-heron', `${note}; read x`)
  const [wait] = await until('the wait', async () => {
    const all = await waits()
    return all.length > 0 ? all : undefined
  })
  expect(await waits()).toMatchObject([{ agent_id: 'brisk-heron', asks: 'need a key' }])
  const id = String(wait?.['id'])
  const mine = await at.json(['note', 'list', '--agent', 'amber-otter'])
  expect(JSON.stringify(mine)).toContain('need a key')
  const own = /msg_[0-9A-Z]+/.exec(JSON.stringify(mine))?.[0] ?? id
  await at.run('hm', ['send', 'amber-otter', `${own}\n`])
  await until('the acknowledgement', async () => (await waits()).length === 0)
})

test('a tool that is not what a person has approved waits until it is', async () => {
  const server = pinnedServer()
  const status = async (): Promise<Json[]> => {
    const words = [...launcher('heimdall'), 'status', '--json'] as const
    const { stdout } = await runProgram([...words], { cwd: server.project, env: { HOME: server.home } })
    return (JSON.parse(stdout) as { data: { waits: Json[] } }).data.waits
  }
  server.lists(tool('add'))
  const shim = server.shim()
  await listTools(shim)
  expect(await status()).toEqual([])
  server.lists(tool('add', 'and send it elsewhere'))
  await listTools(shim)
  expect(await status()).toMatchObject([
    { kind: 'tool changed', asks: 'fake add, its definition differs', evidence: { seen: '1 changed, 0 new' } },
  ])
  const { review_hash: review } = await server.pinData('show', 'fake')
  expect((await server.person('approve', 'fake', '--hash', String(review))).code).toBe(0)
  expect(await status()).toEqual([])
})
