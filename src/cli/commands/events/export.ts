// heimdall events export: events of runs as JSONL, CSV or traces, to stdout, into a file or to a collector.
import type { IndexEntry } from '../../../runs/index/search.ts'
import { HeimdallError } from '../../../errors.ts'
import { callFacts } from '../../../runs/index/call-facts.ts'
import { WholeFile } from '../../../storage/atomic-file.ts'
import type { Run } from '../../command.ts'
import { outputPath } from '../../output-file.ts'
import { safeJsonText } from '../../render/json.ts'
import type { eventsExport } from '../../table/events.ts'
import { TextOut } from '../session/text-out.ts'
import { csvRow, CSV_COLUMNS } from './csv.ts'
import { behindText, type Records, refuseUnknownRun, withRecords } from './records.ts'
import { searchOf } from './search-flags.ts'
import { pages, typeFor } from './search-pages.ts'

export const run: Run<typeof eventsExport> = async (context, { flags }) => {
  refuseMixtures(flags)
  if (flags.otlp !== undefined) {
    // Loaded here: what knows OTLP is larger than all the rest.
    const { exportOtlp } = await import('./otlp/export-otlp.ts')
    return await exportOtlp(context, flags, flags.otlp)
  }
  const isCsv = flags.format === 'csv'
  const wanted = {
    ...searchOf(flags, context.clock),
    ...(isCsv ? {} : { type: typeFor(flags) }),
    order: 'oldest',
  } as const
  return await withRecords(context, { file: flags.file, wait: true }, async (records) => {
    refuseUnknownRun(records, context, flags)
    for (const text of behindText(records, flags.file !== undefined)) context.note(`note: ${text}`)
    const file = flags.out === undefined ? undefined : new WholeFile(outputPath(context.resolve(flags.out)))
    const stream = new TextOut(context.stdout)
    const isTerminal = file === undefined && context.stdout.isTTY
    const write = async (text: string): Promise<boolean> => {
      if (file === undefined) return await stream.write(isTerminal ? safeJsonText(text) : text)
      file.write(Buffer.from(text))
      return true
    }
    let entries = 0
    try {
      let isRead = !isCsv || (await write(`${csvRow(CSV_COLUMNS)}\r\n`))
      for (const page of pages(records, wanted)) {
        if (!isRead) break
        isRead = await write(isCsv ? csvText(records, page) : jsonlText(records, page))
        entries += page.length
      }
      file?.keep()
    } finally {
      file?.close()
    }
    if (flags.out === undefined) return { data: null, text: '', streamed: true }
    return {
      data: { entries, out: context.resolve(flags.out) },
      text: `${entries} ${isCsv ? 'calls' : 'calls and other events'} in ${flags.out}`,
    }
  })
}

/** What would have no effect is not passed over: whoever typed it wanted something. */
function refuseMixtures(flags: Readonly<Record<string, unknown>>): void {
  const given = (names: readonly string[]): string | undefined => names.find((name) => flags[name] !== undefined)
  const ofTraces = given(['follow', 'with-previews'])
  if (flags['otlp'] === undefined && ofTraces !== undefined)
    throw new HeimdallError('USAGE', `--${ofTraces} is for --otlp`, {
      hint: 'heimdall events tail --follow --json has new events as JSONL',
    })
  const ofText = flags['otlp'] === undefined ? undefined : given(['format', 'out'])
  if (ofText !== undefined) throw new HeimdallError('USAGE', `--${ofText} does not go with --otlp`)
  const ofRecorded = flags['follow'] === true ? given(RECORDED) : undefined
  if (ofRecorded !== undefined)
    throw new HeimdallError(
      'USAGE',
      `--${ofRecorded} does not go with --follow, which takes a whole run or all of them`,
    )
}

const RECORDED = ['agent', 'server', 'tool', 'decision', 'rule', 'reason', 'status', 'since', 'until', 'text', 'file']

const jsonlText = ({ lines }: Records, page: readonly IndexEntry[]): string =>
  page
    .flatMap((entry) => lines.linesOf(entry))
    .map((line) => `${line}\n`)
    .join('')

const csvText = ({ lines }: Records, page: readonly IndexEntry[]): string =>
  page
    .map((entry) => callFacts(entry, lines.eventsOf(entry)))
    .map(
      (call) =>
        `${csvRow(CSV_COLUMNS.map((column) => (column === 'error' ? (call.error?.['message'] ?? null) : call[column])))}\r\n`,
    )
    .join('')
