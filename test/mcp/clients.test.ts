// Programs that others wrote drive the server: the SDK's client in three protocol versions, the older SDK, the inspector.
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { launcher, runProgram } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { toolAnswer } from './session.ts'

function server(project: TemporaryProject): {
  command: string
  args: string[]
  env: Record<string, string>
  cwd: string
} {
  const [command, program] = launcher('heimdall-ledger-mcp')
  return { command, args: [program], env: { PATH: process.env['PATH'] ?? '', ...project.env }, cwd: project.root }
}

test.each([
  ['2024-11-05', { supportedProtocolVersions: ['2024-11-05'] }],
  ['2025-11-25', {}],
  ['2026-07-28', { versionNegotiation: { mode: 'auto' as const } }],
])('the SDK client in %s', async (version, options) => {
  const client = new Client({ name: 'sdk-client', version: '1' }, options)
  const project = temporaryProject()
  await client.connect(new StdioClientTransport(server(project)))
  onTestFinished(() => client.close())
  expect(client.getNegotiatedProtocolVersion()).toBe(version)
  expect(client.getServerVersion()).toMatchObject({ name: 'heimdall-ledger-mcp', version: '1.1.0' })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).slice(0, 6)).toEqual([
    'read_claims',
    'make_claim',
    'release_claim',
    'read_capsules',
    'append_decision',
    'raise_conflict_pr',
  ])
  const claimed = await client.callTool({ name: 'make_claim', arguments: { surfaces: ['src/**'], task: 'T' } })
  expect(toolAnswer(claimed)).toMatchObject({ isError: false, data: { haid: expect.stringMatching(/\/sdk-client$/) } })
  await expect(client.callTool({ name: 'nope', arguments: {} })).rejects.toMatchObject({ code: -32602 })
  const refused = await client.callTool({ name: 'make_claim', arguments: { surfaces: ['../x'], task: 'T' } })
  expect(toolAnswer(refused).isError).toBe(true)
})

test('the older SDK’s client', async () => {
  const client = new OlderClient({ name: 'older', version: '1' })
  const project = temporaryProject()
  await client.connect(new OlderTransport(server(project)))
  onTestFinished(() => client.close())
  await client.ping()
  expect((await client.listTools()).tools).toHaveLength(13)
  const claims = await client.callTool({ name: 'read_claims', arguments: {} })
  expect(toolAnswer(claims).data).toMatchObject({ count: 0, haid: expect.stringMatching(/\/older$/) })
})

test('the inspector’s command line', async () => {
  const project = temporaryProject()
  const { command, args } = server(project)
  const inspect = async (...words: string[]): Promise<unknown> => {
    const ending = await runProgram(
      [
        process.execPath,
        'node_modules/@modelcontextprotocol/inspector-cli/build/index.js',
        command,
        ...args,
        '--project',
        project.root,
        ...words,
      ],
      { env: project.env },
    )
    expect(ending, ending.stderr).toMatchObject({ code: 0 })
    return JSON.parse(ending.stdout)
  }
  expect(await inspect('--method', 'tools/list')).toMatchObject({ tools: { length: 13 } })
  const call = ['--method', 'tools/call', '--tool-name']
  const claimed = await inspect(...call, 'make_claim', '--tool-arg', 'surfaces=["src/**"]', '--tool-arg', 'task=T-1')
  expect(toolAnswer(claimed).data).toMatchObject({ surfaces: ['src/**'] })
  expect(toolAnswer(await inspect(...call, 'read_claims')).data).toMatchObject({ count: 1 })
})
