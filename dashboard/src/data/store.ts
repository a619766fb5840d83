// The page's one store: the fleet as the live feed describes it, the connection to the hub, and what is local to this tab. Replies to requests are in the query cache, not here.
import { create } from 'zustand'
import type {
  AgentCard,
  Banner,
  FleetTotals,
  HubReply,
  LiveEvents,
  Thumbnail,
  WaitCard,
} from '../../../src/hub/contract.ts'
import type { HubError } from './hub-error.ts'

type Connection =
  | { readonly status: 'connecting' }
  | { readonly status: 'live'; readonly caughtUp: number | null; readonly backSince: number | null }
  /** `isTaken`: another program answers at the address of the hub. */
  | { readonly status: 'lost'; readonly lostAt: number; readonly retryAt: number; readonly isTaken: boolean }
  | { readonly status: 'signed-out'; readonly isTaken: boolean }
  /** The address names a project that the hub does not show. */
  | { readonly status: 'no-project'; readonly hub: HubReply }

/** Snapshot and patches of the feed. It stays as it is while the hub is not reached. */
interface FleetState {
  /** Hub time of the last patch. */
  readonly shownAt: string | null
  /** The hub's clock minus the browser's. */
  readonly skewMs: number
  readonly agents: ReadonlyMap<string, AgentCard>
  readonly order: readonly string[]
  /** Oldest first. */
  readonly waits: readonly WaitCard[]
  readonly totals: FleetTotals | null
  readonly banners: readonly Banner[]
  /** True once an agent or a wait was seen since the page was loaded. */
  readonly hasHadWork: boolean
}

interface PageState extends FleetState {
  readonly hub: HubReply | null
  readonly connection: Connection
  /** The browser's clock, once a second. */
  readonly nowMs: number
  /** Terminal thumbnails by session. */
  readonly screens: ReadonlyMap<string, Thumbnail>
  /** Lines per thumbnail that the current screen shows; 0 for none. */
  readonly screenLines: number
  /** Calls received since the page was loaded. */
  readonly callsReceived: number
  readonly signInError: HubError | null
  /** The command that shows the current screen in a terminal. */
  readonly terminalCommand: string
  /** Read out by screen readers. */
  readonly announcement: string
  /** Where "Now" leads back to from the timeline. */
  readonly presentHref: string
}

export const useStore = create<PageState>()(() => ({
  shownAt: null,
  skewMs: 0,
  agents: new Map(),
  order: [],
  waits: [],
  totals: null,
  banners: [],
  hasHadWork: false,
  hub: null,
  connection: { status: 'connecting' },
  nowMs: Date.now(),
  screens: new Map(),
  screenLines: 0,
  callsReceived: 0,
  signInError: null,
  terminalCommand: 'heimdall status',
  announcement: '',
  presentHref: '#/needs-you',
}))

/** A `state` event: a whole snapshot first, then patches. */
export function patchFleet(before: FleetState, patch: LiveEvents['state']): FleetState {
  const agents = new Map(patch.whole ? [] : before.agents)
  for (const id of patch.agents_gone) agents.delete(id)
  for (const agent of patch.agents) agents.set(agent.agent_id, agent)
  const changed = new Set([...patch.waits_gone, ...patch.waits.map(({ wait_id }) => wait_id)])
  const kept = patch.whole ? [] : before.waits.filter(({ wait_id }) => !changed.has(wait_id))
  const totals = patch.totals ?? before.totals
  return {
    agents,
    order: patch.order ?? (patch.whole ? [...agents.keys()] : before.order),
    waits: [...kept, ...patch.waits].sort(byAge),
    totals,
    hasHadWork: before.hasHadWork || (totals !== null && totals.agents + totals.waits > 0),
    banners: patch.banners ?? before.banners,
    shownAt: patch.at,
    skewMs: Date.parse(patch.at) - Date.now(),
  }
}

/** True when a wait came or went; one for another leaves the number as it was. */
export function hasOtherWaits(before: readonly WaitCard[], now: readonly WaitCard[]): boolean {
  const known = new Set(before.map(({ wait_id }) => wait_id))
  return known.size !== now.length || now.some(({ wait_id }) => !known.has(wait_id))
}

/** Oldest first, snoozed waits last. */
function byAge(one: WaitCard, other: WaitCard): number {
  if ((one.snoozed_until === null) !== (other.snoozed_until === null)) return one.snoozed_until === null ? -1 : 1
  return one.since < other.since ? -1 : one.since > other.since ? 1 : one.wait_id < other.wait_id ? -1 : 1
}
