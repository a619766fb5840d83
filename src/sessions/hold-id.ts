// Holding an id: of all starts with one id, one gets the pid file, and the others learn who has it.
import { bootId } from '../boot-id.ts'
import { type Clock, isoSeconds, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { ID_LINGER_MS, ID_LOCK_WAIT_MS } from '../limits.ts'
import { commandLine, readStat } from '../processes.ts'
import { takeName } from '../storage/held-name.ts'
import { isOfHolder } from '../wire/exit-record.ts'
import { PROTOCOL } from '../wire/frames.ts'
import { encodeHolder, type Holder } from '../wire/pid-file.ts'
import { pidDraft, sessionPaths } from '../wire/session-paths.ts'
import { isSupervisorAlive, readExitRecord, readHolder } from './session-files.ts'
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
  await holdId(dir, id, holder, clock)
  return holder
}

/** The pid file of this id names the holder, or it throws and says who has it. */
async function holdId(dir: string, id: string, holder: Holder, clock: Clock): Promise<void> {
  const { pid: path, socket } = sessionPaths(dir, id)
  const deadlineMs = clock.monoMs() + ID_LINGER_MS
  const draft = pidDraft(dir, id, holder.supervisorPid)
  // Under the lock that `settle` holds as well: what is removed is the dead session's and not already ours. A socket
  // without a pid file may be that of a session whose pid file was removed.
  const take = { text: encodeHolder(holder), draft, inTheWay: [socket], clock, waitMs: ID_LOCK_WAIT_MS }
  while (!(await takeName(path, take))) {
    const other = readHolder(dir, id)
    if (other === undefined || !isSupervisorAlive(other)) {
      const settled = await settle(dir, id, { by: `a start of session ${id} (process ${process.pid})`, clock })
      // Nobody whom the file names, and yet somebody: the next look finds who has come meanwhile.
      if (settled === 'alive' && !isNamed(dir, id)) throw inUse(id, other)
    } else if (!isOfHolder(readExitRecord(dir, id), other) || clock.monoMs() > deadlineMs) throw inUse(id, other)
    // A session that has ended answers for a moment longer; a start under its id waits for that.
    else await pause(clock, 20)
  }
}

function isNamed(dir: string, id: string): boolean {
  const holder = readHolder(dir, id)
  return holder !== undefined && isSupervisorAlive(holder)
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
