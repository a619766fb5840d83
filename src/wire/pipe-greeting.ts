// The line that `hm pipe` says before anything else: what there is at the other end, or why there is nothing. Pure.
import { fromJson } from './json-text.ts'
import type { ExitRecord } from './exit-record.ts'

/** A shell may print what it likes before the program speaks, so its line is known by how it begins. */
const MARK = 'heimdall-pipe/1 '

export type PipeGreeting =
  /** The session's own bytes follow. */
  | { readonly state: 'running'; readonly id: string }
  /** What it said last follows, as it is kept, and then the end; nothing where nothing was kept. */
  | {
      readonly state: 'ended'
      readonly id: string
      readonly exit: ExitRecord | null
      readonly kept_bytes: number
    }
  | { readonly state: 'list'; readonly sessions: readonly unknown[] }
  | {
      readonly state: 'refused'
      readonly code: string
      readonly message: string
      readonly hint: string | null
      readonly details: Readonly<Record<string, unknown>>
    }

export const encodeGreeting = (greeting: PipeGreeting): string => `\n${MARK}${JSON.stringify(greeting)}\n`

export interface FoundGreeting {
  readonly greeting: PipeGreeting
  /** Where the bytes after it begin. */
  readonly end: number
}

/** Nothing while the line is not there in full. */
export function findGreeting(bytes: Buffer): FoundGreeting | undefined {
  const at = bytes.indexOf(`\n${MARK}`)
  const end = at < 0 ? -1 : bytes.indexOf(0x0a, at + 1)
  if (end < 0) return undefined
  const value = fromJson(bytes.toString('utf8', at + 1 + MARK.length, end))
  return isGreeting(value) ? { greeting: value, end: end + 1 } : undefined
}

function isGreeting(value: unknown): value is PipeGreeting {
  if (typeof value !== 'object' || value === null) return false
  const { state, id, sessions, kept_bytes: kept, code, message } = value as Record<string, unknown>
  if (state === 'running') return typeof id === 'string'
  if (state === 'ended') return typeof id === 'string' && Number.isSafeInteger(kept)
  if (state === 'list') return Array.isArray(sessions)
  return state === 'refused' && typeof code === 'string' && typeof message === 'string'
}
