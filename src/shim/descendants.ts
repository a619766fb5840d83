// Processes that an upstream has left behind, found by the mark in their environment or by their process group.
import { readdirSync } from 'node:fs'
import { isErrno } from '../errors.ts'
import { hasInEnvironment, readStat } from '../processes.ts'
import { SHIM_MARK } from './guardian.ts'

/** What is alive of a process group, and of everything that carries the mark. Where the system shows neither, the group as a whole. */
export function survivors(group: number | undefined, mark: string): readonly number[] {
  const listed = pids()
  if (listed === null) return group !== undefined && signal(-group, 0) ? [-group] : []
  return listed.filter((pid) => {
    const stat = readStat(pid)
    if (stat === undefined || stat.isZombie) return false
    return stat.pgrp === group || hasInEnvironment(pid, `${SHIM_MARK}=${mark}`)
  })
}

function pids(): readonly number[] | null {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

/** Sends a signal to a process, or to a group as a negative pid; false when there is none that may be signalled. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch (error) {
    if (isErrno(error, 'ESRCH', 'EPERM')) return false
    throw error
  }
}
