// Which process a pid means: the pid together with the time it started, because pids are used again.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isErrno } from '../errors.ts'
import type { ParentProcess } from './run-books.ts'

/** The start of a living process in the words of its system, or nothing when there is no such process. */
export function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold spaces and parentheses; after the last one fields are counted from 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ESRCH')) throw error
    return process.platform === 'linux' ? undefined : askPs(pid)
  }
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
