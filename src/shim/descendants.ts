// Processes that an upstream has left behind, found by the mark in their environment or by their process group.
import { isErrno } from '../errors.ts'
import { lookAtProcesses } from '../processes.ts'
import { SHIM_MARK } from './guardian.ts'

/** What is alive of a process group, and of everything that carries the mark. */
export function survivors(group: number | undefined, mark: string): readonly number[] {
  const table = lookAtProcesses()
  return table
    .all()
    .filter(({ isZombie }) => !isZombie)
    .filter(({ pid, pgrp }) => pgrp === group || table.hasInEnvironment(pid, `${SHIM_MARK}=${mark}`))
    .map(({ pid }) => pid)
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
