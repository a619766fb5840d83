// A record as it grows: what stands in it, and then each line soon after it was written, until the record is gone or nobody listens.
import { type Clock, pause } from '../clock.ts'
import { RECORD_BUSY_MS, RECORD_POLL_MS } from '../limits.ts'
import { type RecordLine, RecordReader } from './record-reader.ts'
import { WatchedFolders } from './watch-folders.ts'

export interface Following {
  /** Offset to begin at: the `end` of the last line that was seen. */
  readonly from?: number
  readonly clock: Clock
  readonly signal?: AbortSignal
}

export async function* followRecord(
  runDir: string,
  { from = 0, clock, signal }: Following,
): AsyncGenerator<RecordLine> {
  const reader = new RecordReader(runDir, from)
  const changes = new WatchedFolders()
  changes.add(runDir)
  try {
    for (;;) {
      if (signal?.aborted === true) return
      const changed = changes.next()
      const lines = reader.read()
      if (lines === 'gone') return
      yield* lines
      // In case that the system says nothing: a folder on another machine, or too many watches on this one.
      if (lines.length === 0)
        await pause(clock, reader.isBusy ? RECORD_BUSY_MS : RECORD_POLL_MS, either(changed, signal))
    }
  } finally {
    changes.close()
    reader.close()
  }
}

function either(changed: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? changed : AbortSignal.any([changed, signal])
}
