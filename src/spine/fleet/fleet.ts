// What the agents of a project are doing and what waits for a person, as everybody shows it: status, next, top and the hub. Names are those of `--json`.

export const AGENT_STATES = [
  'needs you',
  'collision',
  'looping',
  'stuck',
  'lost',
  'stale',
  'working',
  'idle',
  'done',
  'cancelled',
  'failed',
] as const
export type AgentState = (typeof AGENT_STATES)[number]

const ENDED: ReadonlySet<AgentState> = new Set(['done', 'cancelled', 'failed'])

/** Its session is over, however that came. */
export const hasEnded = (state: AgentState): boolean => ENDED.has(state)

export const WAIT_KINDS = ['permission', 'question', 'needs input', 'collision', 'budget', 'tool changed'] as const
export type WaitKind = (typeof WAIT_KINDS)[number]

/** Who says so (`hook`, `osc`, `screen`, `policy`, `note`, `claims`, `pins`, `task`, `record`, `heartbeat`, `exit` …), and what was seen. */
export interface Evidence {
  readonly source: string
  readonly seen: string
}

/** One way to answer a wait, as the command that does it: its words, and the same as a line to paste. */
export interface WaitAnswer {
  readonly act: 'attach' | 'allow' | 'allow run' | 'deny' | 'ack' | 'look'
  readonly label: string
  readonly argv: readonly [launcher: string, ...words: string[]]
  readonly command: string
}

export interface Wait {
  /** The same for as long as it is the same wait. */
  readonly id: string
  readonly kind: WaitKind
  /** Null where it is of the whole project, such as a tool that nobody at work has asked for. */
  readonly agent_id: string | null
  /** What is asked, in one line of somebody else's words: data, never to be obeyed. */
  readonly asks: string
  /** Of a tool call: target, change and arguments in lines, for a human to judge; else null. */
  readonly detail: string | null
  readonly since: string
  readonly evidence: Evidence
  readonly session_id: string | null
  readonly run_id: string | null
  /** The first is the one to offer. */
  readonly answers: readonly WaitAnswer[]
  /** A person wants to hear of it again at this time; until then it is not counted. */
  readonly snoozed_until: string | null
}

export interface HeldClaim {
  readonly claim_id: string
  readonly scopes: readonly string[]
  readonly epoch: number
  readonly task: string | null
  readonly intent: string | null
  readonly origin: 'local' | 'remote'
  readonly since: string
  readonly expires_at: string
  readonly lease: 'live' | 'lapsed'
}

/** A place in the line for scopes that are held. Derived from the tickets in the store. */
export interface QueuePlace {
  readonly scopes: readonly string[]
  /** 1 is next. */
  readonly place: number
}

export interface Collision {
  readonly id: string
  /** The claim that is in the way. */
  readonly claim_id: string
  readonly wanted: string
  readonly wanted_by: string
  readonly held: string
  readonly held_by: string
  readonly holder_liveness: 'active' | 'stale' | 'evicted'
  readonly expires_at: string
  readonly attempts: number
  readonly since: string
  /** Of whoever wants it, in the line; null when it does not wait in one. */
  readonly place: number | null
}

export interface CallTotals {
  readonly total: number
  readonly allowed: number
  readonly blocked: number
  readonly throttled: number
  readonly errors: number
  /** Of those blocked, how many with a hint. */
  readonly hinted: number
}

/** What models of a run have spent, from the transcripts of its host. */
export interface ModelCost {
  readonly tokens: number
  readonly cached_reads: number
  readonly usd: number
  /** Models without a price, whose tokens are in no dollar. */
  readonly unpriced: readonly string[]
  /** Date of the table of prices. */
  readonly prices: string
}

/** Whether what it writes and calls is held to claims and policy, through what, and how that is known. */
export interface Guard {
  readonly kind: 'guarded' | 'advisory'
  readonly by: readonly string[]
  readonly evidence: string
}

/** From the token ledger: what it cost to tell agents things, not what hosts spent. */
export interface TokenTotals {
  readonly total: number
  readonly cached: number
  readonly measured: number
  readonly declared: number
}

export interface FleetAgent {
  readonly agent_id: string
  /** Null of a plain session, which is nobody in coordination. */
  readonly haid: string | null
  readonly state: AgentState
  /** Since when it is in that state. */
  readonly since: string
  readonly evidence: Evidence
  /** Of the oldest wait that counts. */
  readonly wait_id: string | null
  readonly liveness: 'active' | 'stale' | 'evicted'
  readonly role: string | null
  readonly client: string | null
  readonly program: string | null
  readonly task: { readonly id: string; readonly title: string } | null
  readonly branch: string | null
  readonly cwd: string | null
  readonly session_id: string | null
  readonly socket_dir: string | null
  /** Of one on another machine of the fleet: which, and the session that it was last seen to act in there. */
  readonly elsewhere: { readonly machine: string; readonly session_id: string | null } | null
  readonly run_id: string | null
  readonly started_at: string | null
  readonly claims: readonly HeldClaim[]
  readonly queue: readonly QueuePlace[]
  /** Null where no record of calls is known. */
  readonly calls: CallTotals | null
  readonly tokens: TokenTotals | null
  readonly cost: ModelCost | null
  /** Waits for a person in this run, the open one with them; from what the watcher booked. */
  readonly waited: { readonly count: number; readonly ms: number }
  /** Null where sessions were not asked, and of agents that are over. */
  readonly guard: Guard | null
  /** Of one that has ended. */
  readonly exit_code: number | null
  /** Of one that goes in circles: how often it did the same. */
  readonly repeats: number | null
  /** Its session is provably over. */
  readonly is_over: boolean
  readonly title: string
  /** The last line on its screen; of a run whose session was not asked, as the watcher saw it last. */
  readonly last_line: string | null
}

export interface FleetPolicy {
  readonly policy_id: string
  readonly version: string
  readonly mode: string
  /** Whose runs it governs. */
  readonly agents: readonly string[]
}

export interface Fleet {
  readonly at: string
  readonly project: { readonly root: string; readonly name: string }
  /** Who needs a person first, then who is to be looked at, then the rest. */
  readonly agents: readonly FleetAgent[]
  /** Oldest first; those for later come last. */
  readonly waits: readonly Wait[]
  readonly collisions: readonly Collision[]
  readonly counts: Readonly<Record<AgentState, number>> & {
    readonly agents: number
    /** Waits that count now: without those for later. */
    readonly waiting: number
  }
  readonly calls: CallTotals
  readonly tokens: TokenTotals | null
  /** Of the runs that go on. */
  readonly cost: ModelCost | null
  /** When the first of the runs that go on began. */
  readonly since: string | null
  /** Those that runs were started under; a run without one is in none. */
  readonly policies: readonly FleetPolicy[]
  /** What could not be read, and why: the rest stands. */
  readonly missing: readonly { readonly what: string; readonly code: string; readonly message: string }[]
}
