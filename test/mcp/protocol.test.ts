// The protocol side of the ledger server: framings, versions, malformed input, and the seed's own round trip.
import { describe, expect, test } from 'vitest'
import { MCP_MESSAGE_BYTES_MAX } from '../../src/limits.ts'
import { launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { join, RawSession } from './session.ts'

const framed = (message: object): Buffer => {
  const body = Buffer.from(JSON.stringify(message))
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body])
}

test('seed 000 T-4: the round trip as printed, with two lines and the end of input', async () => {
  const project = temporaryProject()
  const { code, stdout } = await project.run('heimdall-ledger-mcp', [], {
    stdin: [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"cursor"}}}',
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"make_claim","arguments":{"surfaces":["src/a/**"],"task":"T-9"}}}',
      '',
    ].join('\n'),
  })
  expect(code).toBe(0)
  const [hello, claimed, ...rest] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; result: { structuredContent: Record<string, string> } })
  expect(rest).toEqual([])
  expect(hello).toMatchObject({
    id: 1,
    result: {
      protocolVersion: '2024-11-05',
      capabilities: { tools: { listChanged: false } },
      serverInfo: { name: 'heimdall-ledger-mcp', version: '1.1.0' },
    },
  })
  expect(claimed).toMatchObject({
    id: 3,
    result: { isError: false, structuredContent: { surfaces: ['src/a/**'], task: 'T-9' } },
  })
  const haid = /haid:[a-z0-9-]+\.[a-z0-9-]+-[0-9a-f]{4}\/cursor/
  expect(claimed?.result.structuredContent['haid']).toMatch(haid)
  expect(claimed?.result.structuredContent['task_ref']).toMatch(/^T-9 \(via heimdall-ledger-mcp:haid:.*\/cursor\)$/)

  // "bin/heimdall-claim list # → the claim, task_ref carries the cursor HAID"
  const list = await project.run('heimdall-claim', ['list'])
  expect(list.stdout).toMatch(/TASK_REF\n.*T-9 \(via heimdall-ledger-mcp:haid:.*\/cursor\)\n$/)
  // The session of that claim has ended: a takeover is what releases it.
  const named = claimed?.result.structuredContent['haid'] ?? ''
  const refused = await project.run('heimdall-claim', ['release', '--haid', named])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('hint: heimdall claim takeover PATH') })
  expect(await project.run('heimdall', ['claim', 'takeover', 'src/a/**'])).toMatchObject({ code: 0 })
  expect(await project.run('heimdall-claim', ['release'])).toMatchObject({ code: 0, stdout: 'released: src/a/**\n' })
})

describe('versions', () => {
  test.each(['2024-11-05', '2025-11-25'])('%s is answered with itself', async (version) => {
    const session = new RawSession(temporaryProject())
    expect((await session.initialize('cursor', version)).result?.['protocolVersion']).toBe(version)
    expect((await session.request('tools/list')).result?.['tools']).toHaveLength(13)
    expect(await session.request('ping')).toMatchObject({ result: {} })
    expect(await session.end()).toBe(0)
  })

  test('an unknown version is answered with one that the server has', async () => {
    const session = new RawSession(temporaryProject())
    expect((await session.initialize('cursor', '1999-01-01')).result?.['protocolVersion']).toBe('2025-11-25')
  })

  test('2026-07-28: no handshake, each request says who sends it', async () => {
    const session = new RawSession(temporaryProject())
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'zed', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const answer = await session.request('tools/call', { name: 'read_claims', arguments: {}, _meta })
    expect(answer.result).toMatchObject({ structuredContent: { haid: expect.stringMatching(/\/zed$/), count: 0 } })
  })
})

describe('framing', () => {
  test('Content-Length in bytes, with characters of several bytes, one byte at a time', async () => {
    const session = new RawSession(temporaryProject())
    await session.initialize('cursor')
    const bytes = Buffer.concat([
      framed({
        jsonrpc: '2.0',
        id: 'a',
        method: 'tools/call',
        params: { name: 'blackboard_set', arguments: { key: 'city', value: 'Zürich 日本 😀' } },
      }),
      framed({
        jsonrpc: '2.0',
        id: 'b',
        method: 'tools/call',
        params: { name: 'blackboard_get', arguments: { key: 'city' } },
      }),
    ])
    for (const byte of bytes) session.write(Uint8Array.of(byte))
    await session.answerTo('a')
    expect((await session.answerTo('b')).result).toMatchObject({ structuredContent: { value: 'Zürich 日本 😀' } })
  })

  test('both framings on one connection', async () => {
    const session = new RawSession(temporaryProject())
    session.write(framed({ jsonrpc: '2.0', id: 'x', method: 'ping' }))
    session.write('{"jsonrpc":"2.0","id":"y","method":"ping"}\n')
    session.write(framed({ jsonrpc: '2.0', id: 'z', method: 'ping' }))
    for (const id of ['x', 'y', 'z']) expect(await session.answerTo(id)).toMatchObject({ result: {} })
  })
})

describe('bad input is answered, and the server goes on', () => {
  const MALFORMED: readonly (readonly [string, string | Uint8Array, string | null, number])[] = [
    ['not JSON', 'hello\n', null, -32700],
    ['half a character', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d, 0x0a]), null, -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":"q","method":"ping"}]\n', null, -32600],
    ['a bare value', '42\n', null, -32600],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":"q","method":"ping"}\n', 'q', -32600],
    ['no method', '{"jsonrpc":"2.0","id":"q"}\n', 'q', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}\n', null, -32600],
    ['params that are a list', '{"jsonrpc":"2.0","id":"q","method":"ping","params":[1]}\n', 'q', -32600],
    ['headers without a length', 'X-Y: 1\r\n\r\n', null, -32700],
    ['an unknown method', '{"jsonrpc":"2.0","id":"q","method":"tools/destroy"}\n', 'q', -32601],
    ['a call without a name', '{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{}}\n', 'q', -32602],
    ['an unknown tool', '{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"nope"}}\n', 'q', -32602],
    [
      'arguments that are a list',
      '{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"read_claims","arguments":[]}}\n',
      'q',
      -32602,
    ],
  ]

  test('malformed frames and calls are protocol errors', async () => {
    const session = new RawSession(temporaryProject())
    await session.initialize('cursor')
    for (const [what, bytes, id, code] of MALFORMED) {
      const before = session.lines().length
      session.write(bytes)
      const { id: answered, error } = await session.nextAnswer(before)
      expect({ answered, code: error?.code }, what).toEqual({ answered: id, code })
    }
    expect(await session.request('ping')).toMatchObject({ result: {} })
  })

  const REFUSED: readonly (readonly [string, object, string])[] = [
    ['read_claims', { surprise: 1 }, 'is not an argument'],
    ['make_claim', {}, 'surfaces is missing; task is missing'],
    ['make_claim', { surfaces: [], task: 'T' }, 'surfaces must be an array of at least one string'],
    ['make_claim', { surfaces: ['a'], task: 'T', ttl_minutes: 0 }, 'ttl_minutes must be a whole number'],
    ['make_claim', { surfaces: ['a'], task: 'T', ttl_minutes: 100_000 }, 'minutes'],
    ['make_claim', { surfaces: ['../x'], task: 'T' }, 'leads out of'],
    ['make_claim', { surfaces: ['@(a|b)'], task: 'T' }, 'extended glob'],
    ['make_claim', { surfaces: Array.from({ length: 257 }, (_, i) => `f${i}`), task: 'T' }, '257 scopes given'],
    ['release_claim', { claim_id: 'res_nope' }, 'no claim'],
    ['release_claim', { haid: 'haid:bob.box-1234/x' }, 'no agent'],
    ['read_claims', { client_identity: '!!!' }, 'has no letter or digit'],
    ['read_claims', { cursor: 'nope' }, 'is not of this list'],
    ['resolve', { id: 'F99' }, 'unknown symbol'],
    ['hydrate', { ids: ['../../etc/passwd'] }, 'not a valid id'],
    ['blackboard_get', { key: 'nope' }, 'unknown fact'],
    ['brief', { task: 'T', spec: 'do', symbols: 'F99' }, 'incomplete'],
    ['raise_conflict_pr', { id: '../x', title: 't', surfaces: ['a'] }, 'not a valid id'],
    ['append_decision', { title: ' ', body: 'x' }, 'title must be a string that is not blank'],
    ['append_decision', { title: 'a\nb', body: 'x' }, 'control characters'],
    ['raise_conflict_pr', { id: 'a..b', title: 'x', surfaces: ['a'] }, 'two dots in a row'],
    ['inbox', { note: 'msg_nope' }, 'no note'],
  ]

  test('arguments that cannot be used are results that the model can act on', async () => {
    const session = new RawSession(temporaryProject())
    await session.initialize('cursor')
    for (const [name, args, part] of REFUSED) {
      const { data, isError } = await session.call(name, args)
      expect({ isError, data }, `${name} ${part}`).toMatchObject({
        isError: true,
        data: { error: expect.any(String), detail: expect.stringContaining(part) },
      })
    }
    expect((await session.call('read_claims')).data['count']).toBe(0)
  })
})

test('no git at all, and a bare repository: claims work, keeping displaced work is refused', async () => {
  const bare = temporaryProject({ git: false })
  bare.git('init', '--quiet', '--bare')
  for (const project of [temporaryProject({ git: false }), bare]) {
    const session = new RawSession(project)
    await session.initialize('cursor')
    expect((await session.call('make_claim', { surfaces: ['src/**'], task: 'T' })).isError).toBe(false)
    const raised = await session.call('raise_conflict_pr', { id: 'c1', title: 'two ways', surfaces: ['src/**'] })
    expect(raised).toMatchObject({ isError: true, data: { error: 'GIT_FAILED' } })
    expect((await session.call('read_claims')).data['count']).toBe(1)
  }
})

test('launched from any folder, for the project that it is told', async () => {
  const project = temporaryProject()
  const session = new RawSession(project, { cwd: temporaryFolder(), args: ['--project', project.root] })
  await session.initialize('cursor')
  await session.call('make_claim', { surfaces: ['src/a.ts'], task: 'T' })
  const inside = new RawSession(project, { cwd: project.path() })
  await inside.initialize('copilot')
  expect((await inside.call('read_claims')).data['count']).toBe(1)
})

test('what it cannot be started with', async () => {
  const project = temporaryProject()
  const { code, stderr, stdout } = await project.run('heimdall-ledger-mcp', ['--nope'])
  expect(code).toBe(2)
  expect(stderr).toContain('--nope')
  expect(stdout).toBe('')
})

// Calls sent without waiting are answered in order.
test('calls of one client are done in the order in which they were sent', async () => {
  const project = temporaryProject()
  const session = await join(project, 'cursor')
  const rounds = 8
  const call = (id: string, name: string, args: object): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`
  const bytes = Array.from(
    { length: rounds },
    (_, i) =>
      call(`w${i}`, 'blackboard_set', { key: 'round', value: String(i) }) +
      call(`r${i}`, 'blackboard_get', { key: 'round' }) +
      call(`x${i}`, 'no_such_tool', {}),
  )
  session.write(bytes.join(''))
  for (let i = 0; i < rounds; i += 1)
    expect((await session.answerTo(`r${i}`)).result).toMatchObject({ structuredContent: { value: String(i) } })
  expect((await session.answerTo(`x${rounds - 1}`)).error).toMatchObject({ code: -32602 })
})

// Refusals carry the id of the request, also for oversized messages.
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
