// heimdall events tail: the latest events of all runs, and each new one as it is written.
import { escapeControls, printable } from '../../../ids.ts'
import { CALLS_IN_FLIGHT_MAX } from '../../../limits.ts'
import { followRuns } from '../../../runs/follow-runs.ts'
import { callFacts } from '../../../runs/index/call-facts.ts'
import type { EventObject } from '../../../runs/index/entry-lines.ts'
import { fieldsOf } from '../../../runs/index/event-fields.ts'
import { knownRun } from '../../../runs/known-run.ts'
import { findRun } from '../../../runs/run-folder.ts'
import { runsDirOf } from '../../../paths.ts'
import type { Run } from '../../command.ts'
import { noticeReaderGone } from '../../output-reader.ts'
import { safeJsonText } from '../../render/json.ts'
import type { eventsTail } from '../../table/events.ts'
import { TextOut } from '../session/text-out.ts'
import { TSV_HEADER, tsvRow } from './call-columns.ts'
import { eventLine } from './event-line.ts'

export const run: Run<typeof eventsTail> = async ({ env, clock, stdout, json, isSeedName, note }, { flags }) => {
  const runsDir = runsDirOf(env)
  const follow = flags.follow === true || isSeedName
  if (flags.run !== undefined && !follow) knownRun(runsDir, flags.run)
  if (flags.run !== undefined && follow && findRun(runsDir, flags.run) === undefined) note(awaited(flags.run))
  const out = new TextOut(stdout)
  const over = new AbortController()
  const rows = isSeedName && !json ? new CallRows() : undefined
  const lines = followRuns({
    runsDir,
    run: flags.run,
    last: flags.limit,
    follow,
    clock,
    signal: over.signal,
  })
  const noticed = noticeReaderGone(clock, over.signal, () => over.abort())
  if (rows !== undefined) await out.write(`${TSV_HEADER.join('\t')}\n`)
  for await (const { event, text } of lines) {
    const line = json ? safeJsonText(text) : rows === undefined ? escapeControls(eventLine(event)) : rows.take(event)
    if (line !== undefined && !(await out.write(`${line}\n`))) break
  }
  over.abort()
  await noticed
  return { data: null, text: '', streamed: true }
}

/** Whoever follows may come before the run does. */
export const awaited = (run: string): string => `no run has the id ${printable(run)} yet; waiting for it`

/** Rows of calls from their events: one with the decision, one with the end. */
class CallRows {
  /** Of calls that have not ended. */
  readonly #starts = new Map<string, { first?: EventObject; decision?: EventObject }>()

  take(event: EventObject): string | undefined {
    const { type, callId, runId, atMs, ...fields } = fieldsOf(event)
    if (callId === null || runId === null || !type.startsWith('tool_call_')) return undefined
    const key = `${runId} ${callId}`
    const known = this.#starts.get(key) ?? {}
    if (type === 'tool_call_end') this.#starts.delete(key)
    else this.#remember(key, type === 'tool_call_start' ? { ...known, first: event } : { ...known, decision: event })
    if (type === 'tool_call_start') return undefined
    const { first, decision } = type === 'tool_call_decision' ? { ...known, decision: event } : known
    const decided = decision === undefined ? fields : fieldsOf(decision)
    const entry = { id: 0, runId, record: '', atMs: first === undefined ? atMs : fieldsOf(first).atMs, type, callId }
    const places = { first: null, decided: null, ended: null }
    const names = { ...fields, decision: decided.decision, rule: decided.rule, reason: decided.reason }
    const end = type === 'tool_call_end' ? event : undefined
    const call = callFacts({ ...entry, ...names, ...places }, { first, decision, end })
    return tsvRow(call)
  }

  #remember(key: string, call: { first?: EventObject; decision?: EventObject }): void {
    const [oldest] = this.#starts.keys()
    if (this.#starts.size >= CALLS_IN_FLIGHT_MAX && oldest !== undefined) this.#starts.delete(oldest)
    this.#starts.set(key, call)
  }
}
