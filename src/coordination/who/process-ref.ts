// A process that something belongs to, named so that it cannot be confused with a later one, and so that its end can be proved.
import { readlinkSync } from 'node:fs'
import { bootId, UNKNOWN_BOOT } from '../../boot-id.ts'
import { isErrno } from '../../errors.ts'
import type { ProcessId } from '../../process-table.ts'
import { ageMsOf, isSame, lookUnswayed } from '../../processes.ts'

/** Boot and pid namespace, pid, start. Equal texts are the same process, and nothing else is. */
export type ProcessRef = string

/** Nothing when there is no such process. */
export function processRef(pid: number, table = lookUnswayed()): ProcessRef | undefined {
  const stat = table.stat(pid)
  return stat === undefined ? undefined : `${place()} ${pid} ${stat.startTicks}`
}

/** The pid, for people. */
export function pidOf(ref: ProcessRef): number {
  return Number(ref.split(' ')[1])
}

/** Nothing for a name that stands for no process. */
export function processIdOf(ref: ProcessRef): ProcessId | undefined {
  const [, pid, startTicks] = ref.split(' ').map(Number)
  if (pid === undefined || startTicks === undefined || Number.isNaN(pid) || Number.isNaN(startTicks)) return undefined
  return { pid, startTicks }
}

/** Milliseconds since the process started; undefined unless it runs here and now. */
export function ageMsOfRef(ref: ProcessRef): number | undefined {
  const id = processIdOf(ref)
  return id === undefined || fateOf(ref) !== 'alive' ? undefined : ageMsOf(id)
}

/** Alive and gone are proved; of what ran under another boot, or in another container, nothing is known. */
export type Fate = 'alive' | 'gone' | 'unknown'

export function fateOf(ref: ProcessRef): Fate {
  const [where, pid, startTicks] = ref.split(' ')
  if (where !== place() || bootId() === UNKNOWN_BOOT) return 'unknown'
  const number = Number(pid)
  const table = lookUnswayed()
  if (isSame({ pid: number, startTicks: Number(startTicks) }, table)) return 'alive'
  if (table.stat(number) !== undefined) return 'gone'
  // A process of another user may be hidden from us; whether it is there can be asked for all the same.
  return exists(number) ? 'unknown' : 'gone'
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: another user's, and alive.
    if (isErrno(error, 'EPERM')) return true
    if (isErrno(error, 'ESRCH')) return false
    throw error
  }
}

let known: string | undefined

/** Where pids mean the same: one boot of one machine, and one container on it. */
function place(): string {
  // On some systems a boot is told in words.
  known ??= `${bootId()}/${pidNamespace()}`.replace(/\s+/g, '-')
  return known
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch (error) {
    // Systems without namespaces have one.
    if (isErrno(error, 'ENOENT', 'EACCES')) return 'pid'
    throw error
  }
}
