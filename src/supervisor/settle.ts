// Settling a session whose supervisor died without a word: its tree is ended, its end is put on record, its files go.
import { existsSync } from 'node:fs'
import { systemClock, type Clock } from '../clock.ts'
import { KILL_GRACE_MS } from '../limits.ts'
import { removeIfThere, replaceFile } from '../storage/atomic-file.ts'
import { withFileLock } from '../storage/file-lock.ts'
import { Ending } from './ending.ts'
import { bootId } from '../processes.ts'
import {
  type ExitRecord,
  type Holder,
  isSupervisorAlive,
  readExitRecord,
  readHolder,
  sessionPaths,
} from './session-files.ts'
import { ProcessTree } from './tree.ts'

export type Settled = 'nothing' | 'alive' | 'settled'

/** The kernel hangs up on the tree when its supervisor dies; whoever ignored that is ended here. Safe to call at any time. */
export async function settle(dir: string, id: string, clock: Clock = systemClock): Promise<Settled> {
  const holder = readHolder(dir, id)
  if (holder !== undefined && isSupervisorAlive(holder)) return 'alive'
  const { pid, socket } = sessionPaths(dir, id)
  if (!existsSync(pid) && !existsSync(socket)) return 'nothing'
  // An id is taken under the same lock: nobody starts between a look and the removal that follows from it.
  return withFileLock(pid, () => settleLocked(dir, id, clock), { clock })
}

async function settleLocked(dir: string, id: string, clock: Clock): Promise<Settled> {
  const paths = sessionPaths(dir, id)
  const holder = readHolder(dir, id)
  if (holder !== undefined && isSupervisorAlive(holder)) return 'alive'
  const swept = holder === undefined ? 0 : await endTree(holder, clock)
  // Looked at again, for those who do not know the lock: whoever cleared the folder by hand and started anew.
  if (!isSameHolder(readHolder(dir, id), holder)) return 'alive'
  // Its own record, written before it was killed, knows more.
  if (holder !== undefined && readExitRecord(dir, id)?.supervisor_pid !== holder.supervisorPid)
    replaceFile(paths.exit, `${JSON.stringify(lostRecord(id, holder, swept, clock))}\n`)
  const hadSocket = removeIfThere(paths.socket)
  return removeIfThere(paths.pid) || hadSocket ? 'settled' : 'nothing'
}

const isSameHolder = (one: Holder | undefined, other: Holder | undefined): boolean =>
  one?.supervisorPid === other?.supervisorPid && one?.supervisorStart === other?.supervisorStart

async function endTree(holder: Holder, clock: Clock): Promise<number> {
  const { childPid, childStart, key } = holder
  if (holder.boot !== bootId()) return 0
  const child = childPid === 0 || childStart === undefined ? undefined : { pid: childPid, startTicks: childStart }
  const tree = new ProcessTree({ child, key })
  return new Ending({ tree, child: undefined, wholeTree: true, graceMs: KILL_GRACE_MS, clock }).sweep()
}

/** 137: nobody was there to see how the child ended, only that it was made to. */
const LOST_EXIT_CODE = 137

function lostRecord(id: string, holder: Holder, swept: number, clock: Clock): ExitRecord {
  return {
    id,
    exit_code: LOST_EXIT_CODE,
    signal: null,
    reason: 'lost',
    pid: holder.childPid,
    supervisor_pid: holder.supervisorPid,
    command: [],
    cwd: '',
    started_at: new Date(holder.startedAtMs ?? 0).toISOString(),
    ended_at: new Date(clock.wallMs()).toISOString(),
    output_bytes: 0,
    swept,
  }
}
