// Which process a pid means: the pid together with the time it started, because pids are used again.
import { execFileSync } from 'node:child_process'
import { readStat } from '../processes.ts'
import type { ParentProcess } from './run-books.ts'

/** The start of a living process in the words of its system, or nothing when there is no such process. */
export function startOf(pid: number): string | undefined {
  const stat = readStat(pid)
  if (stat === undefined) return process.platform === 'linux' ? undefined : askPs(pid)
  return stat.isZombie ? undefined : String(stat.startTicks)
}

export function isAlive(parent: ParentProcess): boolean {
  return startOf(parent.pid) === parent.start
}

function askPs(pid: number): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return text === '' ? undefined : text
  } catch (error) {
    // ps exits with 1 when there is no such process.
    if (error instanceof Error && 'status' in error && error.status === 1) return undefined
    throw error
  }
}
