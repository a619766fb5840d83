// heimdall events export: events as JSONL, CSV or OTLP traces, to stdout, into a file or to a collector.
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { EXPORT_PAGE } from '../../limits.ts'
import { runsDirOf } from '../../paths.ts'
import { followRuns } from '../../runs/follow-runs.ts'
import { callFacts } from '../../runs/index/call-facts.ts'
import { type IndexEntry, search, type Search } from '../../runs/index/search.ts'
import type { Destination } from '../../runs/otlp/destination.ts'
import type { SpanBatches } from '../../runs/otlp/span-batches.ts'
import type { SpanSink } from '../../runs/otlp/span-sink.ts'
import { type RecordLine, RecordReader } from '../../runs/record-reader.ts'
import { RunTraces } from '../../runs/traces/run-traces.ts'
import { WholeFile } from '../../storage/atomic-file.ts'
import type { Answer, Context, InputOf, Run } from '../command.ts'
import { outputPath } from '../output-file.ts'
import { behindText, type Records, refuseUnknownRun, withRecords } from '../record-index.ts'
import { safeJsonText } from '../render/json.ts'
import type { RunScope } from '../this-repository.ts'
import { VERSION } from '../version.ts'
import { CSV_COLUMNS, csvRow } from './event-text.ts'
import type { exportSpec } from './events.ts'
import { noteAwaited, scopeOf, searchOf } from './events-search.ts'
import { TextOut } from '../text-out.ts'
import { usageError } from '../usage-error.ts'

type Flags = InputOf<typeof exportSpec>['flags']

export const exportEvents: Run<typeof exportSpec> = async (context, { flags }) => {
  refuseMixtures(flags)
  const scope = await scopeOf(context, flags)
  if (flags.otlp !== undefined) return await exportOtlp(context, flags, flags.otlp, scope)
  const isCsv = flags.format === 'csv'
  const wanted = {
    ...searchOf(context, flags, scope),
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

/** Flags that would have no effect are errors. */
function refuseMixtures(flags: Readonly<Record<string, unknown>>): void {
  const given = (names: readonly string[]): string | undefined => names.find((name) => flags[name] !== undefined)
  const ofTraces = given(['follow', 'with-previews'])
  if (flags['otlp'] === undefined && ofTraces !== undefined)
    throw usageError(`--${ofTraces} needs --otlp`, 'heimdall events tail --follow --json prints new events as JSONL')
  const ofText = flags['otlp'] === undefined ? undefined : given(['format', 'out'])
  if (ofText !== undefined) throw usageError(`--${ofText} does not go with --otlp`)
  const ofRecorded = flags['follow'] === true ? given([...OF_CALLS, 'agent', 'since', 'until', 'file']) : undefined
  if (ofRecorded !== undefined) throw usageError(`--${ofRecorded} does not go with --follow, which exports whole runs`)
}

const OF_CALLS = ['server', 'tool', 'decision', 'rule', 'reason', 'status', 'text']

/** Filters that only calls can match leave other events out. */
const typeFor = (flags: Readonly<Record<string, unknown>>): string | undefined =>
  OF_CALLS.some((name) => flags[name] !== undefined) ? undefined : 'all'

/** In pages, so that a slow reader does not fill the memory. */
function* pages({ index }: Records, wanted: Search): Generator<readonly IndexEntry[]> {
  for (let after: IndexEntry | undefined; ;) {
    const page = search(index, { ...wanted, after, limit: EXPORT_PAGE })
    if (page.length === 0) return
    yield page
    after = page.at(-1)
  }
}

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

async function exportOtlp(context: Context, flags: Flags, to: string, scope: RunScope): Promise<Answer> {
  const { clock, env, note } = context
  // Loaded here: the OTLP serializers are larger than the rest.
  const [{ destinationOf }, { sinkFor }, { SpanBatches }] = await Promise.all([
    import('../../runs/otlp/destination.ts'),
    import('../../runs/otlp/span-sink.ts'),
    import('../../runs/otlp/span-batches.ts'),
  ])
  const destination = destinationOf(to, env, (name) => outputPath(context.resolve(name)))
  const stop = new AbortController()
  const onSignal = (): void => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  const isFollowed = flags.follow === true
  const out = new TextOut(context.stdout)
  const sink = sinkFor(destination, {
    clock,
    note,
    version: VERSION,
    write: (text) => out.write(text),
    isPatient: isFollowed,
    isGrowing: isFollowed,
    signal: stop.signal,
  })
  let failure: unknown
  const batches = new SpanBatches(sink, clock, (error) => {
    failure = error
    stop.abort()
  })
  try {
    const send = isFollowed ? followSpans : recordedSpans
    const open = await send(context, flags, { batches, scope, signal: stop.signal })
    if (failure !== undefined) throw failure
    sink.keep()
    return exported(context, { destination, batches, sink, open, isFollowed })
  } finally {
    sink.close()
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

interface Sending {
  readonly batches: SpanBatches
  readonly scope: RunScope
  readonly signal: AbortSignal
}

/** Running runs from their start, and new ones, until interrupted. Returns how many have no end yet. */
async function followSpans(context: Context, flags: Flags, { batches, scope, signal }: Sending): Promise<number> {
  const traces = new RunTraces({ withPreviews: flags['with-previews'] === true })
  context.note('following the runs; Ctrl-C ends')
  noteAwaited(context, flags.run)
  const lines = followRuns({
    runsDir: runsDirOf(context.env),
    run: flags.run,
    ofOrigin: scope.has,
    last: 0,
    whole: true,
    follow: true,
    clock: context.clock,
    signal,
  })
  for await (const { event, bytes } of lines)
    if (!(await batches.add(traces.take(event), bytes)) || signal.aborted) break
  await batches.flush()
  return traces.open
}

async function recordedSpans(context: Context, flags: Flags, { batches, scope, signal }: Sending): Promise<number> {
  const { file } = flags
  const isFile = file !== undefined
  return await withRecords(context, { file, wait: true }, async (records) => {
    refuseUnknownRun(records, context, flags)
    for (const text of behindText(records, isFile)) context.note(`note: ${text}`)
    let open = 0
    for (const [record, calls] of wantedIn(searchOf(context, flags, scope), typeFor(flags), records)) {
      const traces = new RunTraces({
        withPreviews: flags['with-previews'] === true,
        ...(calls === 'all' ? {} : { isWanted: (callId: string) => calls.has(callId) }),
      })
      const reader = isFile
        ? RecordReader.ofFile(context.resolve(file))
        : new RecordReader(join(runsDirOf(context.env), record))
      try {
        for (const { event, bytes } of linesOf(reader))
          if (!(await batches.add(traces.take(event), bytes)) || signal.aborted) return interrupted()
      } finally {
        reader.close()
      }
      // A file outside the runs does not grow: what has no end in it gets one.
      if (isFile && !(await batches.add(traces.finish(), 0))) return interrupted()
      open += traces.open
    }
    if (!(await batches.flush())) return interrupted()
    return open
  })
}

function interrupted(): never {
  throw new HeimdallError('COLLECTOR_AWAY', 'interrupted before all spans were sent', {
    hint: 'nothing is lost: the records are complete, and the same spans can be sent again',
  })
}

/** Records, oldest first, and which of their calls are wanted. */
function wantedIn(
  { run, ofOrigin, ...filters }: Omit<Search, 'order'>,
  type: string | undefined,
  records: Records,
): ReadonlyMap<string, Set<string> | 'all'> {
  const isWhole = Object.values(filters).every((value) => value === undefined)
  const wanted = new Map<string, Set<string> | 'all'>()
  for (const page of pages(records, { run, ofOrigin, ...filters, type, order: 'oldest' }))
    for (const { record, callId } of page) {
      const calls = wanted.get(record) ?? (isWhole ? 'all' : new Set())
      if (calls !== 'all' && callId !== null) calls.add(callId)
      wanted.set(record, calls)
    }
  return wanted
}

function* linesOf(reader: RecordReader): Generator<RecordLine> {
  for (;;) {
    const lines = reader.read()
    if (lines === 'gone' || lines.length === 0) return
    yield* lines
  }
}

interface Exported {
  readonly destination: Destination
  readonly batches: SpanBatches
  readonly sink: SpanSink
  readonly open: number
  readonly isFollowed: boolean
}

function exported({ note }: Context, { destination, batches, sink, open, isFollowed }: Exported): Answer {
  const { sent: spans, traces, pending: unsent } = batches
  if (open > 0 && !isFollowed)
    note(`note: ${open} ${open === 1 ? 'run is' : 'runs are'} still active; what has not ended has no span yet`)
  if (unsent > 0) note(`note: ${unsent} spans were not sent; the records keep them, and they can be sent again`)
  if (destination.kind === 'stdout') return { data: null, text: '', streamed: true }
  const to = destination.kind === 'http' ? destination.address.url : destination.path
  return {
    data: { spans, traces, rejected: sink.rejected, unsent, open, to },
    text: `${spans} spans of ${traces} ${traces === 1 ? 'trace' : 'traces'} to ${to}`,
  }
}
