// The log of a fleet as a store needs it: an entry appended at a place, what is missing read, signs of life told. Implemented in `fleet/`.

import type { HeimdallError } from '../errors.ts'
import type { Annex } from './annex.ts'

/** An entry, known by its number and its id: an engine that lost entries has others of the same number. */
export interface EntryPlace {
  readonly seq: number
  /** Empty before the first entry. */
  readonly id: string
}

export interface LoggedEntry extends EntryPlace {
  /** What writes of this format or a later one can be read by. */
  readonly format: number
  readonly body: string
}

/** The last sign of somebody who lives on another machine: an agent by its HAID, or one who waits by `ticket:N`. */
export interface Sign {
  readonly who: string
  /** Signs so far, by the engine. */
  readonly count: number
  /** By the engine's clock, from the later of the sign and the engine's own start. */
  readonly silentMs: number
}

export interface Append {
  /** The last entry that the decision was made on. */
  readonly at: EntryPlace
  readonly id: string
  readonly body: string
  /** Who has just shown to be alive here. */
  readonly signs: readonly string[]
  /** Those that the decision takes for silent, with the count of their signs: one more, and it is refused. */
  readonly silent: readonly Pick<Sign, 'who' | 'count'>[]
}

/** `accepted` too, when the entry is there already: whoever is not sure sends it again. */
export type Appended =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'behind'; readonly entries: readonly LoggedEntry[] }
  | { readonly kind: 'alive'; readonly signs: readonly Sign[] }
  /** It is another's turn, and was for as long as this could wait. */
  | { readonly kind: 'wait' }

/** Nobody else appends before it is over, so what is decided on all entries is not too late. */
export interface LogTurn {
  /** What this machine lacks. */
  readonly entries: readonly LoggedEntry[]
  /** Once; it ends the turn, whatever the answer. */
  append(entry: Append): Promise<Appended>
  /** Given back, used or not. */
  end(): Promise<void>
}

export interface News {
  readonly entries: readonly LoggedEntry[]
  /** Of others, since the last call. */
  readonly signs: readonly Sign[]
}

export interface LogListener {
  readonly onNews: () => void
  readonly onFailure: (error: HeimdallError) => void
}

/**
 * Errors of every call: ENGINE_UNREACHABLE (nothing was sent), OUTCOME_UNKNOWN (it may have been done), STORE_FORKED
 * (the engine does not have the entry that this machine stands at), FLEET_NEWER (it asks for a later version).
 */
export interface SharedLog {
  /** While it is another's turn this waits in line, or says so at once. */
  append(entry: Append, waits: boolean): Promise<Appended>
  /** In line with the others. Nothing when they had theirs for as long as an answer may take. */
  takeTurn(at: EntryPlace): Promise<LogTurn | undefined>
  /** Signs told, and everything that this machine lacks, a bounded number of entries at a time. */
  hear(at: EntryPlace, signs: readonly string[]): Promise<News>
  /** Texts that are too large for an entry. */
  readonly annex: Annex
  /** Calls back whenever there may be news, until the signal; a hint, which may be lost. Nothing is thrown, then or later: what keeps it from hearing is told. */
  listen(listener: LogListener, signal: AbortSignal): void
  close(): Promise<void>
}

/** Of this store: what stands in the file that only its owner can read. Fails where that is missing. */
export type OpenLog = () => Promise<SharedLog>
