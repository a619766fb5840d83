// Every request for data, as options for useQuery: the path, the type of its reply, and what makes it stale.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type {
  AgentReply,
  CallReply,
  ChangesReply,
  ClaimsReply,
  ConversationReply,
  DecisionsReply,
  RoutingReply,
  RunChangesReply,
  RunsReply,
  ScreensReply,
  SearchReply,
  TasksReply,
  TimelineReply,
  TokensReply,
  TreeReply,
  WaitsReply,
  WhyReply,
} from '../../../src/hub/contract.ts'
import { get, getRecording, type QueryParams, segment } from './client.ts'
import type { FeedNews } from './query-client.ts'

interface HubQuery {
  readonly params?: QueryParams
  readonly isStaleAfter?: (news: FeedNews) => boolean
  /** Polled while the tab is visible: the feed does not report these changes. */
  readonly everyMs?: number
}

const hubQuery = <T>(path: string, { params = {}, isStaleAfter, everyMs }: HubQuery = {}) =>
  queryOptions({
    queryKey: [path, params] as const,
    queryFn: ({ signal }) => get<T>(path, params, signal),
    ...(isStaleAfter !== undefined && { meta: { isStaleAfter } }),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  })

export const agentQuery = (agent: string) => hubQuery<AgentReply>(`agents/${segment(agent)}`)

/** Newest page first; the next page is the one before it. */
export function conversationQuery(agent: string) {
  const path = `agents/${segment(agent)}/conversation`
  return infiniteQueryOptions({
    queryKey: [path] as const,
    queryFn: ({ pageParam, signal }) => get<ConversationReply>(path, { before: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ rows, more }) => (more ? rows[0]?.row_id : undefined),
    meta: {
      // A receipt names the sender of its note, but changes the recipient's rows too.
      isStaleAfter: ({ rows, agents }: FeedNews) =>
        agents.includes(agent) ||
        rows.some(
          ({ actor, to, event_type: type }) => actor === agent || to === agent || type === 'READ' || type === 'ACK',
        ),
    },
  })
}

/** Files changed by an agent; with `path` the diff of one. */
export const changesQuery = (agent: string, since: string | undefined, path?: string) =>
  hubQuery<ChangesReply>(`agents/${segment(agent)}/changes`, { params: { path, since }, everyMs: 5_000 })

export const waitsQuery = () => hubQuery<WaitsReply>('waits', { isStaleAfter: ({ hasWaits }) => hasWaits })

/** The last lines of one session's terminal. */
export const screenQuery = (session: string, lines: number) =>
  hubQuery<ScreensReply>('screens', { params: { lines, sessions: session }, everyMs: 1_000 })

export const claimsQuery = () => hubQuery<ClaimsReply>('claims', { isStaleAfter: ({ hasEntries }) => hasEntries })

/** Up to 50,000 files: comparing the reply with the last one would take longer than drawing it. */
export const treeQuery = () => ({
  ...hubQuery<TreeReply>('tree', {
    isStaleAfter: ({ rows }) => rows.some(({ kind }) => kind === 'claim' || kind === 'incursion' || kind === 'task'),
  }),
  structuralSharing: false,
})

export const whyQuery = (path: string) =>
  hubQuery<WhyReply>('why', { params: { path }, isStaleAfter: ({ rows, hasEntries }) => hasEntries || rows.length > 0 })

export interface CallFilter {
  readonly agent?: string | undefined
  readonly run?: string | undefined
  readonly rule?: string | undefined
  readonly decision?: string | undefined
  readonly text?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

const CALLS_PER_PAGE = 200

/** Newest first. Not refetched for new calls: the list must not move while it is read. */
export const callsQuery = (filter: CallFilter) =>
  infiniteQueryOptions({
    queryKey: ['decisions', filter] as const,
    queryFn: ({ pageParam, signal }) =>
      get<DecisionsReply>('decisions', { ...filter, limit: CALLS_PER_PAGE, before: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  })

/** The latest calls of one agent. */
export const latestCallsQuery = (agent: string, limit: number, decision?: string) =>
  hubQuery<DecisionsReply>('decisions', {
    params: { agent, decision, limit },
    isStaleAfter: ({ calls }) => calls.some(({ agent_id }) => agent_id === agent),
  })

export const callQuery = (run: string, call: string) => hubQuery<CallReply>(`calls/${segment(run)}/${segment(call)}`)

export const runsQuery = () => hubQuery<RunsReply>('runs', { everyMs: 5_000 })

/** A run's timeline, or a range of it. As large as the tree, and each range is a query of its own. */
export const timelineQuery = (
  run: string,
  range: { readonly from?: string | undefined; readonly to?: string | undefined } = {},
) => ({
  ...hubQuery<TimelineReply>(`runs/${segment(run)}/timeline`, {
    params: range,
    isStaleAfter: ({ calls, rows }) => rows.length > 0 || calls.some(({ run_id }) => run_id === run),
  }),
  structuralSharing: false,
  gcTime: 0,
})

/** What a run had changed when it ended; with `path` the diff of one file. */
export const runChangesQuery = (run: string, path?: string) =>
  hubQuery<RunChangesReply>(`runs/${segment(run)}/changes`, { params: { path } })

/** An asciicast, as large as the run was long. */
export const recordingQuery = (run: string) =>
  queryOptions({
    queryKey: ['recording', run] as const,
    queryFn: ({ signal }) => getRecording(run, signal),
    staleTime: Infinity,
    gcTime: 0,
  })

/** Costs and announcements of workers are in no log: polled as well. */
export const tasksQuery = () =>
  hubQuery<TasksReply>('tasks', {
    isStaleAfter: ({ rows, calls, hasEntries }) => hasEntries || rows.length + calls.length > 0,
    everyMs: 3_000,
  })

export const routingQuery = (task: string) => hubQuery<RoutingReply>(`tasks/${segment(task)}/routing`)

/** Adding up reads the records of all runs: polled, whatever happens. */
export const tokensQuery = () => hubQuery<TokensReply>('tokens', { everyMs: 5_000 })

export const searchQuery = (text: string) => hubQuery<SearchReply>('search', { params: { q: text } })
