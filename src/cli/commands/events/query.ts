// heimdall events query: tool calls of all runs, by what is known of them.
import { escapeControls } from '../../../ids.ts'
import { callFacts } from '../../../runs/index/call-facts.ts'
import { type IndexEntry, search } from '../../../runs/index/search.ts'
import type { Answer, Context, Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { eventsQuery } from '../../table/events.ts'
import { TABLE_HEADER, tableRow, TSV_HEADER, tsvRow } from './call-columns.ts'
import { eventLine } from './event-line.ts'
import { behindText, type Records, refuseUnknownRun, withRecords } from './records.ts'
import { searchOf } from './search-flags.ts'

export const run: Run<typeof eventsQuery> = (context, { flags }) => {
  const { limit, order, type } = flags
  const wanted = { ...searchOf(flags, context.clock), order, type, limit: limit === 0 ? undefined : limit }
  return withRecords(context, flags, (records) => {
    refuseUnknownRun(records, context, flags)
    const entries = search(records.index, wanted)
    if (!context.json) for (const text of behindText(records, flags.file !== undefined)) context.note(`note: ${text}`)
    return type === undefined
      ? callsAnswer(context, records, entries, flags.tsv === true || context.isSeedName)
      : eventsAnswer(records, entries)
  })
}

function callsAnswer(
  { style }: Context,
  { lines, behind }: Records,
  entries: readonly IndexEntry[],
  isTsv: boolean,
): Answer {
  const calls = entries.map((entry) => callFacts(entry, lines.eventsOf(entry)))
  const text = isTsv
    ? [TSV_HEADER.join('\t'), ...calls.map(tsvRow)].join('\n')
    : calls.length === 0
      ? 'No calls.'
      : renderTable(style, TABLE_HEADER, calls.map(tableRow))
  return { data: { calls, behind }, text }
}

function eventsAnswer({ lines, behind }: Records, entries: readonly IndexEntry[]): Answer {
  const texts = entries.flatMap((entry) => lines.linesOf(entry))
  const events = texts.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  return {
    data: { events, behind },
    text: events.length === 0 ? 'No events.' : events.map((event) => escapeControls(eventLine(event))).join('\n'),
  }
}
