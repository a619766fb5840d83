// A record that could not be opened when the shim started, because a disk was full or a folder not there: tried again with each write.
import { HeimdallError, isSystemError } from '../errors.ts'
import type { Record } from './record.ts'
import { RunFold } from './run-fold.ts'

/** Until then decisions count in a fold in memory. `attempt` is called with it: its lines may have been dropped by then. */
export function lateRecord(cause: Error, attempt: (early: RunFold) => Promise<Record>): Record {
  let record: Record | null = null
  const early = new RunFold()
  let why: unknown = cause
  let isTrying = false
  const tryAgain = async (): Promise<void> => {
    isTrying = true
    try {
      record = await attempt(early)
    } catch (error) {
      if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      why = error
    } finally {
      isTrying = false
    }
  }
  const current = (): Record => {
    if (record !== null) return record
    if (!isTrying) void tryAgain()
    throw why
  }
  return {
    opening: Buffer.alloc(0),
    get fold() {
      return record?.fold ?? early
    },
    write: (lines, decide) => current().write(lines, decide),
    refresh: () => record?.refresh(),
    isDelivered: () => record?.isDelivered() ?? false,
    leave: (status, eventsLost) => current().leave(status, eventsLost),
    close: () => record?.close(),
  }
}
