// heimdall events, events show and events tail: searches in the run index, and the latest events of the records.
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import { runsDirOf } from '../../paths.ts'
import { followRuns } from '../../runs/follow-runs.ts'
import { callFacts, objectIn } from '../../runs/index/call-facts.ts'
import type { EventObject } from '../../runs/index/entry-lines.ts'
import { nextCalls } from '../../runs/index/next-calls.ts'
import { type Search, search } from '../../runs/index/search.ts'
import { knownRun } from '../../runs/known-run.ts'
import { findRun } from '../../runs/run-folder.ts'
import type { Context, InputOf, Run } from '../command.ts'
import { momentIn } from '../moment-in.ts'
import { noticeReaderGone } from '../output-reader.ts'
import { behindText, refuseUnknownRun, withRecords } from '../record-index.ts'
import { safeJsonText } from '../render/json.ts'
import { renderTable } from '../render/style.ts'
import { type RunScope, runScope } from '../this-repository.ts'
import { callText, CallRows, eventLine, TABLE_HEADER, tableRow, TSV_HEADER, tsvRow } from './event-text.ts'
import type { eventsSpec, exportSpec, showSpec, tailSpec } from './events.ts'
import { TextOut } from '../text-out.ts'
import { usageError } from '../usage-error.ts'

export const query: Run<typeof eventsSpec> = async (context, { flags }) => {
  const { limit, order, type } = flags
  const scope = await scopeOf(context, flags)
  const wanted = { ...searchOf(context, flags, scope), order, type, limit: limit === 0 ? undefined : limit }
  return await withRecords(context, flags, (records) => {
    refuseUnknownRun(records, context, flags)
    const entries = search(records.index, wanted)
    const { behind, lines } = records
    if (!context.json) for (const text of behindText(records, flags.file !== undefined)) context.note(`note: ${text}`)
    if (type !== undefined) {
      const events = entries.flatMap((entry) => lines.linesOf(entry)).map((line) => JSON.parse(line) as EventObject)
      const text = events.map((event) => escapeControls(eventLine(event))).join('\n')
      return { data: { events, behind }, text: text === '' ? 'No events.' : text }
    }
    const isNamed = flags['all-projects'] === true
    const calls = entries.map((entry) => {
      const call = callFacts(entry, lines.eventsOf(entry))
      return isNamed ? { ...call, project: scope.pathOf(entry.origin) } : call
    })
    if (flags.tsv === true || context.isSeedName)
      return { data: { calls, behind }, text: [TSV_HEADER.join('\t'), ...calls.map(tsvRow)].join('\n') }
    const rows = calls.map((call) => [...tableRow(call), ...('project' in call ? [call.project ?? '-'] : [])])
    const table = renderTable(context.style, isNamed ? [...TABLE_HEADER, 'PROJECT'] : TABLE_HEADER, rows)
    return { data: { calls, behind }, text: calls.length === 0 ? noCalls(scope) : table }
  })
}

const noCalls = ({ has }: RunScope): string =>
  has === undefined ? 'No calls.' : 'No calls in this repository; --all-projects searches all.'

export const show: Run<typeof showSpec> = (context, { args, flags }) =>
  withRecords(context, flags, (records) => {
    if (!context.json) for (const text of behindText(records, flags.file !== undefined)) context.note(`note: ${text}`)
    refuseUnknownRun(records, context, flags)
    const all = search(records.index, { callId: args.call, run: flags.run, type: 'all', order: 'oldest' })
    const entry = all.findLast(({ type }) => type === 'tool_call')
    if (entry === undefined)
      throw new HeimdallError('CALL_NOT_FOUND', `no call has the id ${printable(args.call)}`, {
        hint: 'heimdall events lists calls with their ids',
      })
    const decision = objectIn(records.lines.eventsOf(entry).decision, 'decision')
    const call = callFacts(entry, records.lines.eventsOf(entry))
    const events = all
      .filter(({ record }) => record === entry.record)
      .flatMap((one) => records.lines.linesOf(one))
      .map((line) => JSON.parse(line) as EventObject)
    const next = nextCalls(records, entry, call, decision)
    return {
      data: { call, decision: decision ?? null, events, next },
      text: callText(call, decision, { events, next }),
    }
  })

export const tail: Run<typeof tailSpec> = async (context, { flags }) => {
  const { env, clock, stdout, json, isSeedName, note } = context
  const runsDir = runsDirOf(env)
  const follow = flags.follow === true || isSeedName
  const { has } = await scopeOf(context, { ...flags, file: undefined })
  if (flags.run !== undefined && !follow) knownRun(runsDir, flags.run)
  if (follow) noteAwaited(context, flags.run)
  const out = new TextOut(stdout)
  const over = new AbortController()
  const rows = isSeedName && !json ? new CallRows() : undefined
  const lines = followRuns({
    runsDir,
    run: flags.run,
    ofOrigin: has,
    last: flags.limit,
    follow,
    clock,
    signal: over.signal,
  })
  const noticed = noticeReaderGone(clock, over.signal, () => over.abort())
  if (rows !== undefined) await out.write(`${TSV_HEADER.join('\t')}\n`)
  let isEmpty = true
  for await (const { event, text } of lines) {
    const line = json ? safeJsonText(text) : rows === undefined ? escapeControls(eventLine(event)) : rows.take(event)
    isEmpty = false
    if (line !== undefined && !(await out.write(`${line}\n`))) break
  }
  if (isEmpty && !follow && !json) note('no events')
  over.abort()
  await noticed
  return { data: null, text: '', streamed: true }
}

/** A run may be followed before it starts. */
export function noteAwaited({ env, note }: Context, run: string | undefined): void {
  if (run !== undefined && findRun(runsDirOf(env), run) === undefined)
    note(`no run has the id ${printable(run)} yet; waiting for it (Ctrl-C ends)`)
}

/** A named run or file is searched whatever its repository is; by the seed's name all runs are. */
export function scopeOf(
  context: Context,
  flags: Readonly<Record<'run' | 'file', string | undefined>> & { readonly 'all-projects': boolean | undefined },
): Promise<RunScope> {
  const isAll = flags['all-projects'] === true || flags.run !== undefined || flags.file !== undefined
  return runScope(context, isAll || context.isSeedName)
}

type SearchFlags = Omit<InputOf<typeof exportSpec>['flags'], 'format' | 'out' | 'otlp' | 'follow' | 'with-previews'>

const ACTIONS = ['ALLOW', 'BLOCK', 'THROTTLE', 'REJECT_WITH_HINT', 'TERMINATE_RUN']
const STATUSES = ['OK', 'ERROR', 'TIMEOUT', 'CANCELLED', 'SUCCEEDED', 'FAILED', 'TERMINATED']

export function searchOf(context: Context, flags: SearchFlags, { has }: RunScope): Omit<Search, 'order'> {
  const { run, agent, server, tool, rule, reason, text } = flags
  return {
    run,
    ofOrigin: has,
    agent,
    server,
    tool,
    rule,
    reason,
    text,
    decision: knownValue(context, '--decision', flags.decision, ACTIONS),
    status: knownValue(context, '--status', flags.status, STATUSES),
    sinceMs: moment('--since', flags.since, context.clock),
    untilMs: moment('--until', flags.until, context.clock),
  }
}

/** Case does not matter, and patterns are allowed. The seed's launcher answers an unknown value with no rows. */
function knownValue(
  { isSeedName }: Context,
  flag: string,
  typed: string | undefined,
  known: readonly string[],
): string | undefined {
  const value = typed?.toUpperCase()
  if (value === undefined || isSeedName || known.includes(value) || /[*?[]/.test(value)) return value
  throw usageError(`${flag} takes ${known.join(', ')}; got ${printable(typed ?? '')}`)
}

export function moment(flag: string, text: string | undefined, clock: Clock): number | undefined {
  if (text === undefined) return undefined
  const ms = momentIn(text, clock.wallMs())
  if (ms !== undefined) return ms
  throw usageError(
    `${flag} takes how long ago (90s, 2h, 7d) or a time (2026-11-16, 2026-11-16T08:00Z), got ${printable(text)}`,
  )
}
