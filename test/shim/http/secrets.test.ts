// Seed 004 §4 over HTTP: secrets go into headers of requests to the server, and nowhere else.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../../support/in-process.ts'
import { echo, playServer, sendJson, startProxy } from '../../support/http-proxy.ts'
import { temporaryFolder } from '../../support/project.ts'
import { checkBooks, type Json, ofType, parseLines, toolCall } from '../../support/shim-client.ts'

const TOKEN = 'tok-of-the-far-server-1234'
const KEY = 'key/of+another=kind'

function boundTo(...bindings: Json[]): Record<string, string> {
  const folder = temporaryFolder()
  const store = join(folder, 'store.json')
  writeFileSync(
    store,
    JSON.stringify({ token: { value: TOKEN }, key: { value: KEY }, broken: { value: 'two\nlines' } }),
    {
      mode: 0o600,
    },
  )
  return {
    SUB_SECRETS_PATH: store,
    SUB_SECRET_BINDINGS: JSON.stringify(bindings.map((one) => ({ source: 'file', ...one }))),
  }
}

test('SEC-001 SEC-002: the server gets them in place of what the client says; client and record never see them', async () => {
  const far = await playServer((seen) => {
    const { name } = (JSON.parse(seen.body.toString()) as Json)['params'] as Json
    if (name !== 'leak') echo(seen)
    else
      sendJson(seen.response, {
        jsonrpc: '2.0',
        id: 2,
        result: { content: [{ type: 'text', text: seen.request.headers.authorization }] },
      })
  })
  const proxy = await startProxy(far.url, {
    env: boundTo({ inject_as: 'bearer', secret_ref: 'token' }, { inject_as: 'header:X-Api-Key', secret_ref: 'key' }),
    flags: ['--header=X-Team: core'],
  })
  const { body, headers } = await proxy.post(toolCall(1, 'echo', { say: TOKEN }), { Authorization: 'Bearer mine' })
  expect(far.seen[0]?.request.headers).toMatchObject({
    authorization: `Bearer ${TOKEN}`,
    'x-api-key': KEY,
    'x-team': 'core',
  })
  // What the client itself has sent comes back to it, and nothing else.
  expect(body.toString()).toContain(TOKEN)
  expect(JSON.stringify(headers)).not.toContain(TOKEN)
  const leaked = await proxy.post(toolCall(2, 'leak'))
  expect(leaked.json['result'].content[0].text).toBe(`Bearer ${TOKEN}`)
  const { events, stderr } = await proxy.end()
  expect(stderr).not.toMatch(/tok-of-the-far|key\/of/)
  expect(ofType(events, 'secret_injection').map(({ secret }) => secret as unknown)).toEqual([
    { inject_as: 'bearer', secret_ref: 'token', source: 'file', success: true },
    { inject_as: 'header:X-Api-Key', secret_ref: 'key', source: 'file', success: true },
  ])
  expect(ofType(events, 'secret_exposed').at(-1)).toMatchObject({
    severity: 'critical',
    secret: { secret_ref: 'token' },
    call: { tool_name: 'leak' },
  })
  expect(checkBooks(events)).toEqual([])
})

test.each<[string, Json, string, RegExp]>([
  ['a variable', { inject_as: 'TOKEN', secret_ref: 'token' }, 'http://127.0.0.1:9/', /neither bearer nor header/],
  ['a header of ours', { inject_as: 'header:Mcp-Session-Id', secret_ref: 'token' }, 'http://127.0.0.1:9/', /ourselves/],
  ['two lines', { inject_as: 'bearer', secret_ref: 'broken' }, 'http://127.0.0.1:9/', /cannot stand in a header/],
  ['no secret', { inject_as: 'bearer', secret_ref: 'nobody_has_it' }, 'http://127.0.0.1:9/', /no secret of this name/],
  ['a network in the clear', { inject_as: 'bearer', secret_ref: 'token' }, 'http://far.example/', /in the clear/],
])('%s: nothing listens, and the run has failed', async (_, binding, url, words) => {
  const folder = temporaryFolder()
  const { code, stdout, stderr } = await runLauncher(
    'sub',
    ['shim', '--server-name=far', `--url=${url}`, '--listen=0'],
    { env: { HOME: folder, HEIMDALL_RUN_QUIET_SECONDS: '0', ...boundTo(binding) }, cwd: folder },
  )
  expect([code, stdout]).toEqual([127, ''])
  expect(stderr).toMatch(words)
  expect(stderr).not.toMatch(/tok-of-the-far|two\\nlines/)
  expect(ofType(parseLines(stderr), 'run_end')[0]?.['run'].status).toBe('FAILED')
})

test.each([
  [['--url=https://user:pass@far.example/mcp', '--listen=0'], /user or password/],
  [['--url=ftp://far.example/mcp', '--listen=0'], /no address of a server/],
  [['--url=https://far.example/mcp'], /give --listen/],
  [['--url=https://far.example/mcp', '--listen=0', '--header=Authorization: Bearer x'], /bind a secret/],
  [['--url=https://far.example/mcp', '--listen=0', '--header=Host: x'], /written by the proxy itself/],
  [['--url=https://far.example/mcp', '--listen=0', '--', 'cat'], /not both/],
  [['--listen=0', '--', 'cat'], /for a server with --url/],
])('%j is refused', async (flags, words) => {
  const { code, stderr } = await runLauncher('heimdall', ['mcp', 'shim', '--server-name=far', ...flags])
  expect(code).toBe(2)
  expect(stderr).toMatch(words)
  expect(stderr).not.toContain('pass@')
})
