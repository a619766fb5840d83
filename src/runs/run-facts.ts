// What is to be said of a run: who, since when, how it went so far, and how much room it takes.
import { basename } from 'node:path'
import { bootId } from '../boot-id.ts'
import type { RunIdentity, RunStatus, UsageTotal } from '../events/types.ts'
import { isAlive } from './process-start.ts'
import { type RecordLine, RecordReader } from './record-reader.ts'
import { readFold } from './read-fold.ts'
import { costOf } from './run-cost.ts'
import type { RunFolder } from './run-folder.ts'
import { lookAtMembers } from './run-members.ts'
import { isStatus, type RunTotals } from './run-totals.ts'

export interface RunFacts {
  /** Null where nothing of the record can be read. */
  readonly run_id: string | null
  readonly folder: string
  /** Lost where the record tells of no end and all that could have written one is gone; unknown where it tells of no start. */
  readonly state: 'open' | 'ended' | 'lost' | 'unknown'
  /** Of a run that goes on, the worst that was reported so far. */
  readonly status: RunStatus | 'unknown'
  readonly segment: number
  readonly agent_id: string | null
  readonly client: string | null
  readonly haid: string | null
  readonly session_id: string | null
  readonly started_at: string | null
  readonly changed_at: string
  readonly calls: RunTotals['counts']
  /** What its models have cost so far; null where none was heard of. */
  readonly cost: UsageTotal | null
  /** Processes that take part in it now. */
  readonly members: number
  readonly bytes: number
}

export function factsOf({ runDir, changedMs, bytes }: RunFolder): RunFacts {
  const who = identityIn(runDir)
  const totals = totalsOf(runDir)
  const { alive, dead } = lookAtMembers(runDir)
  return {
    run_id: who?.run_id ?? null,
    folder: basename(runDir),
    state: stateOf(totals, alive.length, dead.length),
    status: totals.segment > 0 && isStatus(totals.status) ? totals.status : 'unknown',
    segment: totals.segment,
    agent_id: who?.agent_id ?? null,
    client: who?.client ?? null,
    haid: who?.haid ?? null,
    session_id: who?.session_id ?? null,
    started_at: totals.startedMs === null ? null : new Date(totals.startedMs).toISOString(),
    changed_at: new Date(changedMs).toISOString(),
    calls: totals.counts,
    cost: costOf(runDir) ?? null,
    members: alive.length,
    bytes,
  }
}

function stateOf(totals: RunTotals, alive: number, dead: number): RunFacts['state'] {
  if (alive > 0) return 'open'
  if (totals.segment === 0) return 'unknown'
  if (totals.hasEnded) return 'ended'
  return isProvedLost(totals, dead) ? 'lost' : 'open'
}

/**
 * No process takes part, and what the run was about is gone: its process, or the boot that it ran under. Of a run that is
 * about no process, members that died without leaving are proof enough. Commands that may write close it.
 */
function isProvedLost({ parent, startedAt }: RunTotals, dead: number): boolean {
  if (parent === null) return dead > 0
  return (startedAt !== null && startedAt.bootId !== bootId()) || !isAlive(parent)
}

export const totalsOf = (runDir: string): RunTotals => readFold(runDir).totals

/** Of the first event that the record tells. */
export function identityIn(runDir: string): RunIdentity | undefined {
  let found: RunIdentity | undefined
  eachLine(runDir, 0, ({ event }) => {
    found = event as unknown as RunIdentity
    return false
  })
  return found
}

function eachLine(runDir: string, from: number, visit: (line: RecordLine) => boolean): void {
  const reader = new RecordReader(runDir, from)
  try {
    for (const line of reader.rest()) if (!visit(line)) return
  } finally {
    reader.close()
  }
}
