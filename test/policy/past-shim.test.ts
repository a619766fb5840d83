// `heimdall run --policy` with a host whose MCP servers pass no shim: one line says what the policy does not govern.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { spine } from '../spine/spine.ts'
import { runInProcess } from '../support/in-process.ts'

test('servers that are not behind the shim are named, none at all is said, and nothing where all are', async () => {
  const at = spine()
  const bin = join(at.home, 'programs')
  mkdirSync(bin)
  for (const name of ['claude', 'codex', 'agent'])
    writeFileSync(join(bin, name), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  at.write('team.yaml', "policy_id: team\nversion: '1'\nmode: guardrails\nrules: []\n")
  const warnings = async (program: string, ...flags: string[]): Promise<string[]> => {
    const args = ['run', '--detach', ...flags, '--', join(bin, program)]
    const { code, stderr } = await runInProcess('heimdall', args, { cwd: at.root, env: at.env })
    expect([stderr, code]).toEqual([stderr, 0])
    return stderr.split('\n').filter((line) => line.includes('govern'))
  }
  const policy = ['--policy', 'team.yaml']
  const servers = (mcpServers: object): string => at.write('.mcp.json', JSON.stringify({ mcpServers }))
  const shim = { command: 'heimdall', args: ['mcp', 'shim', '--server-name=git', '--', 'git-server'] }

  expect(await warnings('claude', ...policy)).toEqual([
    'warning: policy team governs nothing: Claude Code has no MCP server behind the shim, and its own tools (shell, editor) are not governed',
  ])
  servers({
    git: { command: 'git-server' },
    off: { command: 'x', disabled: true },
    'e\u001b[2Jvil': { url: 'http://localhost:1@a.example/' },
  })
  expect(await warnings('claude', ...policy)).toEqual([
    'warning: policy team does not govern git, e\\u001b[2Jvil: heimdall mcp import claude puts MCP servers of Claude Code behind the shim; its own tools (shell, editor) are not governed',
  ])
  servers({ git: shim, local: { url: 'http://127.0.0.1:4321/mcp' } })
  expect(await warnings('claude', ...policy)).toEqual([])
  at.write('.mcp.json', '{')
  expect(await warnings('claude', ...policy)).toEqual([expect.stringContaining('is not known')])
  expect(await warnings('codex', ...policy)).toHaveLength(1)
  // Of no policy, and of programs that are no known host, nothing is said.
  expect(await warnings('claude')).toEqual([])
  expect(await warnings('agent', ...policy)).toEqual([])
})
