// What a worker announces is gathered (seed 003, message 1): from the host's settings before its first task, from the runtime's own words after it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { Learned } from '../../src/dispatch/worker/learned.ts'
import { FrameLines } from '../../src/dispatch/runner/runtime-lines.ts'
import { RUNTIMES } from '../../src/dispatch/runner/runtime.ts'
import { configuredModel } from '../../src/hosts/host-model.ts'
import { recording } from '../support/hosts/recordings.ts'
import { temporaryFolder } from '../support/project.ts'
import type { Json } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { fleet } from './dispatch-kit.ts'

test('the model is what the host is set to: command line, environment, files from the nearest on', () => {
  const home = temporaryFolder()
  const cwd = join(home, 'project')
  mkdirSync(join(cwd, '.git'), { recursive: true })
  const env: Record<string, string> = { HOME: home }
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  const claude = (...words: string[]) =>
    configuredModel('claude', ['claude', ...words], { env, cwd, platform: 'linux' })
  const codex = (...words: string[]) => configuredModel('codex', ['codex', ...words], { env, cwd, platform: 'linux' })
  expect([claude(), codex()]).toEqual([undefined, undefined])
  put('.claude/settings.json', '{"model": "haiku"}')
  put('.codex/config.toml', '# model = "no"\nmodel = "gpt-5"\n[profiles.x]\nmodel = "other"\n')
  expect([claude(), codex()]).toEqual(['haiku', 'gpt-5'])
  put('project/.claude/settings.json', '{"model": "sonnet"}')
  expect(claude()).toBe('sonnet')
  put('project/.claude/settings.local.json', '{ broken')
  expect(claude()).toBe('sonnet')
  env['ANTHROPIC_MODEL'] = 'claude-opus-4'
  expect([claude(), claude('--model', 'haiku'), claude('--model=haiku'), codex('-m', 'o9')]).toEqual([
    'claude-opus-4',
    'haiku',
    'haiku',
    'o9',
  ])
  put('.codex/config.toml', '[profiles.x]\nmodel = "other"\n')
  expect(codex()).toBeUndefined()
})

test('what a real runtime says when it begins is kept: model, tools in the seed’s words, servers that it did not reach', () => {
  const dir = temporaryFolder()
  const turn = RUNTIMES.claude.turn()
  for (const frame of new FrameLines().push(Buffer.from(recording('claude', 'dispatch-frames.jsonl'))))
    turn.frame(frame)
  const init = turn.init()
  if (init === undefined) throw new Error('no init frame')
  new Learned(dir, 'w').take({ ...init, servers: [{ name: 'trek', status: 'needs-auth' }] }, 1_000)
  const learned = new Learned(dir, 'w')
  expect(learned.model).toMatch(/^claude-/)
  expect(learned.tools).toEqual(expect.arrayContaining(['terminal', 'Bash']))
  expect([...learned.unreached(2_000)]).toEqual([['trek', 'needs_auth']])
  // For a moment only: then a probe counts again.
  expect(learned.unreached(61_001).size).toBe(0)
  expect(new Learned(dir, 'other').model).toBeUndefined()
})

const SERVER = `
  const fs = require('node:fs')
  if (fs.existsSync(process.env.HOME + '/trek-is-dead')) process.exit(1)
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    const result = method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'trek', version: '1' } } : {}
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
  })`

test('a worker of a host: its servers are probed, its announces reach the orchestrator, and it says when it drains and ends', async () => {
  const project = fleet()
  writeFileSync(join(project.home, 'trek.cjs'), SERVER)
  writeFileSync(
    join(project.home, '.claude.json'),
    JSON.stringify({ mcpServers: { trek: { command: process.execPath, args: [join(project.home, 'trek.cjs')] } } }),
  )
  const init = {
    type: 'system',
    subtype: 'init',
    model: 'claude-opus-4',
    tools: ['Bash', 'Edit'],
    mcp_servers: [{ name: 'trek', status: 'connected' }],
  }
  const final = {
    type: 'result',
    subtype: 'success',
    result: 'ok',
    modelUsage: { m: { inputTokens: 1, outputTokens: 2 } },
  }
  writeFileSync(
    join(project.home, 'claude'),
    `#!/bin/sh\ncat > /dev/null\necho '${JSON.stringify(init)}'\necho '${JSON.stringify(final)}'\n`,
    { mode: 0o755 },
  )
  const orchestrator = await project.serve()
  const worker = await project.workerOf('w', [join(project.home, 'claude'), '--model', 'haiku'], [], {})
  const listed = async (): Promise<Json> =>
    ((await project.json(['peers', 'list'])) as unknown as Json[]).find(({ name }) => name === 'w') ?? {}
  // Pushed at the start: nobody has asked.
  await until('the announce to arrive', async () => (await listed())['state'] === 'ready')
  expect((await listed())['health']).toEqual({ trek: 'ok' })
  const said = async (): Promise<Json> =>
    ((await project.json(['worker', 'announce', 'w'])) as unknown as Json[])[0]?.['announce'] as Json
  expect(await said()).toMatchObject({
    worker: { model: 'haiku', model_tier: 'haiku' },
    capabilities: { mcp_servers: ['trek'], tools: expect.arrayContaining(['terminal', 'browser']) as unknown },
    session: { active_tasks: 0, repo_state: { branch: 'main', clean: true } },
    budget_enforcement: 'measured',
  })
  expect(await project.send('do it', ['--mcp', 'trek', '--read-only'])).toMatchObject({
    state: 'done',
    tokens_settled: 3,
    result: { tokens_spent: 3, source: 'runtime' },
  })
  // The runtime's own words go before its settings.
  expect(await said()).toMatchObject({
    worker: { model: 'claude-opus-4', model_tier: 'opus' },
    capabilities: { tools: ['terminal', 'file', 'patch', 'Bash', 'Edit'] },
  })
  await project.run('heimdall', ['worker', 'drain', 'w'])
  await until('it to drain', async () => (await listed())['state'] === 'draining')
  worker.program.kill('SIGTERM')
  expect((await worker.program.ended).code).toBe(0)
  orchestrator.kill('SIGTERM')
  await orchestrator.ended
})
