// A run with an owner: opened before its session starts. Whoever looks after that session goes on with `kept-record.ts`.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type {
  FilesChanged,
  ModelUsage,
  RunIdentity,
  RunStart,
  RunStatus,
  UsageTotal,
  WaitStart,
} from '../events/types.ts'
import { removeIfThere } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import { type Joining, joinRun } from './record.ts'
import type { ParentProcess } from './run-totals.ts'
import { openMark } from './run-close.ts'

export type { FilesChanged, ModelUsage, RunIdentity, RunStart, RunStatus, UsageTotal, WaitStart }

export interface OwnedRun {
  readonly runsDir: string
  readonly folder: string
  readonly identity: RunIdentity
  readonly start: RunStart
  /** The process that the run is about: while it lives, nobody takes the run for abandoned. */
  readonly supervisor: ParentProcess
}

export const joiningOf = ({ supervisor, ...run }: OwnedRun, clock: Clock): Joining => ({
  ...run,
  role: 'owner',
  parent: supervisor,
  quietMs: 0,
  clock,
})

/** Writes `run_start`. From here on the run goes on for as long as its supervisor lives, whoever else takes part. */
export async function openOwnedRun(run: OwnedRun, clock: Clock): Promise<void> {
  const record = await joinRun(joiningOf(run, clock))
  record.close()
}

/** For a start that came to nothing: the run has never been. */
export function undoOpening({ runsDir, folder }: Pick<OwnedRun, 'runsDir' | 'folder'>): void {
  const runDir = join(runsDir, folder)
  onDisk(runDir, () => rmSync(runDir, { recursive: true, force: true }))
  removeIfThere(openMark(runsDir, folder))
}
