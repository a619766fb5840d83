// Where spans go, a batch at a time: to a collector, into a file, or to stdout, as one line of JSON for each batch.
import { appendFileSync } from 'node:fs'
import type { Span } from '../../../../runs/traces/span.ts'
import { WholeFile } from '../../../../storage/atomic-file.ts'
import { onDisk } from '../../../../storage/faults.ts'
import { TextOut } from '../../session/text-out.ts'
import { type Collecting, Collector } from './collector.ts'
import type { Destination } from './destination.ts'
import { requestOf } from './request.ts'

export interface SpanSink {
  /** False when nobody takes any more. */
  send(spans: readonly Span[]): Promise<boolean>
  /** All spans are there. */
  keep(): void
  close(): void
  readonly rejected: number
}

export interface SinkOptions extends Collecting {
  readonly stdout: NodeJS.WriteStream
  /** A file is written whole or not at all, unless it is to be read while it grows. */
  readonly isGrowing: boolean
}

export function sinkFor(destination: Destination, options: SinkOptions): SpanSink {
  switch (destination.kind) {
    case 'http': {
      const collector = new Collector(destination.address, options)
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
      const out = new TextOut(options.stdout)
      return { send: (spans) => out.write(lineOf(spans)), keep: nothing, close: nothing, rejected: 0 }
    }
    case 'file':
      return options.isGrowing ? growingFile(destination.path) : wholeFile(destination.path)
  }
}

function wholeFile(path: string): SpanSink {
  const file = new WholeFile(path)
  return {
    send(spans) {
      file.write(Buffer.from(lineOf(spans)))
      return Promise.resolve(true)
    },
    keep: () => file.keep(),
    close: () => file.close(),
    rejected: 0,
  }
}

/** Opened for each batch, so that whoever moves the file away gets the next one under the old name. */
function growingFile(path: string): SpanSink {
  return {
    send(spans) {
      onDisk(path, () => appendFileSync(path, lineOf(spans), { mode: 0o600 }))
      return Promise.resolve(true)
    },
    keep: nothing,
    close: nothing,
    rejected: 0,
  }
}

const nothing = (): void => undefined
const lineOf = (spans: readonly Span[]): string => `${Buffer.from(requestOf(spans, 'json')).toString()}\n`
