// Settling a session whose supervisor died without a word: what is left of its tree is ended, its end is put on record, its files go.
import { appendFileSync, existsSync } from 'node:fs'
import { bootId } from '../boot-id.ts'
import { systemClock, type Clock } from '../clock.ts'
import { ID_LOCK_WAIT_MS, KILL_GRACE_MS, RECORD_COMMAND_CHARS_MAX, RECORD_COMMANDS_MAX } from '../limits.ts'
import type { ProcessId, ProcessTable } from '../process-table.ts'
import type { ProcessTree } from '../process-tree.ts'
import { isSameStart, isStartedAfter, lookAtProcesses } from '../processes.ts'
import { removeIfThere, replaceFile } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import { removeFileLock, withFileLock } from '../storage/file-lock.ts'
import { Ending } from '../process-ending.ts'
import { KEY_VARIABLE } from '../session-variables.ts'
import { isListening } from './listening.ts'
import { isSupervisorAlive, readExitRecord, readHolder } from './session-files.ts'
import { encodeExitRecord, type ExitRecord, isOfHolder } from '../wire/exit-record.ts'
import { type Holder, isSameHolder } from '../wire/pid-file.ts'
import { sessionPaths } from '../wire/session-paths.ts'
import { sessionTree } from '../session-tree.ts'

/** `orphaned`: processes of it still run, and nobody said that they may be ended. */
export type Settled = 'nothing' | 'alive' | 'orphaned' | 'settled'

/** A process that goes on without its session. */
export interface Orphan {
  readonly pid: number
  readonly command: string
}

/** The kernel hangs up on the tree when its supervisor dies: these are the ones who did not care. */
export function orphansOf(holder: Holder | undefined): readonly Orphan[] {
  if (holder === undefined) return []
  const table = lookAtProcesses()
  return (
    treeOf(holder, table)
      ?.members(table)
      .map(({ pid }) => ({ pid, command: table.commandWords(pid).join(' ') })) ?? []
  )
}

export interface Settling {
  readonly by: string | undefined
  readonly clock?: Clock
  /** What is left has heard the kernel hang up already, and is given this long when it is asked once more. */
  readonly graceMs?: number
}

/**
 * Safe to call at any time. `by` says for the record who wants the rest of the tree ended; without it nothing is
 * ended, and a session of which something still runs stays as it is.
 */
export async function settle(
  dir: string,
  id: string,
  { by, clock = systemClock, graceMs = KILL_GRACE_MS }: Settling,
): Promise<Settled> {
  const holder = readHolder(dir, id)
  if (holder !== undefined && isSupervisorAlive(holder)) return 'alive'
  const { pid, socket } = sessionPaths(dir, id)
  if (!existsSync(pid) && !existsSync(socket)) return 'nothing'
  // An id is taken under the same lock: nobody starts between a look and the removal that follows from it.
  const settled = await withFileLock(pid, () => settleLocked(dir, id, { by, clock, graceMs }), {
    clock,
    waitMs: ID_LOCK_WAIT_MS,
  })
  if (settled === 'settled') removeFileLock(pid)
  return settled
}

async function settleLocked(dir: string, id: string, { by, clock, graceMs }: Required<Settling>): Promise<Settled> {
  const paths = sessionPaths(dir, id)
  const holder = readHolder(dir, id)
  if (holder !== undefined && isSupervisorAlive(holder)) return 'alive'
  // Whatever has become of its pid file.
  if (await isListening(paths.socket)) return 'alive'
  const orphans = orphansOf(holder)
  if (orphans.length > 0 && by === undefined) return 'orphaned'
  const swept = holder === undefined ? 0 : await endTree(holder, clock, graceMs)
  // Looked at again, for those who do not know the lock: whoever cleared the folder by hand and started anew.
  if (!isSameHolder(readHolder(dir, id), holder)) return 'alive'
  if (orphans.length > 0) note(paths.log, by ?? '', orphans, clock)
  // Its own record, written before it was killed, knows more.
  if (holder !== undefined && !isOfHolder(readExitRecord(dir, id), holder))
    replaceFile(paths.exit, encodeExitRecord(lostRecord({ id, holder, swept, orphans, by, endedMs: clock.wallMs() })))
  const hadSocket = removeIfThere(paths.socket)
  return removeIfThere(paths.pid) || hadSocket ? 'settled' : 'nothing'
}

/** Nothing after a reboot: all that was is gone, and the numbers mean others. */
function treeOf(holder: Holder, table = lookAtProcesses()): ProcessTree | undefined {
  const { childPid, childStart, key, boot } = holder
  if (boot !== bootId()) return undefined
  const child = childPid === 0 || childStart === undefined ? undefined : { pid: childPid, startTicks: childStart }
  return sessionTree({ child: child !== undefined && isProven(table, holder, child) ? child : undefined, key })
}

/**
 * A pid file is a text like any other: whom it names is ended only when the process itself says that it is of this
 * session. It carries the mark, or, where it has cleared its environment, leads a session that is younger than the
 * supervisor. Of one that is gone the number alone counts, which nobody else can have got while its group lives.
 */
function isProven(table: ProcessTable, { supervisorPid, supervisorStart, key }: Holder, child: ProcessId): boolean {
  const stat = table.stat(child.pid)
  if (stat === undefined || !isSameStart(stat, child)) return true
  if (key !== undefined && table.hasInEnvironment(child.pid, `${KEY_VARIABLE}=${key}\0`)) return true
  if (supervisorStart === undefined || stat.session !== child.pid) return false
  if (key?.startsWith(`${supervisorPid}-${supervisorStart}-`) !== true) return false
  return isStartedAfter(child, { pid: supervisorPid, startTicks: supervisorStart })
}

async function endTree(holder: Holder, clock: Clock, graceMs: number): Promise<number> {
  const tree = treeOf(holder)
  if (tree === undefined) return 0
  return new Ending({ tree, child: undefined, wholeTree: true, graceMs, clock }).sweep()
}

/** In the session's log as well: a start under the same id removes the record. */
function note(logPath: string, by: string, orphans: readonly Orphan[], clock: Clock): void {
  const at = new Date(clock.wallMs()).toISOString()
  const who = shown(orphans).join('; ')
  onDisk(logPath, () =>
    appendFileSync(logPath, `${at} info session lost, and what was left ended by ${by}: ${who}\n`, { mode: 0o600 }),
  )
}

const shown = (orphans: readonly Orphan[]): string[] =>
  orphans
    .slice(0, RECORD_COMMANDS_MAX)
    .map(({ pid, command }) => `${pid} ${command.replaceAll(/\s+/g, ' ').slice(0, RECORD_COMMAND_CHARS_MAX)}`)

/**
 * How a lost session ended of which nothing runs any more: its own record, or the one that settling would write. Writes
 * nothing.
 */
export function endOfLost(
  id: string,
  holder: Holder | undefined,
  exit: ExitRecord | undefined,
): ExitRecord | undefined {
  if (holder === undefined || isOfHolder(exit, holder)) return exit
  return lostRecord({ id, holder, swept: 0, orphans: [], by: undefined, endedMs: holder.startedAtMs ?? 0 })
}

/** 137: nobody was there to see how the child ended, only that it was made to. */
const LOST_EXIT_CODE = 137

interface Lost {
  readonly id: string
  readonly holder: Holder
  readonly swept: number
  readonly orphans: readonly Orphan[]
  readonly by: string | undefined
  readonly endedMs: number
}

function lostRecord({ id, holder, swept, orphans, by, endedMs }: Lost): ExitRecord {
  return {
    id,
    exit_code: LOST_EXIT_CODE,
    signal: null,
    reason: 'lost',
    pid: holder.childPid,
    supervisor_pid: holder.supervisorPid,
    command: holder.command ?? [],
    cwd: holder.cwd ?? '',
    started_at: new Date(holder.startedAtMs ?? 0).toISOString(),
    ended_at: new Date(endedMs).toISOString(),
    output_bytes: 0,
    swept,
    ended_by: orphans.length === 0 ? null : (by ?? null),
    swept_processes: shown(orphans),
  }
}
