// Where questions to a person lie: one small database in the folder of each run that has asked, closed when the run ends.
import { existsSync, lstatSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SOLO_KEPT_MS } from '../limits.ts'
import { namesIn } from '../storage/folder-names.ts'
import { openDatabase } from '../storage/sqlite.ts'
import { APPROVAL_MIGRATIONS, Approvals, type Request } from './approvals.ts'
import { questionsPath } from './questions-path.ts'
import { joinMembers, lookAtMembers, type RunMembership } from './run-members.ts'

/** Shims that are alone and have no folder of a run keep their questions here, one folder each, until they end. */
const soloDir = (runsDir: string): string => join(runsDir, '.solo')

function openApprovals(folder: string): Approvals {
  return new Approvals(openDatabase(questionsPath(folder), { migrations: APPROVAL_MIGRATIONS }))
}

export interface RunApprovals {
  readonly folder: string
  /** Opened with the first question. */
  opened(): Approvals
  close(): void
}

/**
 * With the run's state; a shim alone, which has no such folder, gets one until it ends. While it lives it is a member
 * there, so that what a killed one has left behind can be told.
 */
export function runApprovals(
  runDir: string | null,
  alone: { readonly runsDir: string; readonly folder: string; readonly shimId: string },
): RunApprovals {
  const solo = join(soloDir(alone.runsDir), alone.folder)
  let membership: RunMembership | undefined
  let approvals: Approvals | undefined
  return {
    folder: runDir ?? solo,
    opened() {
      if (runDir === null) membership ??= joinMembers(solo, alone.shimId)
      approvals ??= openApprovals(runDir ?? solo)
      return approvals
    },
    close() {
      approvals?.close()
      if (membership === undefined) return
      rmSync(solo, { recursive: true, force: true })
      membership.leave()
    },
  }
}

/** Folders in which somebody was asked. What a killed shim has left behind asks nobody any more. */
export function askingFolders(runsDir: string): string[] {
  const ofRuns = namesIn(runsDir)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(runsDir, name))
    // Never through a link: to open the questions writes beside them.
    .filter((folder) => lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true)
  return [...ofRuns, ...soloFolders(runsDir).filter(isInUse)].filter((folder) => existsSync(questionsPath(folder)))
}

export function withApprovals<T>(folder: string, act: (approvals: Approvals) => T): T {
  const approvals = openApprovals(folder)
  try {
    return act(approvals)
  } finally {
    approvals.close()
  }
}

/** The requests of all runs. */
export function requestsIn(runsDir: string): { readonly folder: string; readonly request: Request }[] {
  return askingFolders(runsDir).flatMap((folder) =>
    withApprovals(folder, (approvals) => approvals.list()).map((request) => ({ folder, request })),
  )
}

/** For those who only look: nothing is written, and nobody's transaction is waited for. */
export function readApprovals(folder: string): Request[] {
  const db = openDatabase(questionsPath(folder), { migrations: APPROVAL_MIGRATIONS, readOnly: true })
  try {
    return new Approvals(db).list()
  } finally {
    db.close()
  }
}

/** The run in this folder is over. */
export function closeQuestions(folder: string, at: string): void {
  if (existsSync(questionsPath(folder))) withApprovals(folder, (approvals) => approvals.closeOpen(at))
}

/** Removes what killed shims have left behind. A young folder may belong to one that is just beginning. */
export function sweepSoloFolders(runsDir: string, nowMs: number): void {
  for (const folder of soloFolders(runsDir)) {
    const madeMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? nowMs
    if (nowMs - madeMs > SOLO_KEPT_MS && !isInUse(folder)) rmSync(folder, { recursive: true, force: true })
  }
}

function soloFolders(runsDir: string): string[] {
  return namesIn(soloDir(runsDir)).map((name) => join(soloDir(runsDir), name))
}

function isInUse(folder: string): boolean {
  return lookAtMembers(folder).alive.length > 0
}
