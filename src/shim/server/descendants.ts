// What an upstream has started, wherever it went, as the shim knows it and as its guardian has to know it.
import type { Clock, Timer } from '../../clock.ts'
import { isErrno } from '../../errors.ts'
import { ProcessTree } from '../../process-tree.ts'
import { readStat } from '../../processes.ts'
import { type Guardian, SHIM_MARK } from './guardian.ts'

/** The tree below a server that was just started; its number is that of its group as well. */
export function treeOf(pid: number | undefined, mark: string): ProcessTree {
  const stat = pid === undefined ? undefined : readStat(pid)
  return new ProcessTree({ child: stat, mark: `${SHIM_MARK}=${mark}` })
}

/** Looks now and then, so that a daemon is seen while its parent lives, and tells the guardian of those that left the group. */
export function watchTree(
  tree: ProcessTree,
  group: number,
  guardian: Guardian,
  clock: Clock,
  note: (line: string) => void,
): Timer {
  const told = new Set<number>()
  return tree.watch(clock, note, (table) => {
    for (const one of tree.known) {
      if (told.has(one.pid) || table.stat(one.pid)?.pgrp === group) continue
      told.add(one.pid)
      guardian.alsoWatch(one)
    }
  })
}

/** Sends a signal to a process, or to a group as a negative pid; false when there is none that may be signalled. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch (error) {
    if (isErrno(error, 'ESRCH', 'EPERM')) return false
    throw error
  }
}
