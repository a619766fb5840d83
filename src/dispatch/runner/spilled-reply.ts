// A reply that is too large for a row of the store goes to a file of its own; the result says where, and begins with it.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { DISPATCH_REPLY_BYTES_MAX, DISPATCH_REPLY_CHARS_SHOWN } from '../../limits.ts'
import { writePrivate } from '../json-file.ts'
import type { TaskResult } from '../messages.ts'
import { replyPath } from './order.ts'

export const spilledSchema = z.object({
  bytes: z.int().min(0),
  sha256: z.string(),
  media_type: z.enum(['text/plain', 'application/json']),
  /** On the machine of the worker. */
  file: z.string(),
})

export function spillReply(dir: string, said: TaskResult): TaskResult {
  // The worker hands out the file that a result names here: none that an agent has named.
  const { reply: _, ...artifacts } = said.artifacts
  const result = { ...said, artifacts }
  const { reply } = result
  const isText = typeof reply === 'string'
  const text = isText ? reply : reply === undefined ? '' : JSON.stringify(reply)
  const bytes = Buffer.byteLength(text)
  if (bytes <= DISPATCH_REPLY_BYTES_MAX) return result
  const file = replyPath(dir)
  writePrivate(file, text)
  const spilled: z.infer<typeof spilledSchema> = {
    bytes,
    sha256: createHash('sha256').update(text).digest('hex'),
    media_type: isText ? 'text/plain' : 'application/json',
    file,
  }
  // Half of a value is none; of a text, its beginning is some use.
  return {
    ...result,
    reply: isText ? text.slice(0, DISPATCH_REPLY_CHARS_SHOWN) : null,
    artifacts: { ...artifacts, reply: spilled },
  }
}
