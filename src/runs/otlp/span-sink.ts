// Where spans go, a batch at a time: to a collector, into a file, or to stdout, as one line of JSON for each batch.
import { appendFileSync } from 'node:fs'
import type { Span } from '../traces/span.ts'
import { WholeFile } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { type Collecting, Collector } from './collector.ts'
import type { Destination } from './destination.ts'
import { requestOf } from './request.ts'

export interface SpanSink {
  /** False when the reader is gone. */
  send(spans: readonly Span[]): Promise<boolean>
  /** All spans are there. */
  keep(): void
  close(): void
  readonly rejected: number
}

export interface SinkOptions extends Collecting {
  /** Writes to stdout; false when its reader is gone. */
  readonly write: (text: string) => Promise<boolean>
  readonly version: string
  /** A file is written whole or not at all, unless it is to be read while it grows. */
  readonly isGrowing: boolean
}

export function sinkFor(destination: Destination, options: SinkOptions): SpanSink {
  switch (destination.kind) {
    case 'http': {
      const collector = new Collector(destination.address, options, options.version)
      return {
        send: (spans) => collector.send(spans),
        keep: nothing,
        close: nothing,
        get rejected() {
          return collector.rejected
        },
      }
    }
    case 'stdout': {
      return {
        send: (spans) => options.write(lineOf(spans, options.version)),
        keep: nothing,
        close: nothing,
        rejected: 0,
      }
    }
    case 'file':
      return options.isGrowing
        ? growingFile(destination.path, options.version)
        : wholeFile(destination.path, options.version)
  }
}

function wholeFile(path: string, version: string): SpanSink {
  const file = new WholeFile(path)
  return {
    send(spans) {
      file.write(Buffer.from(lineOf(spans, version)))
      return Promise.resolve(true)
    },
    keep: () => file.keep(),
    close: () => file.close(),
    rejected: 0,
  }
}

/** Opened for each batch, so that a log rotation that renames the file works. */
function growingFile(path: string, version: string): SpanSink {
  return {
    send(spans) {
      onDisk(path, () => appendFileSync(path, lineOf(spans, version), { mode: 0o600 }))
      return Promise.resolve(true)
    },
    keep: nothing,
    close: nothing,
    rejected: 0,
  }
}

const nothing = (): void => undefined
const lineOf = (spans: readonly Span[], version: string): string =>
  `${Buffer.from(requestOf(spans, 'json', version)).toString()}\n`
