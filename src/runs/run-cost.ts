// What the models of a run have cost, from its record: every booking names the sum, so the last one is enough.
import fs from 'node:fs'
import { isErrno } from '../errors.ts'
import type { ModelUsage, UsageTotal } from '../events/types.ts'
import { RECORD_LINE_BYTES_MAX } from '../limits.ts'
import { RecordReader } from './record-reader.ts'
import { parseObject } from './run-books.ts'
import { recordPath } from './run-log.ts'

const NEWLINE = 0x0a
const MARK = '"type":"model_usage"'

/** All bookings, for whoever goes on with them. */
export function bookedUsage(runDir: string): ModelUsage[] {
  const found: ModelUsage[] = []
  const reader = new RecordReader(runDir)
  try {
    for (;;) {
      const lines = reader.read()
      if (lines === 'gone' || lines.length === 0) return found
      for (const { event, text } of lines) {
        if (event.type !== 'model_usage') continue
        const usage = usageIn(text)
        if (usage !== undefined) found.push(usage)
      }
    }
  } finally {
    reader.close()
  }
}

/** The sum as it was booked last; nothing where no model of the run was heard of. Read from the end: records are long. */
export function costOf(runDir: string): UsageTotal | undefined {
  let fd: number
  try {
    fd = fs.openSync(recordPath(runDir), 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    const block = Buffer.alloc(2 * RECORD_LINE_BYTES_MAX)
    for (let end = fs.fstatSync(fd).size; end > 0;) {
      const start = Math.max(0, end - block.length)
      const bytes = block.subarray(0, fs.readSync(fd, block, 0, end - start, start))
      const total = lastIn(bytes)
      if (total !== undefined) return total
      // A line that begins in one block and ends in the other is whole in the next.
      const next = start === 0 ? 0 : start + bytes.indexOf(NEWLINE) + 1
      if (next >= end) return undefined
      end = next
    }
    return undefined
  } finally {
    fs.closeSync(fd)
  }
}

function lastIn(bytes: Buffer): UsageTotal | undefined {
  for (let at = bytes.lastIndexOf(MARK); at !== -1; at = at === 0 ? -1 : bytes.lastIndexOf(MARK, at - 1)) {
    const from = bytes.lastIndexOf(NEWLINE, at) + 1
    const end = bytes.indexOf(NEWLINE, at)
    const usage = end === -1 ? undefined : usageIn(bytes.toString('utf8', from, end))
    if (usage !== undefined) return usage.total
  }
  return undefined
}

function usageIn(text: string): ModelUsage | undefined {
  const event: { readonly type?: unknown; readonly usage?: Partial<ModelUsage> } | undefined = parseObject(text)
  const { usage } = event ?? {}
  if (event?.type !== 'model_usage' || usage?.total === undefined || usage.tokens === undefined) return undefined
  return typeof usage.message_id === 'string' ? (usage as ModelUsage) : undefined
}
