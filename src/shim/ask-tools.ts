// The tools of a server: started behind a shim of its own, which ends all of its processes, and asked for tools/list.
import { type ChildProcess, spawn } from 'node:child_process'
import { type Clock, within } from '../clock.ts'
import { isSystemError } from '../errors.ts'
import { ASKED_SERVER_BYTES_MAX, ASKED_SERVER_END_MS, ASKED_SERVER_MS, TOOL_PAGES_MAX } from '../limits.ts'
import type { Env } from '../paths.ts'
import { type ListedTool, listedTools } from './call/tool-annotations.ts'

type Asked = { readonly tools: readonly ListedTool[] } | { readonly why: string }

interface AskedServer {
  readonly name: string
  readonly start: {
    readonly words: readonly string[]
    readonly env: Readonly<Record<string, string>>
    readonly cwd?: string | undefined
  }
}

interface Asking {
  /** What starts our shim. */
  readonly own: readonly string[]
  readonly env: Env
  readonly cwd: string
  readonly clock: Clock
}

/** No record: this is not a call of an agent. */
const UNRECORDED = ['--events=/dev/null']
const OF_RUNS = ['SUB_RUN_ID', 'SUB_POLICY_JSON', 'HEIMDALL_SESSION_ID', 'HEIMDALL_RUN_DIR']

export async function askTools(server: AskedServer, { own, env, cwd, clock }: Asking): Promise<Asked> {
  const [node = '', ...rest] = own
  const { words, env: given, cwd: folder } = server.start
  const passed = Object.fromEntries(Object.entries(env).filter(([name]) => !OF_RUNS.includes(name)))
  const child = spawn(node, [...rest, 'mcp', 'shim', `--server-name=${server.name}`, ...UNRECORDED, '--', ...words], {
    cwd: folder ?? cwd,
    env: { ...passed, ...given },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  let answer: Asked = { why: `it did not answer within ${ASKED_SERVER_MS / 1_000} s` }
  await within(
    clock,
    ASKED_SERVER_MS,
    conversation(child).then((said) => {
      answer = said
    }),
  )
  // End of input ends the shim, which ends the server and its children.
  child.stdin.destroy()
  await within(clock, ASKED_SERVER_END_MS, ended)
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
  return answer
}

interface Reply {
  readonly id?: unknown
  readonly method?: unknown
  readonly result?: { readonly nextCursor?: unknown }
  readonly error?: { readonly message?: unknown }
}

/** Initialize, then every page of tools/list; also for a server that rejects initialize. */
function conversation(child: ChildProcess): Promise<Asked> {
  return new Promise((resolve) => {
    const tools: ListedTool[] = []
    let page = 0
    let rest = ''
    let bytes = 0
    const send = (message: object): void => {
      child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    }
    const ask = (cursor?: unknown): void => {
      page += 1
      send({ id: page, method: 'tools/list', params: { _meta: META, ...(cursor === undefined ? {} : { cursor }) } })
    }
    const hear = (line: string): void => {
      const reply = parsed(line)
      if (reply === undefined || reply.method !== undefined) return
      if (reply.id === 0) {
        if (reply.error === undefined) send({ method: 'notifications/initialized' })
        ask()
        return
      }
      if (reply.id !== page) return
      const listed = listedTools(line)
      if (listed === null)
        return resolve({ why: `it answered ${JSON.stringify(reply.error?.message ?? 'something else')}` })
      tools.push(...listed)
      const next = reply.result?.nextCursor
      if (typeof next === 'string' && next !== '' && page < TOOL_PAGES_MAX) ask(next)
      else resolve({ tools })
    }
    child.once('error', (error) => resolve({ why: isSystemError(error) ? error.message : String(error) }))
    child.once('close', () =>
      resolve({ why: 'it exited without a response; heimdall mcp shim -- CMD shows its stderr' }),
    )
    child.stdin?.on('error', () => {
      // The close event reports a server that has ended.
    })
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      bytes += chunk.length
      if (bytes > ASKED_SERVER_BYTES_MAX)
        return resolve({ why: `it answered with more than ${ASKED_SERVER_BYTES_MAX} bytes` })
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) hear(line)
    })
    send({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'heimdall', version: '0' } },
    })
  })
}

const VERSION = '2025-06-18'
const META = { 'io.modelcontextprotocol/protocolVersion': VERSION }

function parsed(line: string): Reply | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}
