// The trail of a host's hooks: one line for each time that one was called, by which everybody can tell whether they fire, and what the host is doing now.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { ignore, isErrno } from '../errors.ts'
import { HOOK_TRAIL_BYTES_MAX } from '../limits.ts'
import type { Project } from '../paths.ts'
import type { ProcessRef } from './who/process-ref.ts'

export interface TrailLine {
  /** By the wall: it is compared with when files were written. */
  readonly at: number
  readonly event: string
  readonly host: string
  readonly session?: string | undefined
  readonly tool?: string | undefined
  readonly use?: string | undefined
  readonly denied?: true
  /** Of the start of a session. */
  readonly agent?: string | undefined
  readonly transcript?: string | undefined
  /** Calls of this turn that no hook was asked about, told at its end. */
  readonly missed?: readonly string[]
}

export interface Trail {
  readonly tree: ProcessRef
  readonly lines: readonly TrailLine[]
}

/** Where all of it lies, for whoever watches for news. */
export const trailsDir = ({ coordinationDir }: Project): string => join(coordinationDir, 'hosts')
const trailName = (tree: ProcessRef): string => `${encodeURIComponent(tree)}.jsonl`
const trailPath = (project: Project, tree: ProcessRef): string => join(trailsDir(project), trailName(tree))
/** Endings of what lies beside a trail. */
const SPENT = '.spent'
const WAITS = '.waits'

/** One write, so that hooks that are called at once do not mix. */
export function leaveTrail(project: Project, tree: ProcessRef, line: TrailLine): void {
  const fd = opened(project, trailPath(project, tree))
  try {
    writeSync(fd, `${JSON.stringify(line)}\n`)
  } finally {
    closeSync(fd)
  }
}

function opened(project: Project, path: string): number {
  try {
    return openSync(path, 'a', 0o600)
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
    makeTrailsDir(project)
    return openSync(path, 'a', 0o600)
  }
}

/** Not recursive: the store made the parent folder, and a repository that was removed meanwhile must not be created again. */
export function makeTrailsDir(project: Project): void {
  try {
    mkdirSync(trailsDir(project), { mode: 0o700 })
  } catch (error) {
    ignore('EEXIST')(error)
  }
}

export function readTrail(project: Project, tree: ProcessRef): Trail {
  return { tree, lines: linesIn(trailPath(project, tree)) }
}

export const hasTrail = (project: Project, tree: ProcessRef): boolean => existsSync(trailPath(project, tree))

/** Of every host that has called a hook here. */
export function allTrails(project: Project): Trail[] {
  return namesIn(trailsDir(project)).map((name) => ({
    tree: decodeURIComponent(name.slice(0, -'.jsonl'.length)),
    lines: linesIn(join(trailsDir(project), name)),
  }))
}

/** Of hosts that have ended, and of those that have grown past all use. */
export function clearTrails(project: Project, isGone: (tree: ProcessRef) => boolean): void {
  for (const name of namesIn(trailsDir(project))) {
    const path = join(trailsDir(project), name)
    if (isGone(decodeURIComponent(name.slice(0, -'.jsonl'.length))) || isTooLarge(path)) remove(path)
  }
  for (const ending of [`.jsonl${WAITS}`, `.jsonl${SPENT}`, '.jsonl.slip', '.jsonl.lock'])
    clearMarks(project, ending, isGone)
}

const isTooLarge = (path: string): boolean =>
  (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > HOOK_TRAIL_BYTES_MAX

const namesIn = (dir: string): string[] => filesIn(dir, '.jsonl')

const filesIn = (dir: string, ending: string): string[] =>
  existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith(ending)) : []

/** A line that was cut off by a kill is none. */
function linesIn(path: string): TrailLine[] {
  return (readIfThere(path) ?? '').split('\n').flatMap((line) => {
    if (line === '') return []
    try {
      return [JSON.parse(line) as TrailLine]
    } catch (error) {
      if (error instanceof SyntaxError) return []
      throw error
    }
  })
}

/** Beside the trail while a process notices what the session writes unasked. */
const watchPath = (project: Project, tree: ProcessRef): string => `${trailPath(project, tree)}.watched`

export function markWatched(project: Project, tree: ProcessRef, by: ProcessRef): void {
  try {
    makeTrailsDir(project)
    writeFileSync(watchPath(project, tree), by, { mode: 0o600 })
  } catch (error) {
    // The repository was removed: no reader of the mark is left.
    ignore('ENOENT')(error)
  }
}

export const unmarkWatched = (project: Project, tree: ProcessRef): void => remove(watchPath(project, tree))

/** Marks that nobody will take away any more. */
export const clearWatched = (project: Project, isGone: (tree: ProcessRef) => boolean): void =>
  clearMarks(project, '.jsonl.watched', isGone)

function clearMarks(project: Project, ending: string, isGone: (tree: ProcessRef) => boolean): void {
  for (const name of filesIn(trailsDir(project), ending))
    if (isGone(decodeURIComponent(name.slice(0, -ending.length)))) remove(join(trailsDir(project), name))
}

/** The process that watches, alive or not. */
export const watcherOf = (project: Project, tree: ProcessRef): ProcessRef | undefined =>
  readIfThere(watchPath(project, tree))

function readIfThere(path: string): string | undefined {
  // Mostly there is none, and to ask is much cheaper than to be refused.
  if (!existsSync(path)) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Not `rmSync`: what that loads of Node costs a hook twenty times what the removal does. */
function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    ignore('ENOENT')(error)
  }
}

/** Beside the trail: what may pass for as long as nothing changes. */
export const slipPath = (project: Project, tree: ProcessRef): string => `${trailPath(project, tree)}.slip`

/** What the session has cost so far, for whoever shows it; the record of its run has the whole. */
const spentPath = (project: Project, tree: ProcessRef): string => `${trailPath(project, tree)}${SPENT}`

export function putSpent(project: Project, tree: ProcessRef, spent: object): void {
  writeFileSync(spentPath(project, tree), JSON.stringify(spent), { mode: 0o600 })
}

/** What lies beside the trail of a session: what it has cost, and the wait that is marked and goes on. As it was put; nothing where there is none, or while it is written. */
export interface SessionNotes {
  readonly spent: unknown
  readonly wait: unknown
}

/** For whoever asks about many sessions: one look at the folder, and only what is there is opened. */
export function notesOfSessions(project: Project): (tree: ProcessRef) => SessionNotes {
  const names = new Set(filesIn(trailsDir(project), ''))
  if (names.size === 0) return () => NO_NOTES
  return (tree) => {
    const name = trailName(tree)
    return {
      spent: names.has(`${name}${SPENT}`) ? jsonIn(spentPath(project, tree)) : undefined,
      wait: names.has(`${name}${WAITS}`) ? jsonIn(waitPath(project, tree)) : undefined,
    }
  }
}

const NO_NOTES: SessionNotes = { spent: undefined, wait: undefined }

function jsonIn(path: string): unknown {
  const text = readIfThere(path) ?? ''
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** For whoever must be alone with what belongs to the session. */
export const trailLockPath = trailPath

/** Beside the trail while a person is waited for: the next hook looks there first. */
const waitPath = (project: Project, tree: ProcessRef): string => `${trailPath(project, tree)}${WAITS}`

export const isWaiting = (project: Project, tree: ProcessRef): boolean => existsSync(waitPath(project, tree))

export function markWait(project: Project, tree: ProcessRef, wait: string): void {
  makeTrailsDir(project)
  const fd = openSync(waitPath(project, tree), 'w', 0o600)
  try {
    writeSync(fd, wait)
  } finally {
    closeSync(fd)
  }
}

/** The wait that was marked; it is over. Of several that take it, one has it; one that was cut short is none. */
export function takeWait(project: Project, tree: ProcessRef): unknown {
  const path = waitPath(project, tree)
  const taken = `${path}.${process.pid}`
  try {
    renameSync(path, taken)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
  const wait = jsonIn(taken)
  remove(taken)
  return wait
}
