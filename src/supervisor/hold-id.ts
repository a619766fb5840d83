// Holding an id: of all starts with one id, one gets the pid file, and the others learn who has it.
import { lstatSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootId } from '../boot-id.ts'
import { type Clock, isoSeconds, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { EXIT_LINGER_MS, ID_LOCK_WAIT_MS } from '../limits.ts'
import { removeIfThere } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import { withFileLock } from '../storage/file-lock.ts'
import { PROTOCOL } from '../wire/frames.ts'
import { commandLine, readStat } from '../processes.ts'
import {
  encodeHolder,
  type Holder,
  isSupervisorAlive,
  readExitRecord,
  readHolder,
  sessionPaths,
} from './session-files.ts'
import { settle } from './settle.ts'

/** Gives the id to process `pid`, or throws and says who has it. */
export async function takeId(dir: string, id: string, pid: number, clock: Clock): Promise<Holder> {
  const startTicks = readStat(pid)?.startTicks
  const startedAtMs = Math.floor(clock.wallMs())
  const holder: Holder = {
    supervisorPid: pid,
    childPid: 0,
    supervisorStart: startTicks,
    childStart: undefined,
    boot: bootId(),
    key: `${pid}-${startTicks ?? 0}-${startedAtMs}`,
    startedAtMs,
    protocol: PROTOCOL,
    command: undefined,
    cwd: undefined,
  }
  await holdId(dir, id, holder, { clock })
  return holder
}

export interface NamedChild {
  readonly pid: number
  readonly command: readonly string[]
  readonly cwd: string
}

/** The child is there: its pid is what others look for in the file. */
export function nameChild(dir: string, id: string, holder: Holder, child: NamedChild): Holder {
  const { pid, command, cwd } = child
  const complete: Holder = { ...holder, childPid: pid, childStart: readStat(pid)?.startTicks, command, cwd }
  writeHolder(dir, id, complete)
  return complete
}

/** By whoever holds the id. Not fsynced: after a power cut the processes it names are gone as well. */
export function writeHolder(dir: string, id: string, holder: Holder): void {
  const temporary = ownFile(dir, id, holder)
  onDisk(temporary, () => {
    writeFileSync(temporary, encodeHolder(holder), { mode: 0o600 })
    renameSync(temporary, sessionPaths(dir, id).pid)
  })
}

/** A session that has ended answers for a moment longer; a start under its id waits for that. */
const LINGER_WAIT_MS = EXIT_LINGER_MS * 10

const ownFile = (dir: string, id: string, { supervisorPid }: Holder): string => join(dir, `.${id}.${supervisorPid}.pid`)

export interface HoldWith {
  readonly clock: Clock
  /** Throws when the id is no longer wanted; asked whenever somebody else has it. */
  readonly checkWanted?: () => void
}

/** The pid file of this id names the holder, or it throws and says who has it. */
export async function holdId(dir: string, id: string, holder: Holder, { clock, checkWanted }: HoldWith): Promise<void> {
  const { pid: path, socket } = sessionPaths(dir, id)
  const lock = { clock, waitMs: ID_LOCK_WAIT_MS }
  const mine = ownFile(dir, id, holder)
  const deadlineMs = clock.monoMs() + LINGER_WAIT_MS
  onDisk(mine, () => writeFileSync(mine, encodeHolder(holder), { mode: 0o600 }))
  try {
    // Under the lock that `settle` holds as well: of two starts one finds the name taken, and what is removed is the
    // dead session's and not already ours. By rename, so that the file has one name at any moment, and is whole.
    while (!(await withFileLock(path, () => tryTake(mine, path, socket), lock))) {
      checkWanted?.()
      const other = readHolder(dir, id)
      if (other === undefined || !isSupervisorAlive(other)) {
        const settled = await settle(dir, id, { by: `a start of session ${id} (process ${process.pid})`, clock })
        // Nobody whom the file names, and yet somebody: the next look finds who has come meanwhile.
        if (settled === 'alive' && !isNamed(dir, id)) throw inUse(id, other)
      } else if (readExitRecord(dir, id)?.supervisor_pid !== other.supervisorPid || clock.monoMs() > deadlineMs)
        throw inUse(id, other)
      else await pause(clock, 20)
    }
  } finally {
    removeIfThere(mine)
  }
}

function isNamed(dir: string, id: string): boolean {
  const holder = readHolder(dir, id)
  return holder !== undefined && isSupervisorAlive(holder)
}

/** A socket without a pid file may be that of a session whose pid file was removed. */
function tryTake(from: string, to: string, socket: string): boolean {
  if ([to, socket].some((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined)) return false
  renameSync(from, to)
  return true
}

function inUse(id: string, holder: Holder | undefined): HeimdallError {
  const hint = `attach to it, end it with "hm kill ${id}", or use another id`
  if (holder === undefined || !isSupervisorAlive(holder))
    return new HeimdallError('SESSION_ID_IN_USE', `session ${id} is already running: it answers at its socket`, {
      hint,
      details: { id },
    })
  const { supervisorPid, childPid, startedAtMs } = holder
  const since = startedAtMs === undefined ? '' : `, since ${isoSeconds(startedAtMs)}`
  const command = commandLine(childPid)
  return new HeimdallError(
    'SESSION_ID_IN_USE',
    `session ${id} is already running: supervisor ${supervisorPid}, child ${childPid}${since}${command === '' ? '' : `, running ${command}`}`,
    {
      hint,
      details: { id, supervisor_pid: supervisorPid, pid: childPid, started_at_ms: startedAtMs ?? null, command },
    },
  )
}
