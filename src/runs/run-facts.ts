// What is to be said of a run: who, since when, how it went so far, and how much room it takes.
import fs from 'node:fs'
import { basename, join } from 'node:path'
import { isErrno } from '../errors.ts'
import type { RunIdentity, RunStatus } from '../events/types.ts'
import { questionsPath } from './open-questions.ts'
import { countersPath } from './counters.ts'
import { folderOf } from './open-run.ts'
import { type RecordLine, RecordReader } from './record-reader.ts'
import { emptyBooks, enterStored, type RunBooks } from './run-books.ts'
import { booksPath, readBooks, recordPath } from './run-log.ts'
import { lookAtMembers } from './run-members.ts'

/** Folders of runs, those that changed last first; what begins with a dot is none. */
export interface RunFolder {
  readonly runDir: string
  readonly changedMs: number
  readonly bytes: number
}

export interface RunFacts {
  /** Null where nothing of the record can be read. */
  readonly run_id: string | null
  readonly folder: string
  readonly state: 'open' | 'ended'
  /** Of a run that goes on, the worst that was reported so far. */
  readonly status: RunStatus
  readonly segment: number
  readonly agent_id: string | null
  readonly client: string | null
  readonly haid: string | null
  readonly session_id: string | null
  readonly started_at: string | null
  readonly changed_at: string
  readonly calls: RunBooks['counts']
  /** Processes that take part in it now. */
  readonly members: number
  readonly bytes: number
}

export function runFolders(runsDir: string): RunFolder[] {
  return namesIn(runsDir)
    .filter((name) => !name.startsWith('.'))
    .map((name) => measured(join(runsDir, name)))
    .toSorted((a, b) => b.changedMs - a.changedMs)
}

/** The folder of a run by its id; undefined when there is none. */
export function findRun(runsDir: string, runId: string): RunFolder | undefined {
  const runDir = join(runsDir, folderOf(runId))
  return fs.existsSync(runDir) ? measured(runDir) : undefined
}

export function factsOf({ runDir, changedMs, bytes }: RunFolder): RunFacts {
  const who = identityIn(runDir)
  const books = booksOf(runDir)
  const members = lookAtMembers(runDir).alive.length
  return {
    run_id: who?.run_id ?? null,
    folder: basename(runDir),
    state: members > 0 || (books.segment > 0 && !books.hasEnded) ? 'open' : 'ended',
    status: books.status,
    segment: books.segment,
    agent_id: who?.agent_id ?? null,
    client: who?.client ?? null,
    haid: who?.haid ?? null,
    session_id: who?.session_id ?? null,
    started_at: books.startedMs === null ? null : new Date(books.startedMs).toISOString(),
    changed_at: new Date(changedMs).toISOString(),
    calls: books.counts,
    members,
    bytes,
  }
}

/** The books, with what stands in the record beyond them. */
function booksOf(runDir: string): RunBooks {
  const stored = storedBooks(runDir)
  const books = stored !== undefined && stored.bytes <= sizeOf(recordPath(runDir)) ? stored : emptyBooks()
  eachLine(runDir, books.bytes, ({ text, event }) => {
    enterStored(books, text)
    if (event.type === 'run_end') books.status = event.run?.status as RunStatus
    return true
  })
  return books
}

function storedBooks(runDir: string): RunBooks | undefined {
  let fd: number
  try {
    fd = fs.openSync(booksPath(runDir), 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    return readBooks(fd)
  } finally {
    fs.closeSync(fd)
  }
}

function identityIn(runDir: string): RunIdentity | undefined {
  let found: RunIdentity | undefined
  eachLine(runDir, 0, ({ event }) => {
    found = event as unknown as RunIdentity
    return false
  })
  return found
}

function eachLine(runDir: string, from: number, visit: (line: RecordLine) => boolean): void {
  const reader = new RecordReader(runDir, from)
  try {
    for (;;) {
      const lines = reader.read()
      if (lines === 'gone' || lines.length === 0) return
      for (const line of lines) if (!visit(line)) return
    }
  } finally {
    reader.close()
  }
}

/** What takes room in a run; the rest of its folder is a few empty files. */
function measured(runDir: string): RunFolder {
  const record = fs.statSync(recordPath(runDir), { throwIfNoEntry: false })
  const changedMs = record?.mtimeMs ?? fs.statSync(runDir, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const bytes = [countersPath(runDir), questionsPath(runDir)].reduce((sum, path) => sum + sizeOf(path), 0)
  return { runDir, changedMs, bytes: bytes + (record?.size ?? 0) }
}

function sizeOf(path: string): number {
  return fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}
