// The process tree of a session: all that came of its child, but for sessions that were started from inside it.
import type { FileId, ProcessId, ProcessTable } from './process-table.ts'
import { ProcessTree } from './process-tree.ts'
import { isWatcher, supervisedBy } from './supervisor-process.ts'
import { KEY_VARIABLE, SUPERVISOR_VARIABLE } from './session-variables.ts'

export function sessionTree(root: {
  readonly child: ProcessId | undefined
  readonly key: string | undefined
  readonly terminal?: FileId
}): ProcessTree {
  const { key, ...rest } = root
  const mark = key === undefined ? undefined : `${KEY_VARIABLE}=${key}`
  return new ProcessTree({ ...rest, mark, isForeign: isSupervisor })
}

/** A session started from inside this one is somebody's own session; it ends on its own terms. */
const isSupervisor = (table: ProcessTable, pid: number): boolean =>
  table.hasInEnvironment(pid, `${SUPERVISOR_VARIABLE}=`) ||
  // For systems that do not show an environment.
  supervisedBy(table, pid) !== undefined ||
  (isWatcher(table, pid) && !table.hasInEnvironment(process.pid, ''))
