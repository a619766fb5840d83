// `events.jsonl` of the ledger: our events are appended once, and a file that has grown is set aside under `events/`.
import { join } from 'node:path'
import { LEDGER_EVENTS_BYTES, REMOTE_EVENTS_BYTES_MAX } from '../../limits.ts'
import { ensureFolder, readFileIfThere } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { O, realFs } from '../../storage/fs.ts'
import { openPlainFile } from '../../storage/plain-file.ts'
import { ASIDE_FOLDER, eventFiles, EVENTS_FILE, stampOf } from './ledger-files.ts'
import { toEnvelope } from '../protocol.ts'
import { REPORTED } from './reported.ts'
import type { StoredEvent } from '../store.ts'

export interface Appending {
  readonly projectRoot: string
  readonly events: readonly StoredEvent[]
  /** The stamp of the file after our last writing: while it holds, nothing is in there that the store does not know of. */
  readonly writtenStamp: string | undefined
  /** What a file that is set aside is called, without `.jsonl`. */
  readonly asideName: string
}

/** Returns the name under which the file so far was set aside, if it was. */
export function appendEvents(dir: string, { projectRoot, events, writtenStamp, asideName }: Appending): string | null {
  // What others reported came from such a file and is not ours to tell.
  const own = events.filter(({ type }) => type !== REPORTED)
  if (own.length === 0) return null
  const path = join(dir, EVENTS_FILE)
  const stamp = stampOf(path)
  const isAsWritten = stamp !== undefined && stamp === writtenStamp
  const size = onDisk(path, () => realFs.lstat(path)?.size ?? 0)
  // Only a file whose every line is accounted for is set aside for its size; a flood from elsewhere goes at once.
  const isFull = size > REMOTE_EVENTS_BYTES_MAX || (isAsWritten && size >= LEDGER_EVENTS_BYTES)
  const aside = isFull ? setAside(dir, path, asideName) : null
  const bytes = aside !== null || isAsWritten ? undefined : readFileIfThere(path)
  const lines = own.map((event) => ({ id: event.id, line: `${JSON.stringify(toEnvelope(event, projectRoot))}\n` }))
  appendText(path, missingFrom(bytes ?? Buffer.alloc(0), lines))
  return aside
}

interface Line {
  readonly id: string
  readonly line: string
}

/** What has to follow the file so that each of the lines is in it whole, and once. */
function missingFrom(file: Buffer, lines: readonly Line[]): Buffer {
  const whole = wholeIdsIn(file.toString('utf8'), new Set(lines.map(({ id }) => id)))
  const missing = Buffer.from(
    lines
      .filter(({ id }) => !whole.has(id))
      .map(({ line }) => line)
      .join(''),
  )
  const tail = file.subarray(file.lastIndexOf('\n') + 1)
  // A full disk, or a crash, cut our own line short: the rest of it goes on where it ended.
  if (tail.equals(missing.subarray(0, tail.length))) return missing.subarray(tail.length)
  // What a person left without its end is no part of our lines.
  return Buffer.concat([Buffer.from('\n'), missing])
}

/** All that the files of events have, those that were set aside among them. One that is larger than anybody reads says nothing. */
export function idsOnFile(dir: string): ReadonlySet<string> {
  const known = new Set<string>()
  for (const name of eventFiles(dir)) {
    const path = join(dir, name)
    if ((onDisk(path, () => realFs.lstat(path))?.size ?? 0) > REMOTE_EVENTS_BYTES_MAX) continue
    for (const id of wholeIdsIn(readFileIfThere(path)?.toString('utf8') ?? '')) known.add(id)
  }
  return known
}

/** Those of the ids that stand in a line that can be read, wherever in it: what a line that was cut short tells, nobody hears. */
function wholeIdsIn(text: string, wanted?: ReadonlySet<string>): Set<string> {
  const known = new Set<string>()
  for (const line of text.split('\n')) {
    const ids = Array.from(line.matchAll(/"id":\s*"([^"\\]{1,100})"/g), ([, id]) => id ?? '').filter(
      (id) => wanted?.has(id) !== false,
    )
    if (ids.length > 0 && isJson(line)) for (const id of ids) known.add(id)
  }
  return known
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

function setAside(dir: string, path: string, name: string): string {
  const aside = `${ASIDE_FOLDER}/${name}.jsonl`
  ensureFolder(join(dir, ASIDE_FOLDER))
  onDisk(path, () => realFs.rename(path, join(dir, aside)))
  return aside
}

/** A file that arrived by git may be a link to somewhere else: then it is refused, not written through. */
export function appendText(path: string, text: string | Buffer): void {
  if (text.length === 0) return
  onDisk(path, () => {
    const fd = openPlainFile(realFs, path, O.O_WRONLY | O.O_APPEND | O.O_CREAT, 0o644)
    try {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text
      for (let sent = 0; sent < bytes.length;) sent += realFs.write(fd, bytes.subarray(sent))
    } finally {
      realFs.close(fd)
    }
  })
}
