// Processes that an upstream has left behind, found by the mark in their environment or by their process group.
import { readdirSync, readFileSync } from 'node:fs'
import { isErrno } from '../errors.ts'
import { SHIM_MARK } from './guardian.ts'

/** What is alive of a process group, and of everything that carries the mark. Where the system shows neither, the group as a whole. */
export function survivors(group: number | undefined, mark: string): readonly number[] {
  const listed = pids()
  if (listed === null) return group !== undefined && signal(-group, 0) ? [-group] : []
  const needle = Buffer.from(`${SHIM_MARK}=${mark}\0`)
  return listed.filter((pid) => {
    try {
      // The name in parentheses may hold anything; after it come state, parent and group.
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (state === 'Z') return false
      return Number(pgrp) === group || readFileSync(`/proc/${pid}/environ`).includes(needle)
    } catch (error) {
      // Gone in the meantime, or not ours to look at.
      if (isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return false
      throw error
    }
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
