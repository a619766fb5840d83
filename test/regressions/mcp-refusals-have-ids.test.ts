// A message above the limit was answered with a null id, one with id 1.5 not at all, and after a Content-Length of
// terabytes the server swallowed everything that followed.
import { expect, test } from 'vitest'
import { MCP_MESSAGE_BYTES_MAX } from '../../src/limits.ts'
import { launcher, runProgram } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'

async function exchange(stdin: string): Promise<{ code: number | null; stderr: string; answers: unknown[] }> {
  const project = temporaryProject()
  const { code, stdout, stderr } = await runProgram(launcher('heimdall-ledger-mcp'), {
    cwd: project.root,
    env: project.env,
    stdin,
  })
  return {
    code,
    stderr,
    answers: stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  }
}

const ping = (id: string | number): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping"}\n`

test('a message above the limit and one with a broken id are answered under their ids, and the next one is served', async () => {
  const long = `{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"x":"${'x'.repeat(MCP_MESSAGE_BYTES_MAX)}"}}\n`
  const { answers } = await exchange(`${long}${ping(1.5)}${ping(7)}`)
  expect(answers).toEqual([
    {
      jsonrpc: '2.0',
      id: 'long',
      error: { code: -32600, message: expect.stringContaining('more than 4194304 bytes') },
    },
    { jsonrpc: '2.0', id: 1.5, error: { code: -32600, message: expect.stringContaining('whole number') } },
    expect.objectContaining({ id: 7 }),
  ])
})

test('an absurd Content-Length is an error and the end of the connection; what came before is answered', async () => {
  const { code, answers, stderr } = await exchange(`${ping(1)}Content-Length: 999999999999\r\n\r\n${ping(2)}`)
  expect(answers).toHaveLength(2)
  expect(answers).toContainEqual(expect.objectContaining({ id: 1 }))
  expect(answers).toContainEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32600, message: expect.stringContaining('the connection is closed') },
  })
  expect([code, stderr]).toEqual([0, expect.stringContaining('Content-Length 999999999999')])
})
