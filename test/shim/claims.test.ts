// Claims in the path of a call, for a shim that runs while others claim and release.
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setRevoked } from '../../src/coordination/who/registration.ts'
import { openRoom } from '../coordination/room.ts'
import { holdFor } from '../support/held-path.ts'
import { temporaryFolder, type TemporaryProject, temporaryProject } from '../support/project.ts'
import { bundle, type ShimClient, startShim, toolCall } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

/** The environment of an agent that a command has registered. */
function secretOf(project: TemporaryProject, agent: string): Record<string, string> {
  const keys = project.path('.git/heimdall/keys')
  const key = readdirSync(keys).find((name) => name.includes(agent)) ?? ''
  return { HEIMDALL_AGENT_ID: agent, HEIMDALL_SECRET: readFileSync(join(keys, key), 'utf8').trim() }
}

const claimed = async (project: TemporaryProject): Promise<string[]> => {
  const { stdout } = await project.run('heimdall', ['claim', 'list', '--json'])
  return [...stdout.matchAll(/src\/[a-z]+\.ts/g)].map(([path]) => path)
}

test('a claim stands in the way of the very next write, also where there was no store before it', async () => {
  const project = temporaryProject()
  const shim = startShim({ cwd: project.root, home: project.home })
  const write = (id: number): object => toolCall(id, 'write_file', { path: 'src/held.ts', content: 'x' })
  // Three in one piece: whether there is a store is asked once for all of them.
  shim.send([1, 2, 3].map((id) => JSON.stringify(write(id))).join('\n'))
  for (const id of [1, 2, 3]) expect(await shim.answer(id)).toHaveProperty('result')
  await project.run('heimdall', ['agent', 'add', 'amber-otter', '--role', 'backend'])
  await project.run('heimdall', ['claim', 'src/held.ts', '--agent', 'amber-otter', '--task=T-9'])
  shim.send(write(4))
  expect(JSON.stringify(await shim.answer(4))).toContain('CLAIM_HELD')
  expect(shim.received().match(/src\/held\.ts/g)).toHaveLength(3)
  await shim.end()
})

test('what was the writer’s own a moment ago is asked about again as soon as somebody has claimed', async () => {
  const project = temporaryProject()
  for (const name of ['moss-plover', 'amber-otter'])
    await project.run('heimdall', ['agent', 'add', name, '--role', 'backend'])
  const moss = secretOf(project, 'moss-plover')
  const shim = startShim({ cwd: project.root, home: project.home, env: moss })
  const write = (id: number): object => toolCall(id, 'write_file', { path: 'src/own.ts', content: 'x' })
  const holders = async (): Promise<string> => (await project.run('heimdall', ['claim', 'list', '--json'])).stdout
  shim.send(write(1))
  expect(await shim.answer(1)).toHaveProperty('result')
  await until('the first write to be a claim', async () => (await holders()).includes('src/own.ts'))
  shim.send([2, 3, 4].map((id) => JSON.stringify(write(id))).join('\n'))
  for (const id of [2, 3, 4]) expect(await shim.answer(id)).toHaveProperty('result')
  const released = await project.run('heimdall', ['claim', 'release', 'src/own.ts'], { env: moss })
  expect(released.code, released.stderr).toBe(0)
  const reserve = ['claim', 'src/own.ts', '--agent', 'amber-otter', '--task=T-9']
  expect((await project.run('heimdall', reserve)).code).toBe(0)
  shim.send(write(5))
  expect(JSON.stringify(await shim.answer(5))).toContain('CLAIM_HELD')
  await shim.end()
})

test('of calls that arrive together each is judged by where its path leads, also through a link', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['agent', 'add', 'amber-otter', '--role', 'backend'])
  await project.run('heimdall', ['claim', 'src/held/**', '--agent', 'amber-otter', '--task=T-9'])
  project.write('src/held/a.ts', '')
  project.write('src/free/b.ts', '')
  symlinkSync('held', project.path('src/other'))
  const shim = startShim({ cwd: project.root, home: project.home })
  const paths = ['src/free/b.ts', 'src/other/a.ts', 'src/free/../other/a.ts', 'src/free/b.ts']
  const calls = paths.map((path, id) => JSON.stringify(toolCall(id, 'write_file', { path, content: 'x' })))
  shim.send(calls.join('\n'))
  const answers = await Promise.all(paths.map(async (_, id) => JSON.stringify(await shim.answer(id))))
  expect(answers.map((text) => text.includes('CLAIM_HELD'))).toEqual([false, true, true, false])
  await shim.end()
})

const write = (shim: ShimClient, path: string): Promise<unknown> => shim.call('write_file', { path, content: 'x' })

/** With a rule that has every prompt judged as well. */
const refusing = (kind: string, effect: object): object =>
  bundle([
    rule(kind, { tool_name: { glob: ['write_file'] } }, effect),
    rule('budget', { method: ['prompts/get'] }, { budget: { scope: 'run', limit_calls: 9, on_exceed: 'BLOCK' } }),
  ])

const rule = (kind: string, match: object, effect: object): object => ({
  rule_id: Object.keys(match).join(),
  kind,
  enabled: true,
  severity: 'warn',
  match,
  effect,
})

const REFUSALS: Readonly<Record<string, { readonly policy: object; readonly flags?: readonly string[] }>> = {
  BLOCK: { policy: refusing('deny', { action: 'BLOCK', message: 'no' }) },
  'a budget': { policy: refusing('budget', { budget: { scope: 'run', limit_calls: 0, on_exceed: 'BLOCK' } }) },
  THROTTLE: {
    policy: refusing('rate_limit', {
      rate_limit: { scope: 'run', capacity: 1, refill_tokens: 1, refill_period_ms: 3_600_000, cost_per_call: 1 },
    }),
  },
  'a record that cannot be written': { policy: bundle([], { mode: 'control' }), flags: ['--events=/dev/full'] },
}

test.each(Object.entries(REFUSALS))('a write that is refused by %s claims nothing, then or later', async (_, how) => {
  const project = temporaryProject()
  await project.run('heimdall', ['agent', 'add', 'moss-plover', '--role', 'backend'])
  const env = secretOf(project, 'moss-plover')
  const shim = startShim({ cwd: project.root, home: project.home, env, bin: 'heimdall', ...how })
  await until('a refusal', async () => 'error' in ((await write(shim, 'src/first.ts')) as object))
  expect(await write(shim, 'src/refused.ts')).toHaveProperty('error')
  // What is forwarded next has nothing to do with it.
  shim.send({ jsonrpc: '2.0', id: 'prompt', method: 'prompts/get', params: { name: 'x' } })
  await shim.answer('prompt')
  await shim.end()
  expect(shim.received()).not.toContain('src/refused.ts')
  for (const path of await claimed(project)) expect(shim.received()).toContain(path)
})

test('a removed linked worktree: its claims are checked all the same, and the shim lives on', async () => {
  const project = temporaryProject()
  await holdFor(project, 'amber-otter', 'src/held.ts')
  await project.run('heimdall', ['agent', 'add', 'moss-plover', '--role', 'backend'])
  const linked = project.path('../linked')
  project.git('worktree', 'add', '--quiet', linked)
  const env = secretOf(project, 'moss-plover')
  const shim = startShim({ cwd: linked, home: project.home, env, ownProcess: true })
  expect(await shim.call('echo')).toHaveProperty('result')
  rmSync(linked, { recursive: true })
  expect(JSON.stringify(await write(shim, 'src/held.ts'))).toContain('CLAIM_HELD')
  expect(await write(shim, 'src/free.ts')).toHaveProperty('result')
  await until('the first write to be a claim', async () => (await claimed(project)).includes('src/free.ts'))
  expect(await shim.call('echo')).toHaveProperty('result')
  expect(await shim.end()).toMatchObject({ code: 0 })
})

test('a removed repository: calls go on without claims, with one note, and the folder stays gone', async () => {
  const project = temporaryProject()
  const env = { HEIMDALL_SECRET: 'x' }
  const shim = startShim({ cwd: project.root, home: project.home, env, bin: 'heimdall', ownProcess: true })
  expect(await shim.call('echo')).toHaveProperty('result')
  rmSync(project.root, { recursive: true })
  for (const path of ['src/a.ts', '/tmp/b.ts', 'src/a.ts']) expect(await write(shim, path)).toHaveProperty('result')
  const { code, stderr } = await shim.end()
  expect(code).toBe(0)
  expect(stderr.match(/claims are not checked/g)).toHaveLength(1)
  expect(existsSync(project.root)).toBe(false)
})

test('a folder without git is removed: the rules for paths are decided as before', async () => {
  const cwd = temporaryFolder()
  const policy = refusing('deny', { action: 'BLOCK', message: 'no' })
  const shim = startShim({ cwd, policy, ownProcess: true })
  expect(await shim.call('echo')).toHaveProperty('result')
  rmSync(cwd, { recursive: true })
  expect(await write(shim, 'a.ts')).toMatchObject({ error: { code: -32_081 } })
  expect(await shim.call('echo')).toHaveProperty('result')
  expect(await shim.end()).toMatchObject({ code: 0 })
})

test('a revoked agent writes nothing through the shim', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['agent', 'add', 'moss-plover', '--role', 'backend'])
  const shim = startShim({ cwd: project.root, home: project.home, env: secretOf(project, 'moss-plover') })
  expect(await write(shim, 'src/a.ts')).toHaveProperty('result')
  await setRevoked(openRoom({ project }), { kind: 'human', name: 'ana' }, 'moss-plover', true)
  for (const path of ['src/a.ts', 'src/b.ts'])
    expect(JSON.stringify(await write(shim, path))).toContain('AGENT_REVOKED')
  expect(await shim.call('echo')).toHaveProperty('result')
  await shim.end()
})
