// A record that could not be opened when the shim started, because a disk was full or a folder not there: tried again with each write.
import { HeimdallError, isSystemError } from '../errors.ts'
import type { Record } from './record.ts'

export function lateRecord(cause: Error, attempt: () => Promise<Record>): Record {
  let record: Record | null = null
  let why: unknown = cause
  let isTrying = false
  const tryAgain = async (): Promise<void> => {
    isTrying = true
    try {
      record = await attempt()
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
    write: (lines) => current().write(lines),
    isDelivered: () => record?.isDelivered() ?? false,
    leave: (status, eventsLost) => current().leave(status, eventsLost),
    close: () => record?.close(),
  }
}
