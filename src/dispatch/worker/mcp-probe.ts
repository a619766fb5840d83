// Whether MCP servers answer: each is really started, greeted and pinged, a few at a time, and the answer is kept for moments.
import type { Clock } from '../../clock.ts'
import type { Env } from '../../paths.ts'
import { MCP_PROBE_MS, MCP_PROBES_AT_ONCE } from '../../limits.ts'
import type { HEALTH } from '../messages.ts'

/** A server as a host's configuration has it; without a command line, the reason why there is none. */
export interface ProbedServer {
  readonly name: string
  readonly start: {
    readonly words: readonly string[]
    readonly env: Readonly<Record<string, string>>
    readonly cwd: string | undefined
  } | null
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
  #asking: Promise<void> | undefined

  constructor(env: Env, clock: Clock) {
    this.#env = env
    this.#clock = clock
  }

  /** What is known of each, of this moment or of a few seconds ago. */
  async health(servers: readonly ProbedServer[], keptMs: number): Promise<ReadonlyMap<string, Health>> {
    const isOld = (name: string): boolean => {
      const known = this.#kept.get(name)
      return (
        known === undefined ||
        this.#clock.wallMs() - known.checkedMs >= keptMs ||
        known.checkedMs > this.#clock.wallMs()
      )
    }
    if (this.#asking !== undefined) await this.#asking
    const due = servers.filter(({ name }) => isOld(name))
    if (due.length > 0) {
      this.#asking = this.#probeAll(due).finally(() => {
        this.#asking = undefined
      })
      await this.#asking
    }
    return new Map(servers.map(({ name }) => [name, this.#kept.get(name) ?? UNKNOWN]))
  }

  async #probeAll(servers: readonly ProbedServer[]): Promise<void> {
    const waiting = [...servers]
    const next = async (): Promise<void> => {
      for (let server = waiting.shift(); server !== undefined; server = waiting.shift())
        this.#kept.set(server.name, await this.#probe(server))
    }
    await Promise.all(Array.from({ length: MCP_PROBES_AT_ONCE }, next))
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
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
    const [command = '', ...args] = start.words
    const transport = new StdioClientTransport({
      command,
      args,
      env: { ...cleaned(this.#env), ...start.env },
      ...(start.cwd === undefined ? {} : { cwd: start.cwd }),
      stderr: 'ignore',
    })
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
      timer.cancel()
      await client.close()
    }
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
