// What is left of a start, so that whoever comes after a `kill -9` finds the task again.
import { join } from 'node:path'
import type { Assignment } from '../../coordination/dispatched.ts'
import type { WorktreeState } from '../../spine/worktree-state.ts'
import { readJsonIfThere, writePrivate } from '../json-file.ts'

export interface BegunTask {
  readonly session: { readonly dir: string; readonly id: string; readonly supervisorPid: number }
  readonly root: string
  /** There until the run is closed. */
  readonly sheet?: string
  readonly branch: string | null
  readonly before: WorktreeState | null
}

/** One folder for each assignment. */
export class BegunTasks {
  readonly #dir: string

  constructor(dir: string) {
    this.#dir = dir
  }

  folder({ assignmentId }: Assignment): string {
    return join(this.#dir, assignmentId)
  }

  keep(assignment: Assignment, begun: BegunTask): void {
    writePrivate(this.#path(assignment), JSON.stringify(begun))
  }

  of(assignment: Assignment): BegunTask | undefined {
    return readJsonIfThere(this.#path(assignment)) as BegunTask | undefined
  }

  #path(assignment: Assignment): string {
    return join(this.folder(assignment), 'begun.json')
  }
}
