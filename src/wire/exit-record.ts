// How a session ended, as its record says it: written by its process, or by whoever settles what that has left. Pure.
import { fromJson, isWords } from './json-text.ts'
import type { Holder } from './pid-file.ts'
import type { SessionAct } from './session-acts.ts'

/** How a session ended, kept after everything else of it is gone. */
export interface ExitRecord {
  readonly id: string
  /** The child's code; 128 + n when signal n ended it. */
  readonly exit_code: number
  readonly signal: number | null
  /** `exit`, `kill` (asked for through the socket or by SIGTERM), or `lost` (the supervisor died; settled later). */
  readonly reason: 'exit' | 'kill' | 'lost'
  readonly pid: number
  readonly supervisor_pid: number
  readonly command: readonly string[]
  readonly cwd: string
  readonly started_at: string
  readonly ended_at: string
  readonly output_bytes: number
  /** Processes of the tree that had to be ended after the child. */
  readonly swept: number
  /** Who asked for the end, or had what was left of a lost session ended; null when it ended by itself. */
  readonly ended_by: string | null
  /** Of a lost session: pid and command of what was ended, the first of them. */
  readonly swept_processes?: readonly string[]
  /** What clients have done to it, and who they were; absent in records of an older version, and where nobody did anything. */
  readonly acts?: readonly SessionAct[]
}

/** Nothing for a text that is not one of these. */
export function parseExitRecord(text: string | undefined): ExitRecord | undefined {
  const value = fromJson(text)
  if (!isExitRecord(value)) return undefined
  // Older records, and those that others have written, do not say it.
  return { ...value, ended_by: typeof value.ended_by === 'string' ? value.ended_by : null }
}

/** The holder's own, and not that of an earlier session of the id: it has ended. */
export const isOfHolder = (record: ExitRecord | undefined, { supervisorPid }: Holder): boolean =>
  record?.supervisor_pid === supervisorPid

export const encodeExitRecord = (record: ExitRecord): string => `${JSON.stringify(record)}\n`

function isExitRecord(value: unknown): value is ExitRecord {
  if (typeof value !== 'object' || value === null) return false
  const { exit_code, command, ...rest } = value as Partial<Record<keyof ExitRecord, unknown>>
  const isNumber = (one: unknown): boolean => Number.isSafeInteger(one)
  const isTime = (one: unknown): boolean => typeof one === 'string' && !Number.isNaN(Date.parse(one))
  return (
    isNumber(exit_code) &&
    isWords(command) &&
    [rest.pid, rest.supervisor_pid].every(isNumber) &&
    [rest.started_at, rest.ended_at].every(isTime) &&
    typeof rest.reason === 'string'
  )
}
