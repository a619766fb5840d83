// What really happens, as it happens: coordination and the records of the fleet's runs, told in lines, and waited for.
import type { Clock } from '../clock.ts'
import { openCoordination } from '../coordination/coordination.ts'
import { roomOptions } from '../coordination/room-options.ts'
import type { StoredEvent } from '../coordination/store.ts'
import { HeimdallError } from '../errors.ts'
import type { Env } from '../paths.ts'
import { runsDirOf } from '../paths.ts'
import { followRuns } from '../runs/follow-runs.ts'
import { fieldsOf } from '../runs/index/event-fields.ts'

export interface Happening {
  readonly atMs: number
  readonly who: string
  /** Type of an event of coordination or of a run. */
  readonly type: string
  readonly text: string
}

type Fields = Readonly<Record<string, unknown>>

export interface StoryOptions {
  readonly root: string
  readonly env: Env
  readonly clock: Clock
  readonly tell: (happening: Happening) => void
}

export class Story {
  readonly #options: StoryOptions
  readonly #over = new AbortController()
  readonly #waiting = new Set<() => void>()
  /** Everything that was told, in the order in which it was found. */
  readonly happened: Happening[] = []
  /** Runs of the fleet, by id: whose, and whether they have ended. */
  readonly runs = new Map<string, { readonly agent: string; isOver: boolean }>()
  /** Workers that have announced themselves. */
  readonly workers = new Set<string>()
  #following: Promise<unknown> = Promise.resolve()

  constructor(options: StoryOptions) {
    this.#options = options
  }

  async begin(): Promise<void> {
    const { root, env, clock } = this.#options
    const room = openCoordination(await roomOptions({ cwd: root, env, clock }))
    const from = room.store.read((rows) => rows.head())
    const { signal } = this.#over
    const coordination = async (): Promise<void> => {
      try {
        for await (const { events } of room.store.follow(from, signal))
          for (const event of events) this.#coordinated(event)
      } finally {
        room.store.close()
      }
    }
    const records = async (): Promise<void> => {
      for await (const { event } of followRuns({ runsDir: runsDirOf(env), last: 0, follow: true, clock, signal }))
        this.#recorded(event)
    }
    this.#following = Promise.all([coordination(), records()])
    // Whoever waits for the end of the story hears of it; until then nobody may miss it.
    this.#following.catch(() => this.#over.abort())
  }

  /** Resolves once something has happened; refuses when the story ends without it. */
  async until(what: string, has: (story: Story) => boolean): Promise<void> {
    while (!has(this)) {
      if (this.#over.signal.aborted) throw new HeimdallError('INTERRUPTED', `the demo ended before ${what}`)
      await new Promise<void>((resolve) => {
        const next = (): void => {
          this.#waiting.delete(next)
          this.#over.signal.removeEventListener('abort', next)
          resolve()
        }
        this.#waiting.add(next)
        this.#over.signal.addEventListener('abort', next)
      })
    }
  }

  has(type: string, who: string): boolean {
    return this.happened.some((one) => one.type === type && one.who === who)
  }

  async end(): Promise<void> {
    this.#over.abort()
    await this.#following
  }

  #coordinated(event: StoredEvent): void {
    const { type, wallMs, actor, payload } = event
    if (type === 'WORKER') this.workers.add(String(payload['worker']))
    this.#add({ atMs: wallMs, who: agentName(actor), type, text: textOf(event) })
  }

  #recorded(event: Fields): void {
    const { type, atMs, runId, agent, tool, decision, rule, status } = fieldsOf(event)
    if (runId === null) return
    if (type === 'run_start') {
      const { meta } = (event['run'] ?? {}) as { readonly meta?: { readonly project?: string } }
      if (meta?.project !== this.#options.root) return
      this.runs.set(runId, { agent: agent ?? '?', isOver: false })
    }
    const run = this.runs.get(runId)
    if (run === undefined) return
    if (type === 'run_end') run.isOver = true
    const explained = ((event['decision'] ?? {}) as { readonly explain?: { readonly summary?: string } }).explain
    const wait = (event['wait'] ?? {}) as { readonly evidence?: string; readonly answer?: string }
    const texts: Readonly<Record<string, string | undefined>> = {
      run_start: 'run begins',
      run_end: `run ends: ${status ?? '?'}`,
      tool_call_decision:
        decision === 'ALLOW'
          ? `${tool ?? '?'} allowed`
          : `${tool ?? '?'} refused by ${rule ?? '?'}: ${explained?.summary ?? ''}`,
      wait_start: `needs you: ${wait.evidence ?? ''}`,
      wait_end: 'goes on',
    }
    const text = texts[type]
    if (text !== undefined) this.#add({ atMs, who: run.agent, type, text })
  }

  #add(happening: Happening): void {
    const last = this.happened.at(-1)
    this.happened.push(happening)
    // A note to everybody is one event for each of them.
    const isAgain = last?.type === happening.type && last.who === happening.who && last.text === happening.text
    if (happening.text !== '' && !isAgain) this.#options.tell(happening)
    for (const wake of this.#waiting) wake()
  }
}

/** The last part of a HAID. */
const agentName = (haid: string | null): string => haid?.split('/').at(-1) ?? 'heimdall'

function textOf({ type, to, scope, task, payload }: StoredEvent): string {
  const of = (name: string): string => (typeof payload[name] === 'string' ? payload[name] : '')
  switch (type) {
    case 'CLAIM':
      return `claims ${scope ?? ''}`
    case 'RELEASE':
      return of('reason') === 'released' ? 'releases what others wait for' : 'lets go of what it held'
    case 'INCURSION':
      return `runs into ${agentName(of('owner_agent'))}, which is ${of('owner_liveness')} and holds ${scope ?? ''}`
    case 'TAKEOVER':
      return `takes over ${scope ?? ''}`
    case 'HANDOFF':
      return `hands over to ${agentName(to)}: ${of('subject')}`
    case 'INFO':
      return `tells everybody: ${of('subject')}`
    case 'ACK':
      return 'accepts the handoff'
    case 'TASK_START':
      return `begins task ${task ?? ''}`
    case 'TASK_END':
      return `ends task ${task ?? ''}`
    case 'WORKER':
      return `worker ${of('worker')} is ${of('state')}`
    case 'TASK_QUEUED':
      return payload['why'] === undefined
        ? `task ${task ?? ''} is queued`
        : `task ${task ?? ''} goes back: ${of('why')}`
    case 'TASK_SENT':
      return `task ${task ?? ''} is sent to ${of('worker')}`
    default:
      return ''
  }
}
