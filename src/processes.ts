// What the system says of processes: parents, groups, sessions, start times. A pid alone names nobody for long.
import { existsSync } from 'node:fs'
import { bootId } from './boot-id.ts'
import { HeimdallError } from './errors.ts'
import type { ProcessId, ProcessSource, ProcessStat, ProcessTable, RecordedProcess } from './process-table.ts'
import { procSource } from './proc-source.ts'
import { psSource, psSourceWithoutEnvironment } from './ps-source.ts'

const SOURCES = { proc: procSource, ps: psSource, 'ps-without-environment': psSourceWithoutEnvironment }

let chosen: ProcessSource | undefined

/** Names a source instead of taking the one that this system has: how a test runs the other one. */
export function readProcessesFrom(name: string): void {
  if (!Object.hasOwn(SOURCES, name))
    throw new HeimdallError('USAGE', `HEIMDALL_PROCESSES must be one of ${Object.keys(SOURCES).join(', ')}`)
  chosen = SOURCES[name as keyof typeof SOURCES]
}

let best: ProcessSource | undefined

function systemSource(): ProcessSource {
  best ??= existsSync('/proc/self/stat') ? procSource : psSource
  return best
}

function source(): ProcessSource {
  chosen ??= systemSource()
  return chosen
}

/** By the best that this system has, whatever was named: what decides who may act is not weakened by the caller's environment. */
export function lookUnswayed(): ProcessTable {
  return systemSource().look()
}

/** For more than one question: each of the functions below takes a look of its own. */
export function lookAtProcesses(): ProcessTable {
  return source().look()
}

/** The same without holding up whoever asks. */
export function lookAside(): Promise<ProcessTable> {
  return source().lookAside()
}

/** How often a tree may be looked at for good measure. */
export function scanMs(): number {
  return source().scanMs
}

/** Whether this process, or one below it, stands still in a read of its terminal; false where the system does not tell. */
export function isReadingTerminal(pid: number): boolean {
  return source().isReadingTerminal(pid)
}

/** Nothing when there is no such process. */
export function readStat(pid: number): ProcessStat | undefined {
  return lookAtProcesses().stat(pid)
}

/** True while exactly this process runs; a zombie has ended. */
export function isSame(process: ProcessId, table: ProcessTable = lookAtProcesses()): boolean {
  const stat = table.stat(process.pid)
  return stat !== undefined && !stat.isZombie && isSameStart(stat, process)
}

/** A reused pid is not the one that was meant: the start time tells, and after a reboot nothing of before is alive. */
export function isStillAlive({ pid, startTicks, boot }: RecordedProcess): boolean {
  if (boot !== undefined && boot !== bootId()) return false
  if (startTicks !== undefined) return isSame({ pid, startTicks })
  const stat = readStat(pid)
  return stat !== undefined && !stat.isZombie
}

/** True when two start times of one pid are those of one process. */
export function isSameStart(one: ProcessId, other: ProcessId): boolean {
  return Math.abs(one.startTicks - other.startTicks) <= source().startTolerance
}

/** True unless the first process is known to be older. */
export function isStartedAfter(one: ProcessId, other: ProcessId): boolean {
  return one.startTicks + source().startTolerance >= other.startTicks
}

/** Milliseconds since the process started, from the start of this one; undefined when this one cannot be found. */
export function ageMsOf({ startTicks }: ProcessId): number | undefined {
  const own = lookUnswayed().stat(process.pid)
  return own === undefined
    ? undefined
    : process.uptime() * 1_000 + (own.startTicks - startTicks) * systemSource().tickMs
}

/** The command line as one may show it; empty for a process that is gone or not ours. */
export function commandLine(pid: number): string {
  return lookAtProcesses().commandWords(pid).join(' ')
}

/** Shell text that prints the pids of all processes that carry the environment entry `$1`. */
export function markedScript(): string {
  return source().markedScript
}
