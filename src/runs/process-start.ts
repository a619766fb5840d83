// Which process a pid means: the pid together with the time it started, because pids are used again.
import { isSame, readStat } from '../processes.ts'
import type { ParentProcess } from './run-totals.ts'

/** The start of a living process in the words of its system, or nothing when there is no such process. */
export function startOf(pid: number): string | undefined {
  const stat = readStat(pid)
  return stat === undefined || stat.isZombie ? undefined : String(stat.startTicks)
}

export function isAlive({ pid, start }: ParentProcess): boolean {
  return isSame({ pid, startTicks: Number(start) })
}
