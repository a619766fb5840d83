// Writing to a file whose loss must not end a session: all of the text, or the reason why not.
import { writeSync } from 'node:fs'
import { isSystemError } from '../errors.ts'

/** Nothing when every byte is written; otherwise what the system said, such as ENOSPC. Part of the text may be in the file. */
export function writeWhole(fd: number, text: string): Error | undefined {
  const bytes = Buffer.from(text)
  try {
    for (let sent = 0; sent < bytes.length;) sent += writeSync(fd, bytes, sent)
    return undefined
  } catch (error) {
    if (isSystemError(error)) return error
    throw error
  }
}
