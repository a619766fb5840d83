// Settling a session whose supervisor died without a word: its tree is ended, its end is put on record, its files go.
import { unlinkSync } from 'node:fs'
import { systemClock, type Clock } from '../clock.ts'
import { isErrno } from '../errors.ts'
import { KILL_HANGUP_MS } from '../limits.ts'
import { replaceFile } from '../storage/atomic-file.ts'
import { sweep } from './ending.ts'
import { bootId } from './processes.ts'
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
  const paths = sessionPaths(dir, id)
  const hadSocket = unlinkIfThere(paths.socket)
  if (holder === undefined) return hadSocket ? 'settled' : 'nothing'
  const swept = await endTree(holder, clock)
  // Its own record, written before it was killed, knows more.
  if (readExitRecord(dir, id)?.supervisor_pid !== holder.supervisorPid)
    replaceFile(paths.exit, `${JSON.stringify(lostRecord(id, holder, swept, clock))}\n`)
  unlinkIfThere(paths.pid)
  return 'settled'
}

async function endTree(holder: Holder, clock: Clock): Promise<number> {
  const { childPid, childStart, key } = holder
  if (childPid === 0 || childStart === undefined || holder.boot !== bootId()) return 0
  return sweep(new ProcessTree({ child: { pid: childPid, startTicks: childStart }, key }), KILL_HANGUP_MS, clock)
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

function unlinkIfThere(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}
