// Sessions as their files tell of them: which there are, who runs them, how they ended. Never destructive.
import { statSync } from 'node:fs'
import { HeimdallError } from '../errors.ts'
import { isId } from '../ids.ts'
import { readFileIfThere } from '../storage/atomic-file.ts'
import { folderError, onDisk } from '../storage/faults.ts'
import { namesIn } from '../storage/folder-names.ts'
import { isStillAlive } from '../processes.ts'
import { type ExitRecord, parseExitRecord } from '../wire/exit-record.ts'
import { type Holder, parseHolder, supervisorOf } from '../wire/pid-file.ts'
import { sessionPaths } from '../wire/session-paths.ts'

export type { ExitRecord }

export function readHolder(dir: string, id: string): Holder | undefined {
  const bytes = readFileIfThere(sessionPaths(dir, id).pid)
  return bytes === undefined ? undefined : parseHolder(bytes.toString('utf8'))
}

export const socketOf = (dir: string, id: string): string => sessionPaths(dir, id).socket

export const isSupervisorAlive = (holder: Holder): boolean => isStillAlive(supervisorOf(holder))

/** Nothing for a file that is not one of these. */
export function readExitRecord(dir: string, id: string): ExitRecord | undefined {
  return parseExitRecord(readFileIfThere(sessionPaths(dir, id).exit)?.toString('utf8'))
}

/**
 * `running`; `lost`: its supervisor died without settling it; `ended`: only the record and the log are left;
 * `unreadable`: what is in the place of its files is not ours to read. Only a list has the last, to go on with the others.
 */
export type SessionEntry = {
  readonly id: string
  readonly holder: Holder | undefined
  readonly exit: ExitRecord | undefined
  readonly state: 'running' | 'lost' | 'ended' | 'unreadable'
}

export function findSession(dir: string, id: string): SessionEntry | undefined {
  const holder = readHolder(dir, id)
  if (holder !== undefined && isSupervisorAlive(holder))
    return { id, holder, exit: readable(() => readExitRecord(dir, id)), state: 'running' }
  const exit = readExitRecord(dir, id)
  if (holder !== undefined) return { id, holder, exit, state: 'lost' }
  if (exit !== undefined) return { id, holder, exit, state: 'ended' }
  const { socket } = sessionPaths(dir, id)
  const there = onDisk(socket, () => statSync(socket, { throwIfNoEntry: false }))
  if (there?.isDirectory() === true) throw folderError(socket)
  return there === undefined ? undefined : { id, holder, exit, state: 'lost' }
}

/** All sessions of a folder by id; an absent folder has none. */
export function listSessions(dir: string): SessionEntry[] {
  const ids = new Set(filesIn(dir).flatMap((name) => /^(.+?)\.(?:sock|pid|exit\.json)$/.exec(name)?.[1] ?? []))
  return [...ids]
    .filter((id) => isId(id))
    .sort()
    .flatMap((id) => findListed(dir, id) ?? [])
}

/** One of the list: what cannot be read is an answer there. */
export function findListed(dir: string, id: string): SessionEntry | undefined {
  const entry = readable(() => ({ found: findSession(dir, id) }))
  return entry === undefined ? { id, holder: undefined, exit: undefined, state: 'unreadable' } : entry.found
}

/** Nothing for what is no plain file of ours; a running session and its neighbours are not to suffer from it. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof HeimdallError && UNREADABLE.has(error.code)) return undefined
    throw error
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['STORE_UNREADABLE', 'STORE_CORRUPT'])

/** Names of everything in the folder; an absent one has none. */
export const filesIn = (dir: string): string[] => onDisk(dir, () => namesIn(dir))
