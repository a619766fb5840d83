// The JSON state files of seed 000: read without a lock, changed under one, and set aside instead of overwritten when corrupt.
import { renameSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { printable } from '../ids.ts'
import { TABLE_LOCK_WAIT_MS } from '../limits.ts'
import { readFileIfThere } from '../storage/atomic-file.ts'
import { updateFile } from '../storage/file-lock.ts'
import { pathToRead, pathToWrite } from '../storage/planning-folder.ts'
import { isObject } from '../plain-object.ts'
import type { Planning } from './planning.ts'

/** What we write. By the seed's rule our additive fields are a minor step from its 2.0.0, which is read as well. */
export const PROTOCOL_VERSION = '2.1.0'

/** A table file: `{"version", [field]: {id: text}}` and whatever else a later minor version put beside it. */
export interface TableFile<Extra> {
  readonly file: string
  readonly field: string
  /** How a value stands in the file, where that is not its text. */
  readonly writeValue?: (text: string) => string | number
  /** Reads the fields that this version adds; what is malformed there is dropped, the table itself is what counts. */
  readExtra(raw: Readonly<Record<string, unknown>>): Extra
  writeExtra(extra: Extra): Readonly<Record<string, unknown>>
}

export interface Table<Extra> {
  readonly entries: Map<string, string>
  readonly extra: Extra
  /** Fields of the file that this version does not know; they are written back. */
  readonly unknown: Readonly<Record<string, unknown>>
}

export function readTable<Extra>(planning: Planning, kind: TableFile<Extra>): Table<Extra> {
  const path = pathToRead(planning, kind.file)
  const bytes = path === undefined ? undefined : readFileIfThere(path)
  return bytes === undefined ? emptyTable(kind) : parseTable(kind, kind.file, bytes)
}

/** Lets `change` alter the table under the lock and passes on its answer; false leaves the file as it is. */
export async function updateTable<Extra>(
  planning: Planning,
  kind: TableFile<Extra>,
  change: (table: Table<Extra>) => boolean,
): Promise<boolean> {
  const path = pathToWrite(planning, kind.file)
  let isChanged = false
  await updateFile(
    path,
    (before) => {
      const table = before === undefined ? emptyTable(kind) : parseOrSetAside(planning, kind, path, before)
      isChanged = change(table)
      return isChanged ? formatTable(kind, table) : undefined
    },
    { mode: modeOf(path), waitMs: TABLE_LOCK_WAIT_MS },
  )
  return isChanged
}

export function formatTable<Extra>(kind: TableFile<Extra>, table: Table<Extra>): string {
  const file = {
    version: PROTOCOL_VERSION,
    [kind.field]: Object.fromEntries([...table.entries].map(([id, text]) => [id, kind.writeValue?.(text) ?? text])),
    ...kind.writeExtra(table.extra),
    ...table.unknown,
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

function emptyTable<Extra>(kind: TableFile<Extra>): Table<Extra> {
  return { entries: new Map(), extra: kind.readExtra({}), unknown: {} }
}

export function parseTable<Extra>(kind: TableFile<Extra>, name: string, bytes: Uint8Array): Table<Extra> {
  const { version, [kind.field]: table = {}, ...others } = parseObject(name, bytes)
  if (version !== undefined && (typeof version !== 'string' || !version.startsWith('2.')))
    throw new HeimdallError(
      'STORE_NEWER',
      `${name} has version ${printable(JSON.stringify(version))}, this program knows 2.x`,
      {
        hint: 'update Heimdall',
      },
    )
  if (!isObject(table)) throw corrupt(name, `${kind.field} is not an object`)
  const entries = new Map<string, string>()
  for (const [id, value] of Object.entries(table)) {
    // A number or boolean edited in by hand is as good as its text.
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw corrupt(name, `${kind.field}.${printable(id)} is not a text`)
    entries.set(id, String(value))
  }
  const extra = kind.readExtra(others)
  const known = new Set(Object.keys(kind.writeExtra(extra)))
  return { entries, extra, unknown: Object.fromEntries(Object.entries(others).filter(([key]) => !known.has(key))) }
}

export function parseObject(name: string, bytes: Uint8Array): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
    throw corrupt(name, error.message, error)
  }
  if (isObject(value)) return value
  throw corrupt(name, 'it is not a JSON object')
}

function corrupt(name: string, why: string, cause?: unknown): HeimdallError {
  return new HeimdallError('STORE_CORRUPT', `${name} cannot be read: ${why}`, {
    hint: 'repair it by hand, or let the next write set it aside and start a new one',
    cause,
  })
}

function parseOrSetAside<Extra>(
  planning: Planning,
  kind: TableFile<Extra>,
  path: string,
  bytes: Uint8Array,
): Table<Extra> {
  try {
    return parseTable(kind, kind.file, bytes)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'STORE_CORRUPT') throw error
    const kept = `${path}.corrupt-${new Date(planning.clock.wallMs()).toISOString().replaceAll(/[-:.]/g, '')}-${process.pid}`
    renameSync(path, kept)
    planning.note(`note: ${error.message}; kept as ${basename(kept)}, a new ${basename(path)} was started`)
    return emptyTable(kind)
  }
}

/** A state file keeps the mode that its owner gave it; a new one is as readable as the rest of the project. */
export function modeOf(path: string): number {
  try {
    return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777
  } catch (error) {
    if (isErrno(error, 'EACCES', 'ENOTDIR')) return 0o644
    throw error
  }
}
