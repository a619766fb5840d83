// MCP health by really starting, greeting and pinging servers (seed 003 §4.1, `mcp_health`): two stock ones, one that dies, one that is not there, one that never answers.
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { McpProbes, type ProbedServer } from '../../src/dispatch/worker/mcp-probe.ts'
import { MCP_PROBE_MS } from '../../src/limits.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { isRunning } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'

const stock = (name: string, ...words: string[]): string[] => [
  process.execPath,
  resolve('node_modules/@modelcontextprotocol', name, 'dist/index.js'),
  ...words,
]

const server = (name: string, words: readonly string[]): ProbedServer => ({
  name,
  start: { words, env: {}, cwd: undefined },
})

test('what answers is ok, what dies or is not there has failed, and of what cannot be started nothing is known', async () => {
  // A clock that stands still: however slow the machine is, nobody's time runs out.
  const probes = new McpProbes(process.env, fakeClock())
  const folder = temporaryFolder()
  const servers = [
    server('everything', stock('server-everything')),
    server('files', stock('server-filesystem', folder)),
    server('dies', [process.execPath, '-e', 'process.exit(3)']),
    server('absent', [join(folder, 'no-such-program')]),
    { name: 'elsewhere', start: null },
  ]
  const health = await probes.health(servers, 60_000)
  expect([...health].map(([name, { state }]) => [name, state])).toEqual([
    ['everything', 'ok'],
    ['files', 'ok'],
    ['dies', 'failed'],
    ['absent', 'failed'],
    ['elsewhere', 'unknown'],
  ])
  expect(health.get('everything')?.latencyMs).not.toBeNull()
  // Kept for moments: nobody is started again for the next announce.
  expect((await probes.health(servers, 60_000)).get('everything')).toBe(health.get('everything'))
})

test('what never answers has timed out when its time is over, and is gone', async () => {
  const clock = fakeClock()
  const pidFile = join(temporaryFolder(), 'pid')
  const script = `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000)`
  const asked = new McpProbes(process.env, clock).health([server('hangs', [process.execPath, '-e', script])], 0)
  const pid = await until('the server to be started', () => pidIn(pidFile))
  clock.advance(MCP_PROBE_MS)
  expect((await asked).get('hangs')).toMatchObject({ state: 'timeout', latencyMs: null })
  await until('its process to be gone', () => !isRunning(pid))
})

test('a server over HTTP is greeted and pinged with the headers of its host; one that hangs delays only what needs it', async () => {
  const seen: string[] = []
  const listening = createServer((request, response) => {
    const isAllowed = request.headers.authorization === 'Bearer right'
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')))
    request.on('end', () => {
      if (!isAllowed) return void response.writeHead(401).end()
      if (request.method === 'DELETE') seen.push(`DELETE ${String(request.headers['mcp-session-id'])}`)
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method } = JSON.parse(body) as { id?: number; method: string }
      seen.push(method)
      if (id === undefined) return void response.writeHead(202).end()
      const result =
        method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'over-http', version: '1' } }
          : {}
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's-1' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  await new Promise<void>((resolve) => void listening.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void listening.close())
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/mcp`
  const over = (name: string, token: string): ProbedServer => ({
    name,
    start: { url, headers: { authorization: `Bearer ${token}` } },
  })
  const clock = fakeClock()
  const probes = new McpProbes(process.env, clock)
  const servers = [
    server('hangs', [process.execPath, '-e', 'setInterval(() => {}, 1000)']),
    over('http', 'right'),
    over('closed', 'wrong'),
  ]
  const all = probes.health(servers, 0)
  const health = await probes.health(servers, 0, ['http', 'closed'])
  expect(['http', 'closed', 'hangs'].map((name) => health.get(name)?.state)).toEqual(['ok', 'failed', 'unknown'])
  expect(seen).toContain('ping')
  expect(seen.at(-1)).toBe('DELETE s-1')
  // Nothing is needed, so nothing is waited for.
  expect((await probes.health(servers, 0, [])).get('http')?.state).toBe('ok')
  clock.advance(MCP_PROBE_MS)
  expect((await all).get('hangs')?.state).not.toBe('ok')
})

/** Nothing before it is there and whole. */
function pidIn(path: string): number | undefined {
  const pid = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0
  return pid > 0 ? pid : undefined
}
