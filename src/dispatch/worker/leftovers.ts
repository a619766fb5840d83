// What ended tasks leave: worktrees without work in them go, those that hold some stay and are named.
import { existsSync } from 'node:fs'
import { pause } from '../../clock.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import type { Assignment } from '../../coordination/dispatched.ts'
import { TASK_CLOSE_WAIT_MS, TASK_LOOK_MS } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import { readRecords } from '../../spine/worktrees/owner-record.ts'
import { tidyWorktree } from '../../spine/worktrees/tidy.ts'
import { parseDispatch } from '../messages.ts'
import { agentNameFor } from '../needs.ts'

export interface LeftoversOptions {
  readonly room: Coordination
  readonly env: Env
  readonly note: (line: string) => void
}

export const agentOf = ({ workerId, contract }: Assignment): string =>
  agentNameFor(workerId, parseDispatch(JSON.parse(contract)))

/** Once the run is closed: until then the watcher still looks at what has changed. */
export async function tidyAfter(
  { room, env, note }: LeftoversOptions,
  assignment: Assignment,
  sheet: string | undefined,
): Promise<void> {
  const { clock, project } = room
  const until = clock.monoMs() + TASK_CLOSE_WAIT_MS
  const isOpen = (): boolean => sheet !== undefined && existsSync(sheet)
  while (isOpen() && clock.monoMs() < until) await pause(clock, TASK_LOOK_MS)
  for (;;) {
    const tidied = await tidyWorktree({ project, agent: agentOf(assignment), env })
    if (tidied.kind !== 'kept') return
    if (!tidied.isInUse || clock.monoMs() >= until)
      return note(`the worktree of ${assignment.taskId} stays at ${tidied.path}: ${tidied.why}`)
    await pause(clock, TASK_LOOK_MS)
  }
}

/** Of tasks that ended while nobody looked, and of those whose work has been merged since. */
export async function tidyAll(options: LeftoversOptions, ended: readonly Assignment[]): Promise<void> {
  const { project } = options.room
  if (project.gitCommonDir === undefined) return
  const there = new Set(readRecords(project).map(({ agent }) => agent))
  if (there.size === 0) return
  for (const assignment of ended) if (there.has(agentOf(assignment))) await tidyAfter(options, assignment, undefined)
}
