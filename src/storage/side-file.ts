// Bodies too large for a log line: a file by its content's hash, which the line then names.
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { ensureFolder, readFileIfThere, replaceFile, syncFolder } from './atomic-file.ts'
import { onDisk } from './faults.ts'
import { type Fs, realFs } from './fs.ts'

export interface SideFile {
  /** SHA-256 in hex, and the name of the file. */
  readonly hash: string
  readonly bytes: number
}

const HASH = /^[0-9a-f]{64}$/

/** Durable when it returns, so that a line naming the hash may be logged after it. The same content is kept once. */
export function writeSideFile(folder: string, body: string | Uint8Array, fs: Fs = realFs): SideFile {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const hash = hashOf(bytes)
  const path = join(folder, hash)
  ensureFolder(folder, fs)
  const existing = readFileIfThere(path, fs)
  if (existing === undefined || hashOf(existing) !== hash) replaceFile(path, bytes, { fs })
  // Whoever wrote it may have been stopped before its name was durable.
  else onDisk(path, () => syncFolder(fs, dirname(path)))
  return { hash, bytes: bytes.byteLength }
}

/** The body, or nothing when there is none by this hash. Content that does not match its name is refused. */
export function readSideFile(folder: string, hash: string, fs: Fs = realFs): Buffer | undefined {
  if (!HASH.test(hash)) throw new HeimdallError('INTERNAL', 'a side file is named by 64 lower-case hex digits')
  const path = join(folder, hash)
  const bytes = readFileIfThere(path, fs)
  if (bytes !== undefined && hashOf(bytes) !== hash)
    throw new HeimdallError('STORE_CORRUPT', `${path} does not hold the content that its name promises`)
  return bytes
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
