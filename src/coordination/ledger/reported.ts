// What files that arrived by git say has happened elsewhere: evidence, kept as reported by the commit that brought it, and nobody's act here.
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { LOG_LINE_BYTES_MAX, REMOTE_EVENTS_BYTES_MAX } from '../../limits.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { realFs } from '../../storage/fs.ts'
import { type Bringer, lineBringers } from './brought-by.ts'
import type { Coordination } from '../coordination.ts'
import { isEventFile, ledgerDir, type LedgerSignature } from './ledger-files.ts'
import type { NewEvent } from '../store.ts'

/** The type of such an entry. Whatever type, actor and origin the line claims is in its payload, where nothing counts it. */
export const REPORTED = 'REPORTED'

interface Line {
  /** From 1, as git counts. */
  readonly number: number
  readonly id: string
  readonly event: Readonly<Record<string, unknown>>
}

export interface Reports {
  readonly events: readonly Omit<NewEvent, 'wallMs'>[]
  /** Files that could not be used, and why. */
  readonly skipped: readonly string[]
}

/** Lines that are new here, of event files that have changed since `known`. */
export function readReports(room: Coordination, known: LedgerSignature, signature: LedgerSignature): Reports {
  const events: Omit<NewEvent, 'wallMs'>[] = []
  const skipped: string[] = []
  for (const name of Object.keys(signature).filter((file) => isEventFile(file) && signature[file] !== known[file]))
    try {
      events.push(...reportsOf(room, name))
    } catch (error) {
      // Whatever somebody put there, it is no reason to refuse a command.
      if (!(error instanceof HeimdallError)) throw error
      skipped.push(`${name} is passed over: ${error.message}`)
    }
  return { events, skipped }
}

function reportsOf(room: Coordination, name: string): Omit<NewEvent, 'wallMs'>[] {
  const path = join(ledgerDir(room.project), name)
  const size = onDisk(path, () => realFs.lstat(path)?.size ?? 0)
  if (size > REMOTE_EVENTS_BYTES_MAX)
    throw new HeimdallError('STORE_CORRUPT', `${size} bytes, limit ${REMOTE_EVENTS_BYTES_MAX}`)
  const lines = readLines(readFileIfThere(path)?.toString('utf8') ?? '')
  const known = room.store.read((rows) => rows.knownEvents(lines.map(({ id }) => id)))
  const news = lines.filter(({ id }) => !known.has(id))
  const bringers = lineBringers(
    room.project,
    path,
    news.map(({ number }) => number),
  )
  return news.map(({ id, number, event }) => ({
    id,
    type: REPORTED,
    actor: null,
    actorKind: 'system',
    to: null,
    task: null,
    scope: null,
    claimId: null,
    payload: { reported_by: bringers.get(number) ?? UNCOMMITTED, event },
    origin: room.rootHaid,
  }))
}

/** Not in any commit yet: somebody on this machine wrote it into the file. */
const UNCOMMITTED: Bringer = { commit: null, author: null }

/** What cannot be read is passed over, as a torn line is. */
function readLines(text: string): Line[] {
  return text.split('\n').flatMap((line, i) => {
    const event = line === '' || line.length > LOG_LINE_BYTES_MAX ? undefined : readEvent(line)
    return event === undefined ? [] : [{ number: i + 1, ...event }]
  })
}

function readEvent(line: string): Omit<Line, 'number'> | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { id, version, event_type: type, created_at: created, payload } = value as Record<string, unknown>
  if (version !== 'v1' || typeof id !== 'string' || typeof type !== 'string' || typeof created !== 'string')
    return undefined
  if (!/^[A-Za-z0-9][\w.:-]{0,99}$/.test(id) || !/^[A-Z][A-Z_]{0,39}$/.test(type) || Number.isNaN(Date.parse(created)))
    return undefined
  return typeof payload === 'object' && payload !== null ? { id, event: value as Record<string, unknown> } : undefined
}
