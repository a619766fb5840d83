// Whether MCP servers answer: each is really started, greeted and pinged, a few at a time, and the answer is kept for moments.
import type { Clock } from '../../clock.ts'
import type { Env } from '../../paths.ts'
import { MCP_PROBE_MS, MCP_PROBES_AT_ONCE } from '../../limits.ts'
import type { HEALTH } from '../messages.ts'

/** A server as a host's configuration has it: a program, an address, or neither where only the host can reach it. */
export interface ProbedServer {
  readonly name: string
  readonly start:
    | {
        readonly words: readonly string[]
        readonly env: Readonly<Record<string, string>>
        readonly cwd: string | undefined
      }
    | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
    | null
}

export interface Health {
  readonly state: (typeof HEALTH)[number]
  readonly checkedMs: number
  readonly latencyMs: number | null
}

export class McpProbes {
  readonly #env: Env
  readonly #clock: Clock
  readonly #kept = new Map<string, Health>()
  /** By name of server. */
  readonly #asking = new Map<string, Promise<void>>()
  #active = 0

  constructor(env: Env, clock: Clock) {
    this.#env = env
    this.#clock = clock
  }

  /** What is known of each, of this moment or of a few seconds ago. Waits for the `needed` ones alone: one that hangs is in the way of no other. */
  async health(
    servers: readonly ProbedServer[],
    keptMs: number,
    needed: readonly string[] = servers.map(({ name }) => name),
  ): Promise<ReadonlyMap<string, Health>> {
    const due = servers.filter(({ name }) => needed.includes(name) && this.#isOld(name, keptMs))
    await Promise.all(due.map((server) => this.#ask(server)))
    return new Map(servers.map(({ name }) => [name, this.#kept.get(name) ?? UNKNOWN]))
  }

  #isOld(name: string, keptMs: number): boolean {
    const known = this.#kept.get(name)
    const nowMs = this.#clock.wallMs()
    return known === undefined || nowMs - known.checkedMs >= keptMs || known.checkedMs > nowMs
  }

  async #ask(server: ProbedServer): Promise<void> {
    const { name } = server
    const asking = this.#asking.get(name) ?? this.#inTurn(server).finally(() => this.#asking.delete(name))
    this.#asking.set(name, asking)
    await asking
  }

  async #inTurn(server: ProbedServer): Promise<void> {
    while (this.#active >= MCP_PROBES_AT_ONCE) await Promise.race(this.#asking.values())
    this.#active += 1
    try {
      this.#kept.set(server.name, await this.#probe(server))
    } finally {
      this.#active -= 1
    }
  }

  async #probe({ start }: ProbedServer): Promise<Health> {
    const clock = this.#clock
    const begun = clock.monoMs()
    const found = (state: Health['state']): Health => ({
      state,
      checkedMs: clock.wallMs(),
      latencyMs: state === 'ok' ? Math.round(clock.monoMs() - begun) : null,
    })
    if (start === null) return found('unknown')
    const { Client } = await import('@modelcontextprotocol/client')
    const transport = await this.#transport(start)
    const client = new Client({ name: 'heimdall', version: '1' })
    const over = new AbortController()
    const timer = clock.after(MCP_PROBE_MS, () => over.abort())
    try {
      const asked = client.connect(transport).then(() => client.ping())
      return found(await Promise.race([asked.then(() => 'ok' as const), aborted(over.signal)]))
    } catch (error) {
      if (!(error instanceof Error)) throw error
      return found(/auth|401/i.test(error.message) ? 'needs_auth' : 'failed')
    } finally {
      // Without this the server keeps the session of each probe; one that does not answer is not waited for.
      if ('terminateSession' in transport && !over.signal.aborted)
        await Promise.race([transport.terminateSession().catch(() => undefined), aborted(over.signal)])
      timer.cancel()
      await client.close()
    }
  }

  async #transport(start: NonNullable<ProbedServer['start']>) {
    if ('url' in start) {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
      return new StreamableHTTPClientTransport(new URL(start.url), { requestInit: { headers: start.headers } })
    }
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
    const [command = '', ...args] = start.words
    return new StdioClientTransport({
      command,
      args,
      env: { ...cleaned(this.#env), ...start.env },
      ...(start.cwd === undefined ? {} : { cwd: start.cwd }),
      stderr: 'ignore',
    })
  }
}

const UNKNOWN: Health = { state: 'unknown', checkedMs: 0, latencyMs: null }

const aborted = (signal: AbortSignal): Promise<'timeout'> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve('timeout'), { once: true }))

function cleaned(env: Env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
