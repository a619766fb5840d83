// Plays a host whose hooks call a local address: a process that is called like one, keeps its connection, and says how long each answer took.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const HOST = `
const { Agent, request } = require('node:http')
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const post = ({ port, path, headers, body }) => new Promise((resolve, reject) => {
  const asking = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers } }, (reply) => {
    let text = ''
    reply.setEncoding('utf8').on('data', (more) => { text += more }).on('end', () => resolve({ status: reply.statusCode, text }))
  })
  asking.on('error', reject)
  asking.end(body)
})
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { call, times } = JSON.parse(line)
  const replies = []
  const before = performance.now()
  for (let n = 0; n < times; n += 1) replies.push(await post(call))
  const tookMs = (performance.now() - before) / times
  process.stdout.write(JSON.stringify({ tookMs, replies: [...new Set(replies.map(({ status, text }) => status + ' ' + text))] }) + '\\n')
})`

const ECHO = `
require('node:http').createServer((request, response) => {
  const parts = []
  request.on('data', (part) => parts.push(part)).on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(Buffer.concat(parts))
  })
}).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

export interface HookCallToAddress {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface HookCaller {
  /** The mean of so many calls one after the other, in ms; every answer has to be `expected`. */
  tookMs(call: HookCallToAddress, times: number, expected: string): Promise<number>
  end(): void
}

export function startHookCaller(cwd: string, env: Readonly<Record<string, string>>): HookCaller {
  const host = spawn(process.execPath, ['-e', HOST], { argv0: 'claude', cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: host.stdout })
  return {
    async tookMs(call, times, expected) {
      host.stdin.write(`${JSON.stringify({ call, times })}\n`)
      const [line] = (await once(answers, 'line')) as [string]
      const { tookMs, replies } = JSON.parse(line) as { tookMs: number; replies: string[] }
      if (replies.length !== 1 || replies[0]?.includes(expected) !== true)
        throw new Error(`${call.path} answered ${replies.join(' and ')}, expected ${expected}`)
      return tookMs
    },
    end: () => host.stdin.end(),
  }
}

/** A server that gives back what it was sent, in a process of its own. */
export async function startEcho(): Promise<{ readonly port: number; readonly process: ChildProcess }> {
  const child = spawn(process.execPath, ['-e', ECHO], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { port: Number(line), process: child }
}
