// Real MCP servers behind the shim, driven by the official clients of both generations.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Client as ModernClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, test } from 'vitest'
import { launcher } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { bundle, checkBooks, deny, ofType, parseLines, tool } from '../support/shim-client.ts'

const require = createRequire(import.meta.url)

function programOf(name: string): string {
  const path = require.resolve(`${name}/package.json`)
  const { bin } = JSON.parse(readFileSync(path, 'utf8')) as { bin: string | Record<string, string> }
  return join(dirname(path), typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? ''))
}

interface Behind {
  readonly command: string
  readonly args: string[]
  readonly env: Record<string, string>
  readonly events: string
}

function behindShim(server: readonly string[], policy: object): Behind {
  const folder = temporaryFolder()
  const [command, bin] = launcher('heimdall')
  const policyPath = join(folder, 'policy.json')
  const events = join(folder, 'events.jsonl')
  writeFileSync(policyPath, JSON.stringify(policy))
  return {
    command,
    args: [bin, 'mcp', 'shim', '--server-name=real', `--policy=${policyPath}`, `--events=${events}`, '--', ...server],
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    events,
  }
}

test('server-everything with the 2.x client: tools, hints in the message, books', async () => {
  const policy = bundle([
    deny('no-env', tool('*env*'), {
      action: 'REJECT_WITH_HINT',
      hint: { hint_text: 'ask for one variable', hint_kind: 'SAFETY' },
    }),
  ])
  const behind = behindShim([process.execPath, programOf('@modelcontextprotocol/server-everything'), 'stdio'], policy)
  const client = new ModernClient({ name: 'test', version: '1' })
  await client.connect(new ModernTransport(behind))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('echo')
  expect(await client.callTool({ name: 'echo', arguments: { message: 'grüezi' } })).toMatchObject({
    content: [{ type: 'text', text: expect.stringContaining('grüezi') }],
  })
  const env = tools.find(({ name }) => name.includes('env'))?.name ?? ''
  await expect(client.callTool({ name: env, arguments: {} })).rejects.toMatchObject({
    code: -32_083,
    message: expect.stringContaining('ask for one variable'),
  })
  await client.close()
  const events = parseLines(readFileSync(behind.events, 'utf8'))
  expect(checkBooks(events)).toEqual([])
  expect(ofType(events, 'tool_call_decision').map((event) => event['decision'].action as string)).toEqual([
    'ALLOW',
    'REJECT_WITH_HINT',
  ])
})

test('server-filesystem with the 1.x client: a path outside is refused by policy, a file inside is read', async () => {
  const root = temporaryFolder()
  mkdirSync(join(root, 'src'))
  writeFileSync(join(root, 'src', 'a.txt'), 'content of a')
  const policy = bundle([deny('no-writes', tool('write_*', 'edit_*', 'move_*'))])
  const behind = behindShim([process.execPath, programOf('@modelcontextprotocol/server-filesystem'), root], policy)
  const client = new LegacyClient({ name: 'test', version: '1' })
  await client.connect(new LegacyTransport(behind))
  expect(
    await client.callTool({ name: 'read_text_file', arguments: { path: join(root, 'src', 'a.txt') } }),
  ).toMatchObject({
    content: [{ text: 'content of a' }],
  })
  await expect(
    client.callTool({ name: 'write_file', arguments: { path: join(root, 'b.txt'), content: 'x' } }),
  ).rejects.toMatchObject({
    code: -32_081,
  })
  expect(await client.callTool({ name: 'read_text_file', arguments: { path: join(root, 'none') } })).toMatchObject({
    isError: true,
  })
  await client.close()
  const events = parseLines(readFileSync(behind.events, 'utf8'))
  expect(checkBooks(events)).toEqual([])
  expect(ofType(events, 'tool_call_end').map((event) => [event['status'], event['error']?.class] as unknown[])).toEqual(
    [
      ['OK', undefined],
      ['ERROR', 'policy_block'],
      ['ERROR', 'upstream_error'],
    ],
  )
})
