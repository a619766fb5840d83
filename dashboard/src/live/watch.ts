// What the page knows of the fleet: made from the hub's feed alone, and kept while the hub is away.
import type {
  AgentCard,
  Banner,
  Call,
  ConversationRow,
  HubReply,
  LiveEvents,
  Thumbnail,
  FleetTotals,
  WaitCard,
} from '../../../src/hub/contract.ts'

type Connection =
  | { readonly status: 'connecting' }
  | { readonly status: 'live'; readonly caughtUp: number | null; readonly backSince: number | null }
  /** `isTaken`: another program answers at the address of the hub. */
  | { readonly status: 'lost'; readonly lostAt: number; readonly retryAt: number; readonly isTaken: boolean }
  | { readonly status: 'signed-out'; readonly isTaken: boolean }
  /** The address names a project that the hub does not show. */
  | { readonly status: 'no-project'; readonly hub: HubReply }

export interface KnownFleet {
  readonly hub: HubReply | null
  readonly connection: Connection
  /** The hub's clock minus the browser's. */
  readonly skewMs: number
  /** Hub time of what is shown. */
  readonly shownAt: string | null
  readonly agents: ReadonlyMap<string, AgentCard>
  readonly order: readonly string[]
  /** Oldest first. */
  readonly waits: readonly WaitCard[]
  readonly totals: FleetTotals | null
  readonly banners: readonly Banner[]
  /** An agent or a wait was there at some time since the page was loaded. */
  readonly hasHadWork: boolean
  /** Counts how often the hub's stores were others than before. */
  readonly generation: number
}

const EMPTY: KnownFleet = {
  hub: null,
  connection: { status: 'connecting' },
  skewMs: 0,
  shownAt: null,
  agents: new Map(),
  order: [],
  waits: [],
  totals: null,
  banners: [],
  hasHadWork: false,
  generation: 0,
}

let current = EMPTY
const listeners = new Set<() => void>()

export const watchNow = (): KnownFleet => current

export function onWatchChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function change(part: Partial<KnownFleet>): void {
  current = { ...current, ...part }
  for (const listener of listeners) listener()
}

/** One `state` event: everything at first, what has changed afterwards. */
export function takeState(state: LiveEvents['state']): void {
  const agents = new Map(state.whole ? [] : current.agents)
  for (const gone of state.agents_gone) agents.delete(gone)
  for (const agent of state.agents) agents.set(agent.agent_id, agent)
  const changed = new Set([...state.waits_gone, ...state.waits.map(({ wait_id }) => wait_id)])
  const kept = state.whole ? [] : current.waits.filter(({ wait_id }) => !changed.has(wait_id))
  const totals = state.totals ?? current.totals
  change({
    agents,
    order: state.order ?? (state.whole ? [...agents.keys()] : current.order),
    waits: [...kept, ...state.waits].sort(byAge),
    totals,
    hasHadWork: current.hasHadWork || (totals !== null && totals.agents + totals.waits > 0),
    banners: state.banners ?? current.banners,
    shownAt: state.at,
    skewMs: Date.parse(state.at) - Date.now(),
  })
}

/** Oldest first; snoozed ones come last. */
function byAge(one: WaitCard, other: WaitCard): number {
  if ((one.snoozed_until === null) !== (other.snoozed_until === null)) return one.snoozed_until === null ? -1 : 1
  return one.since < other.since ? -1 : one.since > other.since ? 1 : one.wait_id < other.wait_id ? -1 : 1
}

// Screens change far more often than the rest, so that only the thumbnails hear of them.
const screens = new Map<string, Thumbnail>()
const screenListeners = new Map<string, Set<() => void>>()

export const screenOf = (session: string): Thumbnail | undefined => screens.get(session)

export function onScreen(session: string, listener: () => void): () => void {
  const those = screenListeners.get(session) ?? new Set()
  screenListeners.set(session, those.add(listener))
  return () => those.delete(listener)
}

export function takeScreens(those: readonly Thumbnail[]): void {
  for (const screen of those) {
    screens.set(screen.session_id, screen)
    for (const listener of screenListeners.get(screen.session_id) ?? []) listener()
  }
}

export interface LogPart {
  readonly rows: readonly ConversationRow[]
  readonly calls: readonly Call[]
}

const logListeners = new Set<(part: LogPart) => void>()

/** What happened, in order and once each, for lists that grow while they are looked at. */
export function onLog(listener: (part: LogPart) => void): () => void {
  logListeners.add(listener)
  return () => logListeners.delete(listener)
}

export function takeLog(part: LogPart): void {
  for (const listener of logListeners) listener(part)
}
