// How a run ended, from its record: its status, the exit of its session, and the rule that terminated it.
import { isObject } from '../plain-object.ts'
import { RecordReader } from './record-reader.ts'

export interface RunEnding {
  readonly ended_at: string | null
  readonly status: string | null
  /** Of the session: exit code or signal, the reason, and who ended it. */
  readonly exit_code: number | null
  readonly signal: string | null
  readonly reason: string | null
  readonly ended_by: string | null
  /** The rule that ended the run, and its message. */
  readonly rule_id: string | null
  readonly summary: string | null
}

export function endingOf(runDir: string): RunEnding {
  let run: unknown
  let session: unknown
  let decision: unknown
  const reader = new RecordReader(runDir)
  try {
    for (const { event } of reader.rest())
      if (event.type === 'run_end') run = event.run
      else if (event.type === 'session_end') session = event['session']
      else if (event.decision?.['action'] === 'TERMINATE_RUN' && event.decision['enforced'] !== false)
        decision = event.decision
  } finally {
    reader.close()
  }
  const code = fieldOf(session, 'exit_code')
  return {
    ended_at: textOf(run, 'ended_at'),
    status: textOf(run, 'status'),
    exit_code: typeof code === 'number' ? code : null,
    signal: textOf(session, 'signal'),
    reason: textOf(session, 'reason'),
    ended_by: textOf(session, 'ended_by'),
    rule_id: textOf(decision, 'rule_id'),
    summary: textOf(fieldOf(decision, 'explain'), 'summary'),
  }
}

const fieldOf = (part: unknown, field: string): unknown => (isObject(part) ? part[field] : undefined)

function textOf(part: unknown, field: string): string | null {
  const value = fieldOf(part, field)
  return typeof value === 'string' ? value : null
}
