// What is on record at the end: read from the records themselves, by the commands that anybody has.
import type { Processes } from './processes.ts'
import { DISPATCHED } from './play.ts'

type Fields = Readonly<Record<string, unknown>>

export interface Summary {
  readonly runs: readonly {
    readonly run_id: string
    readonly agent: string
    readonly status: string
    readonly calls: number
    readonly refused: number
  }[]
  /** Events of coordination by type. */
  readonly events: Readonly<Record<string, number>>
  readonly tokens: { readonly verbatim: number; readonly by_reference: number; readonly saved_percent: number }
  readonly dispatch: {
    readonly task: string
    readonly state: string
    readonly attempts: readonly { readonly worker: string; readonly state: string; readonly reason: string | null }[]
  }
}

export async function summarize(
  processes: Processes,
  runs: ReadonlyMap<string, { readonly agent: string }>,
): Promise<Summary> {
  const [shown, history, delta, task] = await Promise.all([
    Promise.all([...runs.keys()].map((id) => processes.must(['runs', 'show', id]))),
    processes.must(['claim', 'history', '--last', '1000']),
    processes.must(['tokens', 'delta', '--all']),
    processes.must(['task', 'show', DISPATCHED]),
  ])
  return {
    runs: shown.map(({ run }) => runOf(run as Fields)),
    events: countBy((history as unknown as readonly Fields[]).map(({ event_type }) => String(event_type))),
    tokens: savingOf((delta['roles'] as readonly Fields[])[0] ?? {}),
    dispatch: {
      task: DISPATCHED,
      state: String(task['state']),
      attempts: (task['list'] as readonly Fields[]).map((attempt) => ({
        worker: String(attempt['worker']),
        state: String(attempt['state']),
        reason: reasonOf(attempt['result'] as Fields | null),
      })),
    },
  }
}

function runOf({ run_id, agent_id, status, calls }: Fields): Summary['runs'][number] {
  const { total, blocked, throttled } = (calls ?? {}) as Readonly<Record<string, number>>
  return {
    run_id: String(run_id),
    agent: String(agent_id),
    status: String(status),
    calls: total ?? 0,
    refused: (blocked ?? 0) + (throttled ?? 0),
  }
}

function savingOf({ baseline, tokens }: Fields): Summary['tokens'] {
  const before = Number((baseline as Fields | null)?.['tokens'])
  const after = Number(tokens)
  return { verbatim: before, by_reference: after, saved_percent: Math.round((1 - after / before) * 100) }
}

const reasonOf = (result: Fields | null): string | null =>
  typeof result?.['blocked_reason'] === 'string' ? result['blocked_reason'] : null

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
