// A record as it grows: what stands in it, and then each line soon after it was written, until the record is gone or nobody listens.
import { watch } from 'node:fs'
import { type Clock, pause } from '../clock.ts'
import { isSystemError } from '../errors.ts'
import { RECORD_BUSY_MS, RECORD_POLL_MS } from '../limits.ts'
import { type RecordLine, RecordReader } from './record-reader.ts'

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
  const changes = watchFolder(runDir)
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

interface Changes {
  /** Aborted by the next change from now on. */
  next(): AbortSignal
  close(): void
}

function watchFolder(folder: string): Changes {
  let changed = new AbortController()
  const close = watched(folder, () => changed.abort())
  return {
    next() {
      if (changed.signal.aborted) changed = new AbortController()
      return changed.signal
    },
    close,
  }
}

function watched(folder: string, onChange: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch (error) {
    if (!isSystemError(error)) throw error
    return () => {}
  }
}
