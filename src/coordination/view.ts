// A repository's coordination as a reader sees it. Kept light: a check before every edit must cost no more than it has to.
import type { Clock } from '../clock.ts'
import type { Project } from '../paths.ts'
import type { Observer } from './who/alive.ts'
import type { Fate, ProcessRef } from './who/process-ref.ts'
import { type Machine, type Moment, momentOf, readMachine } from './moment.ts'
import { openSqliteStore } from './sqlite/open-store.ts'
import type { Store } from './store.ts'
import { storePath } from './store-path.ts'

export interface View extends Observer {
  readonly project: Project
  readonly store: Store
  readonly now: () => Moment
}

export interface ViewOptions {
  readonly project: Project
  readonly clock: Clock
  /** What the caller's own configuration says, if it says anything. */
  readonly staleMinutes?: number | undefined
  readonly machine?: Machine
  /** What is known of processes. */
  readonly fateOf?: (ref: ProcessRef) => Fate
}

/** Nothing when the repository has no store yet: then nobody holds anything. */
export function openView({
  project,
  clock,
  staleMinutes,
  machine = readMachine(),
  fateOf = unknownFate,
}: ViewOptions): View | undefined {
  const store = openSqliteStore(storePath(project), { clock, readOnly: true })
  if (store === undefined) return undefined
  return { project, store, staleMinutes, fateOf, now: () => momentOf(clock, machine) }
}

/** Whether anybody at all is in the way does not depend on who is alive, and looking at processes would have to be loaded first. */
const unknownFate = (): Fate => 'unknown'
