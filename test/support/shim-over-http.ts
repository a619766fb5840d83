// A shim over HTTP driven like one over stdio, so that the same tests run over both: each line of input is posted to the
// shim, its answers come out as lines, and an HTTP server forwards what it receives to the stdio server fixture.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable, Writable } from 'node:stream'

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: { readonly name?: string }
}

function parsed(text: string): Message | null {
  try {
    return JSON.parse(text) as Message
  } catch {
    return null
  }
}

/** Calls back with each whole line. */
function eachLine(stream: NodeJS.ReadableStream, take: (line: Buffer) => void): void {
  let carry: Buffer[] = []
  stream.on('data', (chunk: Buffer) => {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      take(Buffer.concat([...carry, chunk.subarray(from, end)]))
      carry = []
      from = end + 1
    }
    if (from < chunk.length) carry.push(chunk.subarray(from))
  })
}

/** The HTTP server behind the shim. Returns its URL. */
async function startHttpServer(
  [file = '', ...args]: readonly string[],
  options: ServerOptions,
  onRequest: () => void,
): Promise<{ readonly url: string; readonly close: () => void }> {
  const child = spawn(file, args, { ...options, stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.on('error', () => {})
  /** Responses that wait for an answer, by the JSON of its id. */
  const waiting = new Map<string, ServerResponse[]>()
  let requests = 0
  eachLine(child.stdout, (line) => {
    const message = parsed(line.toString('utf8', 0, Math.min(line.length, 1 << 20)))
    const id = message === null ? /"id":(\d+)/.exec(line.toString('latin1', 0, 200))?.[1] : JSON.stringify(message.id)
    const [response, ...rest] = waiting.get(id ?? '') ?? []
    if (response === undefined) return
    const isStream = response.getHeader('Content-Type') === 'text/event-stream'
    if (message?.method !== undefined) {
      if (isStream) response.write(`data: ${line.toString()}\n\n`)
      return
    }
    waiting.set(id ?? '', rest)
    if (isStream) response.end(Buffer.concat([Buffer.from('event: message\ndata: '), line, Buffer.from('\n\n')]))
    else response.end(line)
  })
  child.once('exit', () => {
    for (const responses of waiting.values()) for (const response of responses) response.destroy()
  })
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => parts.push(chunk))
    incoming.once('end', () => {
      const body = Buffer.concat(parts)
      child.stdin.write(Buffer.concat([body, Buffer.from('\n')]))
      const small = parsed(body.toString())
      const id = small === null ? undefined : small.method === undefined ? undefined : small.id
      onRequest()
      if (id === undefined && !Array.isArray(small)) {
        response.writeHead(202).end()
        return
      }
      requests += 1
      // Alternately an answer in one piece and an event stream.
      response.setHeader('Content-Type', requests % 2 === 0 ? 'text/event-stream' : 'application/json')
      const key = JSON.stringify(id) as string | undefined
      waiting.set(key ?? '', [...(waiting.get(key ?? '') ?? []), response])
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    child.kill('SIGKILL')
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, close }
}

function post(address: string, line: Buffer, write: (line: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(
      address,
      {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          'Content-Length': line.length,
          'Mcp-Session-Id': 'only-one',
        },
      },
      (response) => {
        const parts: Buffer[] = []
        const isStream = response.headers['content-type'] === 'text/event-stream'
        if (isStream)
          eachLine(response, (one) => {
            if (one.toString('latin1', 0, 6) === 'data: ') write(one.subarray(6))
          })
        else response.on('data', (chunk: Buffer) => parts.push(chunk))
        response.once('close', () => {
          // The body of an HTTP-level refusal is not a message.
          if (parts.length > 0 && response.statusCode !== 403 && response.complete) write(Buffer.concat(parts))
          resolve()
        })
        response.on('error', () => {})
      },
    )
    sent.on('error', () => resolve())
    sent.end(line)
  })
}

interface ServerOptions {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

export interface HttpBridge {
  readonly server: readonly string[]
  readonly options: ServerOptions
  readonly stdin: Readable
  readonly stdout: Writable
  /** Runs the shim with these further words to its end; it prints its address to `stdout`. */
  readonly run: (words: readonly string[], stdout: (text: Buffer) => void) => Promise<number>
  /** Tells the shim to end. */
  readonly end: () => void
}

/** Resolves with the exit code of the shim. */
export async function runOverHttp({ server, options, stdin, stdout, run, end }: HttpBridge): Promise<number> {
  let landed = (): void => {}
  const { url, close } = await startHttpServer(server, options, () => landed())
  const write = (line: Buffer): void => void stdout.write(Buffer.concat([line, Buffer.from('\n')]))
  let listens: (address: string) => void = () => {}
  const address = new Promise<string>((resolve) => (listens = resolve))
  const pending = new Set<Promise<void>>()
  let last: Promise<void> = Promise.resolve()
  // In order: the next line is posted when this one has reached the server or was answered.
  eachLine(stdin, (line) => {
    last = last.then(async () => {
      const to = await address
      const arrived = new Promise<void>((resolve) => (landed = resolve))
      const answered = post(to, line, write)
      // The end of input does not wait for a call that is never answered.
      if (parsed(line.toString('utf8', 0, Math.min(line.length, 1 << 20)))?.params?.name !== 'never') {
        pending.add(answered)
        void answered.then(() => pending.delete(answered))
      }
      await Promise.race([arrived, answered])
    })
  })
  stdin.once('end', () => {
    void last.then(async () => {
      await address
      await Promise.all(pending)
      end()
    })
  })
  try {
    return await run(['--url', url, '--listen', '0'], (text) => listens(text.toString().trimEnd()))
  } finally {
    close()
  }
}
