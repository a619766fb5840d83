// Events of a run's record, or of a file that somebody kept, one after the other and never all in memory; what cannot be read is counted.
import { createReadStream } from 'node:fs'
import { HeimdallError, isErrno } from '../errors.ts'
import { PACK_VERSION } from '../events/types.ts'
import { RECORD_LINE_BYTES_MAX } from '../limits.ts'
import { knownRun } from './known-run.ts'
import { RecordReader } from './record-reader.ts'
import { parseObject, type TypedEvent } from './recorded-event.ts'

/** Lines that were set aside, by why. */
export interface SetAside {
  /** Torn, cut, interleaved, or written by somebody else. */
  unreadable: number
  /** Of a version of the pack that may mean other things by the same names. */
  newer: number
}

const NEWLINE = 0x0a

export interface RecordedSource {
  readonly runsDir: string
  readonly run: string | undefined
  /** A file outside of the runs, and its name in errors. */
  readonly file: { readonly path: string; readonly shown: string } | undefined
}

/** The events of a run or of a file, whichever is named. */
export function recordedEvents(
  { runsDir, run, file }: RecordedSource,
  aside: SetAside,
): Iterable<TypedEvent> | AsyncIterable<TypedEvent> {
  if (file !== undefined && run === undefined) return eventsOfFile(file.path, file.shown, aside)
  if (run === undefined || file !== undefined)
    throw new HeimdallError('USAGE', 'name either a --run or a file with --events', {
      hint: 'heimdall runs list shows the runs',
    })
  return eventsOfRecord(knownRun(runsDir, run).runDir, aside)
}

/** What the record of a run holds now. */
export function* eventsOfRecord(runDir: string, aside: SetAside): Generator<TypedEvent> {
  const reader = new RecordReader(runDir)
  try {
    for (const { event } of reader.rest()) if (isKnown(event, aside)) yield event
  } finally {
    reader.close()
  }
}

async function* eventsOfFile(path: string, shownPath: string, aside: SetAside): AsyncGenerator<TypedEvent> {
  try {
    for await (const line of linesOf(createReadStream(path), aside)) {
      const event = parseObject(line) as TypedEvent | undefined
      if (typeof event?.type === 'string') {
        if (isKnown(event, aside)) yield event
      } else if (line.trim() !== '') aside.unreadable += 1
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'ELOOP')) throw error
    throw new HeimdallError('EVENTS_UNREADABLE', `${shownPath} cannot be read (${error.code})`, { cause: error })
  }
}

/** A minor step only adds; with another first number names may mean something else. */
function isKnown({ v }: TypedEvent, aside: SetAside): boolean {
  const isNewer = typeof v === 'string' && Number.parseInt(v, 10) > Number.parseInt(PACK_VERSION, 10)
  if (isNewer) aside.newer += 1
  return !isNewer
}

async function* linesOf(chunks: AsyncIterable<Buffer>, aside: SetAside): AsyncGenerator<string> {
  let rest: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end)
      from = end + 1
      if (bytes + piece.length > RECORD_LINE_BYTES_MAX) aside.unreadable += 1
      else yield Buffer.concat([...rest, piece]).toString()
      rest = []
      bytes = 0
    }
    bytes += chunk.length - from
    // A line without end is not kept: it is counted when its end comes.
    if (bytes > RECORD_LINE_BYTES_MAX) rest = []
    else if (from < chunk.length) rest.push(chunk.subarray(from))
  }
  if (bytes > RECORD_LINE_BYTES_MAX) aside.unreadable += 1
  else if (bytes > 0) yield Buffer.concat(rest).toString()
}
