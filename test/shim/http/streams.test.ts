// Answers on their way back: at once, byte for byte, in bounded memory, and in the books however they end.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { echo, playServer, type Seen, sendJson, startProxy, untilEnds } from '../../support/http-proxy.ts'
import { startProgram, waitForDeath } from '../../support/programs.ts'
import { scaled } from '../../support/scale.ts'
import { bundle, checkBooks, type Json, ofType, rule, tool, toolCall } from '../../support/shim-client.ts'
import { until } from '../../support/wait.ts'

const result = (id: unknown, text: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
const idOf = ({ body }: Seen): unknown => (JSON.parse(body.toString()) as Json)['id']
const sse = (response: Seen['response']): void => void response.writeHead(200, { 'Content-Type': 'text/event-stream' })

test('each piece of a stream is there before the next one is written, and ids, types and comments stay as they are', async () => {
  let played: Seen | undefined
  const far = await playServer((seen) => {
    played = seen
    sse(seen.response)
    seen.response.flushHeaders()
  })
  const proxy = await startProxy(far.url)
  const stream = await proxy.open('POST', toolCall(1, 'slow'))
  expect(stream.response.headers['content-type']).toBe('text/event-stream')
  const pieces = [
    ': a comment\r\n\r\n',
    'id: 7\nretry: 10\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n\n',
    'event: other\ndata: {"jsonrpc":"2.0","id":1,"result":{"fooled":true}}\n\n',
    'data: {"jsonrpc":"2.0",\ndata: "id":1,"res',
    'ult":{"content":[]}}\r\r',
  ]
  let sent = ''
  for (const piece of pieces) {
    played?.response.write(piece)
    sent += piece
    await until('the piece', () => stream.text() === sent)
  }
  const [end] = await untilEnds(proxy, 1)
  expect(end).toMatchObject({ status: 'OK', bytes_out: '{"jsonrpc":"2.0",\n"id":1,"result":{"content":[]}}'.length })
  played?.response.end()
  await until('the end', () => stream.response.complete)
  const { events } = await proxy.end()
  expect(checkBooks(events)).toEqual([])
})

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
] as const)('an answer in %s, which was not asked for, goes on as it is and is read', async (encoding, compress) => {
  const far = await playServer((seen) => {
    const body = compress(result(idOf(seen), 'x'.repeat(2_000)))
    seen.response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': encoding }).end(body)
  })
  const proxy = await startProxy(far.url)
  const { body, headers } = await proxy.post(toolCall(3, 'zip'), { 'Accept-Encoding': 'gzip, br' })
  expect(far.seen[0]?.request.headers['accept-encoding']).toBe('identity')
  expect(headers['content-encoding']).toBe(encoding)
  expect(body.equals(compress(result(3, 'x'.repeat(2_000))))).toBe(true)
  const [end] = await untilEnds(proxy, 1)
  expect(end).toMatchObject({ status: 'OK', bytes_out: result(3, 'x'.repeat(2_000)).length })
  await proxy.end()
})

test('answers that are none: HTTP errors, redirects, other encodings, half answers, nobody there', async () => {
  const far = await playServer((seen) => {
    const { response } = seen
    const { name } = (JSON.parse(seen.body.toString()) as Json)['params'] as Json
    if (name === 'forbidden') response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end('who are you?')
    else if (name === 'moved') response.writeHead(307, { Location: 'http://evil.example/mcp' }).end()
    else if (name === 'coded') response.writeHead(200, { 'Content-Encoding': 'zstd' }).end('x')
    else if (name === 'other') sendJson(response, { jsonrpc: '2.0', id: 'not-asked', result: {} })
    else if (name === 'half') {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 500 })
      response.write('{"jsonrpc":', () => response.destroy())
    } else {
      sse(response)
      response.write(': begun\n\n', () => (name === 'hung' ? response.destroy() : response.end()))
    }
  })
  const proxy = await startProxy(far.url)
  const forbidden = await proxy.post(toolCall(1, 'forbidden'))
  expect([forbidden.status, forbidden.body.toString(), forbidden.headers['www-authenticate']]).toEqual([
    401,
    'who are you?',
    'Bearer',
  ])
  expect((await proxy.post(toolCall(2, 'moved'))).json).toMatchObject({ id: 2, error: { code: -32_603 } })
  expect((await proxy.post(toolCall(3, 'coded'))).json).toMatchObject({ id: 3, error: { code: -32_603 } })
  expect((await proxy.post(toolCall(4, 'other'))).json).toMatchObject({ id: 'not-asked' })
  await expect(proxy.post(toolCall(5, 'half'))).rejects.toThrow()
  // In a stream there is a place for our own word.
  expect((await proxy.post(toolCall(6, 'hung'))).body.toString()).toMatch(
    /^: begun\n\nevent: message\ndata: .*"id":6,"error"/,
  )
  expect((await proxy.post(toolCall(7, 'ended'))).body.toString()).toMatch(
    /^: begun\n\nevent: message\ndata: .*"id":7,"error"/,
  )
  far.server.closeAllConnections()
  await new Promise((resolve) => far.server.close(resolve))
  expect((await proxy.post(toolCall(8, 'echo'))).json).toMatchObject({ id: 8, error: { code: -32_603 } })
  expect((await proxy.post({ jsonrpc: '2.0', id: 9, method: 'tools/list' })).json).toMatchObject({ id: 9, error: {} })
  expect((await proxy.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(502)
  const { events, code } = await proxy.end()
  expect(code).toBe(0)
  expect(ofType(events, 'tool_call_end').map((event) => [event['status'], event['error'].class] as unknown[])).toEqual(
    Array.from({ length: 8 }, () => ['ERROR', 'transport']),
  )
  expect(ofType(events, 'tool_call_end')[0]?.['error']).toMatchObject({ code: 401 })
  expect(checkBooks(events)).toEqual([])
})

test('a client that goes away ends the call, there and in the books', async () => {
  let isClosed = false
  const far = await playServer(({ response }) => {
    sse(response)
    response.write(': begun\n\n')
    response.once('close', () => (isClosed = true))
  })
  const proxy = await startProxy(far.url)
  const stream = await proxy.open('POST', toolCall(1, 'never'))
  await until('the beginning', () => stream.text() !== '')
  stream.close()
  expect((await untilEnds(proxy, 1))[0]).toMatchObject({ status: 'CANCELLED' })
  await until('the server to be told', () => isClosed)
  expect(checkBooks((await proxy.end()).events)).toEqual([])
})

test('a cancelled call is cancelled in the books; its session may be answered later', async () => {
  const waiting: Seen[] = []
  const far = await playServer((seen) => {
    if ((JSON.parse(seen.body.toString()) as Json)['method'] === 'tools/call') waiting.push(seen)
    else seen.response.writeHead(202).end()
  })
  const proxy = await startProxy(far.url)
  const session = { 'Mcp-Session-Id': 's-1' }
  const answer = proxy.post(toolCall(1, 'long'), session)
  const elsewhere = proxy.post(toolCall(1, 'long'), { 'Mcp-Session-Id': 's-2' })
  await until('both calls', () => waiting.length === 2)
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  expect((await proxy.post(cancelled, session)).status).toBe(202)
  const [end] = await untilEnds(proxy, 1)
  expect(end).toMatchObject({ status: 'CANCELLED' })
  for (const { response } of waiting) sendJson(response, JSON.parse(result(1, 'done')) as object)
  expect([(await answer).status, (await elsewhere).status]).toEqual([200, 200])
  const { events } = await proxy.end()
  expect(ofType(events, 'tool_call_end').map((event) => event['status'] as string)).toEqual(['CANCELLED', 'OK'])
  expect(checkBooks(events)).toEqual([])
})

test('a stream that breaks off after an event with an id is taken up by GET, and the answer still counts', async () => {
  const far = await playServer((seen) => {
    const { request, response } = seen
    if (request.method === 'DELETE') response.writeHead(204).end()
    else {
      sse(response)
      if (request.method === 'GET') response.write(`id: e-2\ndata: ${result(4, 'late')}\n\n`)
      else response.write('id: e-1\ndata:\n\n', () => response.end())
    }
  })
  const proxy = await startProxy(far.url)
  const session = { 'Mcp-Session-Id': 's-1', 'MCP-Protocol-Version': '2025-11-25' }
  expect((await proxy.post(toolCall(4, 'later'), session)).body.toString()).toBe('id: e-1\ndata:\n\n')
  expect(ofType(proxy.events(), 'tool_call_end')).toEqual([])
  const stream = await proxy.open('GET', null, { ...session, 'Last-Event-ID': 'e-1' })
  expect(far.seen[1]?.request.headers).toMatchObject({ 'last-event-id': 'e-1', 'mcp-session-id': 's-1' })
  expect((await untilEnds(proxy, 1))[0]).toMatchObject({ status: 'OK' })
  await until('the answer', () => stream.text().includes('late'))
  stream.close()
  const deleted = await proxy.open('DELETE', null, session)
  expect(deleted.response.statusCode).toBe(204)
  expect(checkBooks((await proxy.end()).events)).toEqual([])
})

test('fifty clients at once with the same ids', async () => {
  const held: Seen[] = []
  const far = await playServer((seen) => void held.push(seen))
  const proxy = await startProxy(far.url)
  const answers = Array.from({ length: 50 }, (_, n) => proxy.post(toolCall(1, 'echo', { n })))
  await until('all of them to be there at once', () => held.length === 50)
  for (const seen of held.toReversed()) echo(seen)
  const texts = (await Promise.all(answers)).map(({ json }) => json['result'].content[0].text as string)
  expect(texts).toEqual(texts.map((_, n) => JSON.stringify({ name: 'echo', arguments: { n } })))
  const { events } = await proxy.end()
  expect(ofType(events, 'tool_call_end').every((event) => event['status'] === 'OK')).toBe(true)
  expect(checkBooks(events)).toEqual([])
})

test('a request too large for memory is held, judged and sent on byte for byte (seed 004 §6.2)', async () => {
  const far = await playServer((seen) => sendJson(seen.response, JSON.parse(result(1, sha256(seen.body))) as object))
  const proxy = await startProxy(far.url)
  const body = Buffer.from(JSON.stringify(toolCall(1, 'echo', { text: 'the quick brown fox '.repeat(150_000) })))
  expect((await proxy.post(body)).json['result'].content[0].text).toBe(sha256(body))
  const { events } = await proxy.end()
  expect(ofType(events, 'tool_call_start')[0]?.['call']).toMatchObject({
    bytes_in: body.length,
    args_stream_hash: sha256(body),
    preview: { truncated: true },
  })
})

test('a large result streams through in bounded memory, with its hash (seed 004 §1.9.2, §6.2)', async () => {
  const bytes = scaled(64, 512) << 20
  const piece = Buffer.alloc(1 << 18, 'abcdefghijklmnopqrstuvwxyz012345')
  const head = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'
  const tail = '"}]}}'
  const far = await playServer(({ response }) => {
    sse(response)
    response.write(`data: ${head}`)
    let left = bytes
    const more = (): void => {
      while (left > 0) {
        left -= piece.length
        if (!response.write(piece)) {
          response.once('drain', more)
          return
        }
      }
      response.end(`${tail}\n\n`)
    }
    more()
  })
  const proxy = await startProxy(far.url)
  const hash = createHash('sha256')
  const { response } = await proxy.open('POST', toolCall(1, 'big'))
  response.removeAllListeners('data')
  response.on('data', (chunk: Buffer) => hash.update(chunk))
  await until('all of it', () => response.complete)
  const wanted = createHash('sha256').update(head)
  const passed = createHash('sha256').update(`data: ${head}`)
  for (let left = bytes; left > 0; left -= piece.length) {
    wanted.update(piece)
    passed.update(piece)
  }
  expect(hash.digest('hex')).toBe(passed.update(`${tail}\n\n`).digest('hex'))
  const [end] = await untilEnds(proxy, 1)
  expect(end).toMatchObject({ status: 'OK', result_stream_hash: wanted.update(tail).digest('hex') })
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${proxy.program.pid}/status`, 'utf8'))?.[1]) * 1_024
  expect(peak).toBeLessThan(256 << 20)
  await proxy.end()
})

test('a client that reads late gets a stream of events whole, however they are cut, and the server waits meanwhile', async () => {
  // Longer than what is read at once: a large piece is followed by a small one. Each is other bytes than the one before,
  // which is still on its way when the same memory is read into.
  const event = (n: number): string =>
    `data: {"jsonrpc":"2.0","method":"notifications/${n}","params":"${String(n % 10).repeat(1 << 16)}"}\n\n`
  const events = scaled(300, 3_000)
  let written = 0
  const far = await playServer(({ response }) => {
    sse(response)
    const more = (): void => {
      while (written < events) {
        written += 1
        if (!response.write(event(written))) {
          response.once('drain', more)
          return
        }
      }
      response.end(`data: ${result(1, 'done')}\n\n`)
    }
    more()
  })
  const proxy = await startProxy(far.url)
  const { response } = await proxy.open('POST', toolCall(1, 'many'))
  response.removeAllListeners('data')
  response.pause()
  await until('the server to wait', () => (far.seen[0]?.response.writableLength ?? 0) > 0)
  expect(written).toBeLessThan(events)
  const parts: Buffer[] = []
  response.on('data', (chunk: Buffer) => {
    parts.push(chunk)
    response.pause()
    setImmediate(() => response.resume())
  })
  response.resume()
  await once(response, 'end')
  const all = Array.from({ length: events }, (_, n) => event(n + 1)).join('')
  expect(Buffer.concat(parts).toString() === `${all}data: ${result(1, 'done')}\n\n`).toBe(true)
  expect((await untilEnds(proxy, 1))[0]).toMatchObject({ status: 'OK' })
  expect(checkBooks((await proxy.end()).events)).toEqual([])
})

test('policy ends the run: open calls are answered so, streams end, and later requests too (seed 004 §3.2.1)', async () => {
  const far = await playServer((seen) => {
    if (seen.request.method === 'GET') {
      sse(seen.response)
      seen.response.write(': standing\n\n')
    } else if (seen.body.toString().includes('danger')) echo(seen)
  })
  const stop = rule('stop', 'budget', tool('danger'), {
    budget: { scope: 'run', limit_calls: 1, on_exceed: 'TERMINATE_RUN' },
  })
  const proxy = await startProxy(far.url, { policy: bundle([stop]) })
  const standing = await proxy.open('GET', null)
  await until('the standing stream', () => standing.text() !== '')
  const open = proxy.post(toolCall(1, 'waits'))
  await until('the open call', () => far.seen.length === 2)
  expect((await proxy.post(toolCall(2, 'danger'))).status).toBe(200)
  expect((await proxy.post(toolCall(3, 'danger'))).json).toMatchObject({ error: { code: -32_084 } })
  expect((await open).json).toMatchObject({ id: 1, error: { code: -32_084 } })
  await until('the end of the stream', () => standing.response.destroyed)
  expect((await proxy.post({ jsonrpc: '2.0', id: 4, method: 'tools/list' })).json).toMatchObject({
    error: { code: -32_084 },
  })
  expect((await proxy.open('GET', null)).response.statusCode).toBe(403)
  const { events, code } = await proxy.end()
  expect(code).toBe(7)
  expect(ofType(events, 'run_end')[0]?.['run'].status).toBe('TERMINATED')
  expect(checkBooks(events)).toEqual([])
})

test('kill -9 of the server and of the proxy: nobody hangs', async () => {
  const code =
    "require('node:http').createServer((q, s) => { s.writeHead(200, { 'Content-Type': 'text/event-stream' }); s.write(': begun\\n\\n') })" +
    ".listen(0, '127.0.0.1', function () { console.log(this.address().port) })"
  const far = startProgram([process.execPath, '-e', code])
  const port = await far.waitForLine(/^\d+$/)
  const url = `http://127.0.0.1:${port}/mcp`
  const proxy = await startProxy(url)
  const stream = await proxy.open('POST', toolCall(1, 'never'))
  await until('the beginning', () => stream.text() !== '')
  far.kill('SIGKILL')
  await until('the answer', () => stream.text().includes('"error"'))
  expect((await untilEnds(proxy, 1))[0]).toMatchObject({ status: 'ERROR', error: { class: 'transport' } })
  proxy.program.kill('SIGKILL')
  await waitForDeath(proxy.program.pid)
  await expect(proxy.post(toolCall(2, 'echo'))).rejects.toThrow()
})

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
