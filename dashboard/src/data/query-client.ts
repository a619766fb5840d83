// The query cache and its defaults. The live feed keeps it fresh: see feed.ts.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import type { Call, ConversationRow } from '../../../src/hub/contract.ts'
import { HubError } from './hub-error.ts'

/** What the feed reported since the last invalidation. */
export interface FeedNews {
  readonly rows: readonly ConversationRow[]
  readonly calls: readonly Call[]
  /** The coordination log has new entries. */
  readonly hasEntries: boolean
  /** Agents whose state is another one. */
  readonly agents: readonly string[]
  /** A wait came or went. */
  readonly hasWaits: boolean
}

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: HubError
    queryMeta: {
      /** Queries for which this holds are refetched. */
      readonly isStaleAfter?: (news: FeedNews) => boolean
    }
  }
}

/** Anything but a refusal of the hub is a bug of the page. */
const reportBug = (error: unknown): void => {
  if (!(error instanceof HubError)) reportError(error)
}

export const newQueryClient = (): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({ onError: reportBug }),
    mutationCache: new MutationCache({ onError: reportBug }),
    defaultOptions: {
      // The feed says when the hub is back, and failed queries are refetched then. A browser without a network reaches a hub on its own machine.
      queries: { retry: false, networkMode: 'always', refetchOnWindowFocus: false, refetchOnReconnect: false },
      mutations: { networkMode: 'always' },
    },
  })
