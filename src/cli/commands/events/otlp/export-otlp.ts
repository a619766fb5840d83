// heimdall events export --otlp: runs as traces, those that are on record or those that go on.
import { join } from 'node:path'
import { HeimdallError } from '../../../../errors.ts'
import { followRuns } from '../../../../runs/follow-runs.ts'
import { type RecordLine, RecordReader } from '../../../../runs/record-reader.ts'
import { runsDirOf } from '../../../../paths.ts'
import { findRun } from '../../../../runs/run-folder.ts'
import { RunTraces } from '../../../../runs/traces/run-traces.ts'
import type { Answer, Context, InputOf } from '../../../command.ts'
import type { eventsExport } from '../../../table/events.ts'
import { awaited } from '../tail.ts'
import { behindText, type Records, refuseUnknownRun, withRecords } from '../records.ts'
import { searchOf } from '../search-flags.ts'
import { pages, typeFor } from '../search-pages.ts'
import { type Destination, destinationOf } from './destination.ts'
import { SpanBatches } from './span-batches.ts'
import { type SpanSink, sinkFor } from './span-sink.ts'

type Flags = InputOf<typeof eventsExport>['flags']

export async function exportOtlp(context: Context, flags: Flags, to: string): Promise<Answer> {
  const destination = destinationOf(context, to)
  const stop = new AbortController()
  const onSignal = (): void => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  const sink = sinkFor(destination, {
    clock: context.clock,
    note: context.note,
    stdout: context.stdout,
    isPatient: flags.follow === true,
    isGrowing: flags.follow === true,
    signal: stop.signal,
  })
  let failure: unknown
  const batches = new SpanBatches(sink, context.clock, (error) => {
    failure = error
    stop.abort()
  })
  try {
    const open =
      flags.follow === true
        ? await follow(context, flags, batches, stop.signal)
        : await exportRecorded(context, flags, batches, stop.signal)
    if (failure !== undefined) throw failure
    sink.keep()
    return answer(context, { destination, batches, sink, open, isFollowed: flags.follow === true })
  } finally {
    sink.close()
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

/** Until it is interrupted: runs that go on from their beginning, and those that begin. */
async function follow(context: Context, flags: Flags, batches: SpanBatches, signal: AbortSignal): Promise<number> {
  const { clock, env, note } = context
  const traces = new RunTraces({ withPreviews: flags['with-previews'] === true })
  note('following the runs; end with Ctrl-C')
  if (flags.run !== undefined && findRun(runsDirOf(env), flags.run) === undefined) note(awaited(flags.run))
  const lines = followRuns({
    runsDir: runsDirOf(env),
    run: flags.run,
    last: 0,
    whole: true,
    follow: true,
    clock,
    signal,
  })
  for await (const line of lines) if (!(await take(traces, line, batches)) || signal.aborted) break
  await batches.flush()
  return traces.open
}

async function exportRecorded(
  context: Context,
  flags: Flags,
  batches: SpanBatches,
  signal: AbortSignal,
): Promise<number> {
  const { file } = flags
  const isFile = file !== undefined
  return await withRecords(context, { file: flags.file, wait: true }, async (records) => {
    refuseUnknownRun(records, context, flags)
    for (const text of behindText(records, isFile)) context.note(`note: ${text}`)
    let open = 0
    for (const [record, calls] of wantedIn(context, flags, records)) {
      const withPreviews = flags['with-previews'] === true
      const traces = new RunTraces({
        withPreviews,
        ...(calls === 'all' ? {} : { isWanted: (callId: string) => calls.has(callId) }),
      })
      const reader = isFile
        ? RecordReader.ofFile(context.resolve(file))
        : new RecordReader(join(runsDirOf(context.env), record))
      try {
        for (const line of linesOf(reader))
          if (!(await take(traces, line, batches)) || signal.aborted) return interrupted()
      } finally {
        reader.close()
      }
      // A file outside the runs does not grow: what has not ended in it never will.
      if (isFile && !(await batches.add(traces.finish(), 0))) return interrupted()
      open += traces.open
    }
    if (!(await batches.flush())) return interrupted()
    return open
  })
}

function interrupted(): never {
  throw new HeimdallError('COLLECTOR_AWAY', 'interrupted before all spans were sent', {
    hint: 'nothing is lost: the records have it all, and the same spans can be sent again',
  })
}

const take = (traces: RunTraces, { event, bytes }: RecordLine, batches: SpanBatches): Promise<boolean> =>
  batches.add(traces.take(event), bytes)

/** Records, the oldest first, and which of their calls are wanted. */
function wantedIn(context: Context, flags: Flags, records: Records): ReadonlyMap<string, Set<string> | 'all'> {
  const { file: _, ...search } = searchOf(flags, context.clock) as Record<string, unknown>
  const isWhole = Object.entries(search).every(([name, value]) => name === 'run' || value === undefined)
  const wanted = new Map<string, Set<string> | 'all'>()
  for (const page of pages(records, { ...search, type: typeFor(flags), order: 'oldest' }))
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

function answer({ note }: Context, { destination, batches, sink, open, isFollowed }: Exported): Answer {
  const { sent: spans, traces, pending: unsent } = batches
  if (open > 0 && !isFollowed)
    note(`note: ${open} ${open === 1 ? 'run goes' : 'runs go'} on; what has not ended has no span yet`)
  if (unsent > 0) note(`note: ${unsent} spans were not sent; they stand in the records, and can be sent again`)
  if (destination.kind === 'stdout') return { data: null, text: '', streamed: true }
  const to = destination.kind === 'http' ? destination.address.url : destination.path
  return {
    data: { spans, traces, rejected: sink.rejected, unsent, open, to },
    text: `${spans} spans of ${traces} ${traces === 1 ? 'trace' : 'traces'} to ${to}`,
  }
}
