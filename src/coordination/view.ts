// A repository's coordination as a reader sees it. Kept light: a check before every edit must cost no more than it has to.
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Project } from '../paths.ts'
import { type Machine, type Moment, momentOf, readMachine } from './moment.ts'
import { openSqliteStore } from './sqlite-store.ts'
import type { Store } from './store.ts'

export interface View {
  readonly project: Project
  readonly store: Store
  readonly staleMs: number
  readonly now: () => Moment
}

export interface ViewOptions {
  readonly project: Project
  readonly clock: Clock
  readonly staleMinutes: number
  readonly machine?: Machine
}

export const storePath = (project: Project): string => join(project.coordinationDir, 'coordination.db')

/** Nothing when the repository has no store yet: then nobody holds anything. */
export function openView({ project, clock, staleMinutes, machine = readMachine() }: ViewOptions): View | undefined {
  const store = openSqliteStore(storePath(project), { readOnly: true })
  if (store === undefined) return undefined
  return { project, store, staleMs: staleMinutes * 60_000, now: () => momentOf(clock, machine) }
}
