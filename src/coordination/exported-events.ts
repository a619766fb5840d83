// `events.jsonl` of the ledger: our events are appended once, and a file that has grown is set aside under `events/`.
import { join } from 'node:path'
import { LEDGER_EVENTS_BYTES, REMOTE_EVENTS_BYTES_MAX } from '../limits.ts'
import { ensureFolder, readFileIfThere } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import { O, realFs } from '../storage/fs.ts'
import { openPlainFile } from '../storage/plain-file.ts'
import { ASIDE_FOLDER, EVENTS_FILE, stampOf } from './ledger-files.ts'
import { toEnvelope } from './protocol.ts'
import { REPORTED } from './reported.ts'
import type { StoredEvent } from './store.ts'

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
  const text = aside !== null || isAsWritten ? '' : (readFileIfThere(path)?.toString('utf8') ?? '')
  const known = idsIn(text)
  const lines = own
    .filter(({ id }) => !known.has(id))
    .map((event) => `${JSON.stringify(toEnvelope(event, projectRoot))}\n`)
  // A line that a crash, or a person, left without its end.
  const seal = text === '' || text.endsWith('\n') ? '' : '\n'
  appendText(path, seal + lines.join(''))
  return aside
}

/** Every id in the file, wherever in its line it stands: an id too many costs a line, and ours are never guessed. */
function idsIn(text: string): Set<string> {
  return new Set(Array.from(text.matchAll(/"id":\s*"([^"\\]{1,100})"/g), ([, id]) => id ?? ''))
}

function setAside(dir: string, path: string, name: string): string {
  const aside = `${ASIDE_FOLDER}/${name}.jsonl`
  ensureFolder(join(dir, ASIDE_FOLDER))
  onDisk(path, () => realFs.rename(path, join(dir, aside)))
  return aside
}

/** A file that arrived by git may be a link to somewhere else: then it is refused, not written through. */
export function appendText(path: string, text: string): void {
  if (text === '') return
  onDisk(path, () => {
    const fd = openPlainFile(realFs, path, O.O_WRONLY | O.O_APPEND | O.O_CREAT, 0o644)
    try {
      const bytes = Buffer.from(text)
      for (let sent = 0; sent < bytes.length;) sent += realFs.write(fd, bytes.subarray(sent))
    } finally {
      realFs.close(fd)
    }
  })
}
