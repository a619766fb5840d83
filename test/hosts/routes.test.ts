// An imported configuration really routes: the stock MCP client starts what the file says, and events have the names that stand there.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import { type Host, type HostHome, hostHome, type Server, serversIn } from '../support/host-configs.ts'
import { eventsOfRun, type Json, ofType, runFolders } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const NODE = process.execPath
const PROGRAM = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist/index.js',
)

function textFor(host: Host): string {
  const server = { command: NODE, args: [PROGRAM], env: { API_KEY: 'of this server' } }
  if (host === 'codex')
    return `[mcp_servers."my tools"]\ncommand = ${JSON.stringify(NODE)}\nargs = [${JSON.stringify(PROGRAM)}]\nenv = { API_KEY = "of this server" }\n`
  return JSON.stringify({ [host === 'vscode' ? 'servers' : 'mcpServers']: { 'my tools': server } }, null, 2)
}

/** As a host does: what the file says, in the host's environment or, for Codex, what of it the file lists. */
async function callThrough(home: HostHome, host: Host, server: Server): Promise<Json> {
  const around = {
    ...home.env,
    PATH: process.env['PATH'] ?? '',
    HEIMDALL_RUN_QUIET_SECONDS: '0',
    SUB_AGENT_ID: 'amber-otter',
    HEIMDALL_SECRET: 'proof',
    AMBIENT: 'of the host',
  }
  const listed = new Set(['PATH', 'HOME', 'HEIMDALL_RUN_QUIET_SECONDS', ...(server.env_vars ?? [])])
  const handed =
    host === 'codex' ? Object.fromEntries(Object.entries(around).filter(([name]) => listed.has(name))) : around
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: server.command ?? '',
      args: [...(server.args ?? [])],
      env: { ...handed, ...server.env },
      cwd: home.root,
    }),
  )
  const answer = (await client.callTool({ name: 'get-env', arguments: {} })) as Json
  await client.close()
  return JSON.parse(answer['content'][0].text as string) as Json
}

const HOSTS = ['claude', 'codex', 'vscode'] as const

test.each(HOSTS)(
  'IMP-INT-001, IMP-INT-002, IMP-INT-003, IMP-002: through %s’s imported file calls are on record under the server’s name; after restore they are not',
  async (host) => {
    const home = hostHome()
    home.put(host, textFor(host))
    await home.heimdall('mcp', 'import', host, '--yes')
    const imported = serversIn(host, home.textOf(host))['my tools'] ?? {}
    const env = await callThrough(home, host, imported)
    // Its own variables and a base set, and nothing of the host's or ours.
    expect(env).toMatchObject({ API_KEY: 'of this server', HOME: home.home })
    expect(env).not.toHaveProperty('AMBIENT')
    expect(env).not.toHaveProperty('HEIMDALL_SECRET')
    const events = await until('the end of the run', () => {
      const all = runFolders(home.home).flatMap((folder) => eventsOfRun(home.home, folder))
      return ofType(all, 'run_end').length > 0 ? all : undefined
    })
    expect(ofType(events, 'tool_call_start').map(({ call }) => [call.server_name, call.tool_name])).toEqual([
      ['my tools', 'get-env'],
    ])
    expect(events.every(({ agent_id: agent }) => agent === 'amber-otter')).toBe(true)
    await home.heimdall('mcp', 'restore', host, '--yes')
    const restored = serversIn(host, home.textOf(host))['my tools'] ?? {}
    expect([restored.command, ...(restored.args ?? [])]).toEqual([NODE, PROGRAM])
    await callThrough(home, host, restored)
    expect(runFolders(home.home)).toHaveLength(1)
    expect(readFileSync(home.file(host), 'utf8')).toBe(textFor(host))
  },
)
