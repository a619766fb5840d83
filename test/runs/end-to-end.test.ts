// From a host's configuration to an answer: imported, called through, indexed, asked for (governance acceptance E2E, HDLS).
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { hostHome, type Server, serversIn } from '../support/host-configs.ts'
import { temporaryFolder } from '../support/project.ts'
import {
  bundle,
  checkBooks,
  deny,
  eventsOfRun,
  type Json,
  rule,
  runFolders,
  startShim,
  tool,
} from '../support/shim-client.ts'
import { scaled } from '../support/scale.ts'

const SERVER = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
)

/** As a host does: starts what its file says. */
async function callThrough(
  server: Server,
  { env, cwd }: { readonly env: Record<string, string>; readonly cwd: string },
  names: readonly string[],
): Promise<Json[]> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: server.command ?? '',
      args: [...(server.args ?? [])],
      cwd,
      env: { ...env, ...server.env, PATH: process.env['PATH'] ?? '', HEIMDALL_RUN_QUIET_SECONDS: '0' },
    }),
  )
  const answers: Json[] = []
  for (const name of names)
    answers.push(
      await client.callTool({ name, arguments: { message: 'hello' } }).catch((error: unknown) => ({ error })),
    )
  await client.close()
  return answers
}

test.each([
  { id: 'E2E-001', policy: undefined, decision: 'ALLOW', status: 'OK', rule: null },
  {
    id: 'E2E-002',
    policy: bundle([deny('no-echo', tool('echo'))]),
    decision: 'BLOCK',
    status: 'ERROR',
    rule: 'no-echo',
  },
])(
  '$id: import, call, query: the call is found with its decision $decision',
  async ({ policy, decision, status, rule: ruleId }) => {
    const home = hostHome()
    home.put('claude', JSON.stringify({ mcpServers: { everything: { command: process.execPath, args: [SERVER] } } }))
    expect(await home.heimdall('mcp', 'import', 'claude', '--yes')).toMatchObject({ code: 0 })
    const server = serversIn('claude', home.textOf('claude'))['everything'] ?? {}
    const env: Record<string, string> = {
      ...home.env,
      SUB_AGENT_ID: 'amber-otter',
      ...(policy === undefined ? {} : { SUB_POLICY_JSON: JSON.stringify(policy) }),
    }
    const [answer] = await callThrough(server, { env, cwd: home.root }, ['echo'])
    expect(answer?.['error'] === undefined).toBe(decision === 'ALLOW')
    const { stdout } = await home.heimdall('events', '--agent', 'amber-otter', '--json')
    expect((JSON.parse(stdout) as Json)['data'].calls).toMatchObject([
      {
        server_name: 'everything',
        tool_name: 'echo',
        decision,
        rule_id: ruleId,
        status,
        args_preview: expect.stringContaining('hello'),
      },
    ])
  },
)

interface Expected {
  readonly run: string
  readonly calls: readonly string[]
}

/** Runs shims side by side, each with calls of its own, and asks for each run afterwards. */
async function runsAtOnce(
  home: string,
  runs: readonly Expected[],
  policy: object,
  env: Record<string, string>,
): Promise<void> {
  await Promise.all(
    runs.map(async ({ run, calls }) => {
      const shim = startShim({
        policy,
        bin: 'heimdall',
        home,
        env: { SUB_RUN_ID: run, SUB_AGENT_ID: `agent-of-${run}`, ...env },
      })
      for (const name of calls) await shim.call(name, { run })
      await shim.end()
    }),
  )
}

async function queried(home: string, ...words: string[]): Promise<Json[]> {
  const { stdout } = await runLauncher(
    'heimdall',
    ['events', '--wait', '--limit', '0', '--order', 'oldest', '--json', ...words],
    { env: { HOME: home }, cwd: home },
  )
  return (JSON.parse(stdout) as Json)['data'].calls as Json[]
}

test('E2E-004: runs that go on at the same time stay apart', async () => {
  const home = temporaryFolder()
  const runs = ['one', 'two', 'three'].map((run, n) => ({
    run,
    calls: Array.from({ length: 3 + n }, (_, i) => (i === 1 ? 'mail' : 'echo')),
  }))
  await runsAtOnce(home, runs, bundle([deny('no-mail', tool('mail'))]), {})
  for (const { run, calls } of runs) {
    const found = await queried(home, '--run', run)
    expect(found.map(({ tool_name: name }) => name as string)).toEqual(calls)
    expect(new Set(found.map(({ agent_id: agent }) => agent as string))).toEqual(new Set([`agent-of-${run}`]))
    for (const call of found) expect(call['args_preview']).toBe(JSON.stringify({ run }))
  }
})

test('HDLS-001: headless runs side by side under a strict policy, each whole, each decided by its own counters', async () => {
  const home = temporaryFolder()
  const runs = Array.from({ length: scaled(4, 50) }, (_, n) => ({
    run: `ci-${n}`,
    calls: ['echo', 'rm', 'echo', 'echo', 'echo'],
  }))
  const strict = bundle(
    [
      deny('no-rm', tool('rm')),
      rule('three', 'budget', tool('echo'), { budget: { scope: 'run', limit_calls: 3, on_exceed: 'BLOCK' } }),
    ],
    { mode: 'control', defaults: { decision_on_error: 'BLOCK' } },
  )
  await runsAtOnce(home, runs, strict, { SUB_CLIENT: 'headless', SUB_ENV: 'ci' })
  expect(runFolders(home)).toHaveLength(runs.length)
  const all = await queried(home)
  expect(all).toHaveLength(5 * runs.length)
  for (const { run } of runs) {
    const events = eventsOfRun(home, run)
    expect(checkBooks(events), run).toEqual([])
    expect(events.every(({ client, env }) => client === 'headless' && env === 'ci')).toBe(true)
    expect(all.filter(({ run_id: id }) => id === run).map(({ rule_id: id }) => id as string | null)).toEqual([
      null,
      'no-rm',
      null,
      null,
      'three',
    ])
  }
})
