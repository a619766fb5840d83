// Who may use the proxy, and what it does with bytes that are no good request: refused, recorded where they were meant as a message, never sent on.
import { chmodSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ROADS } from '../../support/bypass-roads.ts'
import { echo, playServer, startProxy } from '../../support/http-proxy.ts'
import { temporaryFolder } from '../../support/project.ts'
import { bundle, checkBooks, deny, ofType, tool, toolCall } from '../../support/shim-client.ts'
import { until } from '../../support/wait.ts'

const POLICY = bundle([deny('no-delete', tool('delete_*'))])
const CALL = JSON.stringify(toolCall(1, 'echo', { a: 1 }))

test('only this machine, by its own name, with the whole address, and no web page', async () => {
  const far = await playServer(echo)
  const proxy = await startProxy(far.url)
  const { port, path } = proxy
  const statusOf = async (headers: Record<string, string>): Promise<number> => (await proxy.post(CALL, headers)).status
  expect(await statusOf({ Host: `rebound.example:${port}` })).toBe(403)
  expect(await statusOf({ Host: '127.0.0.1' })).toBe(403)
  expect(await statusOf({ Origin: 'https://evil.example' })).toBe(403)
  expect(await statusOf({ Origin: 'null' })).toBe(403)
  expect(await statusOf({ Host: `localhost:${port}`, Origin: `http://localhost:${port}` })).toBe(200)
  const first = async (head: string): Promise<string> => {
    const socket = proxy.raw(`${head}\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)
    return until('a status line', () => /^HTTP\/1\.1 (\d+)/.exec(socket.text())?.[1])
  }
  expect(await first('GET / HTTP/1.1')).toBe('404')
  expect(await first(`GET ${path.slice(0, -1)}x HTTP/1.1`)).toBe('404')
  expect(await first(`GET ${path}/ HTTP/1.1`)).toBe('404')
  expect(await first(`OPTIONS ${path} HTTP/1.1`)).toBe('405')
  expect(await first(`PUT ${path} HTTP/1.1`)).toBe('405')
  expect(await first(`GET ${path} HTTP/1.1\r\nContent-Length: 4`)).toBe('400')
  expect(far.seen).toHaveLength(1)
  const other = Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')
  if (other !== undefined) {
    const refused = await new Promise<boolean>((resolve) => {
      const socket = createConnection(port, other.address)
      socket.once('connect', () => resolve(false))
      socket.once('error', () => resolve(true))
    })
    expect(refused).toBe(true)
  }
  await proxy.end()
})

test('the address stays for the same server and user, and is another for another', async () => {
  const far = await playServer(echo)
  const home = temporaryFolder()
  const first = await startProxy(far.url, { home })
  const again = await startProxy(far.url, { home })
  const other = await startProxy(far.url)
  expect(again.path).toBe(first.path)
  expect(other.path).not.toBe(first.path)
  expect(statSync(join(home, '.local/state/heimdall/shim-http-key')).mode & 0o777).toBe(0o600)
  // A key that others have read leads nobody here any more.
  chmodSync(join(home, '.local/state/heimdall/shim-http-key'), 0o644)
  const read = await startProxy(far.url, { home })
  expect(read.path).not.toBe(first.path)
  await Promise.all([first.end(), again.end(), other.end(), read.end()])
})

test.each(['--listen=0.0.0.0:0', '--listen=192.168.1.1:80', '--listen=evil.example:1', '--listen=70000'])(
  '%s is refused',
  async (flag) => {
    await expect(startProxy('http://127.0.0.1:9/mcp', { flags: [flag] })).rejects.toThrow(/of this machine alone/)
  },
)

test('every road to a denied tool ends here (seed 004 §7.4)', async () => {
  const far = await playServer(echo)
  const proxy = await startProxy(far.url, { policy: POLICY })
  for (const [road, line] of ROADS.filter(([name]) => name !== 'a message over two lines')) {
    const { status } = await proxy.post(Buffer.from(line))
    expect([road, [200, 400, 403].includes(status)]).toEqual([road, true])
  }
  // Over HTTP a message may have line ends: it is one message all the same.
  const [, lines = ''] = ROADS.find(([name]) => name === 'a message over two lines') ?? []
  expect((await proxy.post(lines)).json).toMatchObject({ error: { code: -32_081 } })
  expect((await proxy.post(CALL)).status).toBe(200)
  const { events, code } = await proxy.end()
  expect(code).toBe(0)
  expect(far.seen.map(({ body }) => body.toString()).join('\n')).not.toMatch(/delete_all|u0064elete/)
  expect(checkBooks(events)).toEqual([])
})

const DELETE = JSON.stringify(toolCall(5, 'delete_all'))
const HARMLESS = JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/list' })
const READ = JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'resources/read', params: { uri: 'file:///b' } })

const WRONG: readonly [string, string | Buffer, Record<string, string | string[]>, number][] = [
  ['a header that names another method', CALL, { 'Mcp-Method': 'tools/list' }, -32_020],
  ['a header that names a call where the body is none', HARMLESS, { 'Mcp-Method': 'tools/call' }, -32_020],
  ['a header for a batch', `[${HARMLESS}]`, { 'Mcp-Method': 'tools/list' }, -32_020],
  ['a header that names another tool', CALL, { 'Mcp-Method': 'tools/call', 'Mcp-Name': 'delete_all' }, -32_020],
  ['a header that names another resource', READ, { 'Mcp-Name': 'file:///a' }, -32_020],
  ['a name in base64 that is none', CALL, { 'Mcp-Name': '=?base64?ZWNobx==?=' }, -32_020],
  ['a method twice', CALL, { 'Mcp-Method': ['tools/call', 'tools/list'] }, -32_600],
  ['another character set', CALL, { 'Content-Type': 'application/json; charset=utf-7' }, -32_600],
  ['UTF-16', Buffer.from(DELETE, 'utf16le'), {}, -32_700],
  [
    'UTF-16 that is said',
    Buffer.from(DELETE, 'utf16le'),
    { 'Content-Type': 'application/json; charset=utf-16' },
    -32_700,
  ],
  ['a compressed body', gzipSync(DELETE), { 'Content-Encoding': 'gzip' }, -32_700],
  ['a body that is only said to be compressed', CALL, { 'Content-Encoding': 'br' }, -32_600],
  ['a form', CALL, { 'Content-Type': 'text/plain' }, -32_600],
  ['nothing', '', {}, -32_700],
  ['garbage behind the message', `${CALL}garbage`, {}, -32_700],
]

test('what is no message, or says one thing in headers and another in the body, is refused and recorded', async () => {
  const far = await playServer(echo)
  const proxy = await startProxy(far.url, { policy: POLICY })
  for (const [what, body, headers, code] of WRONG) {
    const { status, json } = await proxy.post(body, headers)
    expect([what, status, json['error'].code]).toEqual([what, 400, code])
  }
  const { events } = await proxy.end()
  expect(far.seen).toEqual([])
  const reasons = ofType(events, 'tool_call_decision').map((event) => event['decision'].explain.reason_code as string)
  expect(reasons).toEqual(WRONG.map(() => 'MALFORMED_CALL'))
  expect(checkBooks(events)).toEqual([])
})

test('headers that say what the body says pass, also in base64', async () => {
  const far = await playServer(echo)
  const proxy = await startProxy(far.url, { policy: POLICY })
  const name = 'Zürich ☃'
  const coded = `=?base64?${Buffer.from(name).toString('base64')}?=`
  const headers = { 'Mcp-Method': 'tools/call', 'Mcp-Name': coded, 'MCP-Protocol-Version': '2026-07-28' }
  expect((await proxy.post(toolCall(1, name), headers)).status).toBe(200)
  expect(far.seen[0]?.request.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': coded })
  // The generation by the header: there are several clients, and none has to shake hands.
  const { json } = await proxy.post(toolCall(2, 'delete_x'), { 'MCP-Protocol-Version': '2026-07-28' })
  expect(json).toMatchObject({ error: { code: -31_081, data: { subluminal: { code: -32_081 } } } })
  const older = await proxy.post(toolCall(2, 'delete_x'), { 'MCP-Protocol-Version': '2025-11-25' })
  expect(older.json).toMatchObject({ error: { code: -32_081 } })
  await proxy.end()
})

test('bytes that are no good HTTP reach nobody, and the next client is served', async () => {
  const far = await playServer(echo)
  const proxy = await startProxy(far.url)
  const host = `Host: 127.0.0.1:${proxy.port}\r\nContent-Type: application/json`
  const post = `POST ${proxy.path} HTTP/1.1\r\n${host}`
  const length = Buffer.byteLength(CALL)
  const bad = [
    `${post}\r\nContent-Length: ${length}\r\nContent-Length: ${length + 1}\r\n\r\n${CALL}`,
    `${post}\r\nContent-Length: ${length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${post}\r\nX-Folded: a\r\n b\r\nContent-Length : ${length}\r\n\r\n${CALL}`,
    `${post}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n${CALL}\r\n0\r\n\r\n`,
    `${post}\r\nX-Huge: ${'h'.repeat(70_000)}\r\n\r\n`,
    `POST ${proxy.path} HTTP/1.1\r\n${host}\r\nHost: evil.example\r\nContent-Length: ${length}\r\n\r\n${CALL}`,
    `POST ${proxy.path} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${CALL}`,
    `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03`,
  ]
  for (const bytes of bad) {
    const socket = proxy.raw(Buffer.from(bytes, 'latin1'))
    const status = await until('an answer', () => /^HTTP\/1\.1 (\d+)/.exec(socket.text())?.[1])
    expect(status).toMatch(/^(400|403|431)$/)
  }
  // Bodies that never end: nothing of them is sent on.
  const torn = proxy.raw(`${post}\r\nTransfer-Encoding: chunked\r\n\r\n${length.toString(16)}\r\n${CALL.slice(0, 20)}`)
  const short = proxy.raw(`${post}\r\nContent-Length: ${length + 10}\r\n\r\n${CALL}`)
  const slow = proxy.raw(`POST ${proxy.path} HTTP/1.1\r\nHost: `)
  expect((await proxy.post(CALL)).status).toBe(200)
  torn.destroy()
  short.end()
  // The head has to be there within a time; then the connection is closed.
  await until(
    'the slow one to be closed',
    () => slow.destroyed || slow.readableEnded || slow.text().startsWith('HTTP/1.1 408'),
  )
  expect(far.seen).toHaveLength(1)
  const { code, events } = await proxy.end()
  expect(code).toBe(0)
  expect(checkBooks(events)).toEqual([])
})

test('requests in a row on one connection, in pieces of one byte, and HTTP/1.0', async () => {
  const far = await playServer(echo)
  const proxy = await startProxy(far.url)
  const head = `POST ${proxy.path} HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nContent-Type: application/json\r\n`
  const one = (id: number): string => {
    const body = JSON.stringify(toolCall(id, 'echo', { id }))
    return `${head}Transfer-Encoding: chunked\r\n\r\n${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`
  }
  const socket = proxy.raw('')
  for (const byte of Buffer.from(`${one(1)}${one(2)}${one(3)}`)) socket.write(Buffer.of(byte))
  await until('three answers', () => (socket.text().match(/"jsonrpc"/g) ?? []).length === 3)
  expect([...socket.text().matchAll(/"id":(\d)/g)].map(([, id]) => id)).toEqual(['1', '2', '3'])
  const body = JSON.stringify(toolCall(4, 'echo'))
  const old = proxy.raw(
    `${head.replace('HTTP/1.1', 'HTTP/1.0')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  await until('the old one', () => old.text().includes('"id":4') && old.readableEnded)
  expect(far.seen.map((seen) => JSON.parse(seen.body.toString()).id as number)).toEqual([1, 2, 3, 4])
  const { events } = await proxy.end()
  expect(checkBooks(events)).toEqual([])
})
