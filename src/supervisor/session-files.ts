// The files of a session beside its socket: names, formats, and who is alive by pid and start time. Never destructive.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bootId } from '../boot-id.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import { isId } from '../ids.ts'
import { readFileIfThere } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import { isSame, readStat } from '../processes.ts'

export interface SessionPaths {
  readonly socket: string
  readonly pid: string
  readonly log: string
  readonly exit: string
  /** What the session said; see `kept-output.ts`. */
  readonly kept: string
}

export function sessionPaths(dir: string, id: string): SessionPaths {
  const at = (ending: string): string => join(dir, `${id}.${ending}`)
  return { socket: at('sock'), pid: at('pid'), log: at('log'), exit: at('exit.json'), kept: at('kept') }
}

/** Who runs a session: the first two lines are pids, as in the field; `name value` lines follow. */
export interface Holder {
  readonly supervisorPid: number
  /** 0 while the child has not been started. */
  readonly childPid: number
  /** Undefined in files that another program wrote: then the pid alone has to do. */
  readonly supervisorStart: number | undefined
  readonly childStart: number | undefined
  readonly boot: string | undefined
  /** Marks every process of the tree in its environment. */
  readonly key: string | undefined
  readonly startedAtMs: number | undefined
  /** Which frames the session knows; see `PROTOCOL`. */
  readonly protocol: number | undefined
  readonly command: readonly string[] | undefined
  readonly cwd: string | undefined
}

export function encodeHolder(holder: Holder): string {
  const more = {
    supervisor_start: holder.supervisorStart,
    child_start: holder.childStart,
    boot: holder.boot,
    key: holder.key,
    started_at_ms: holder.startedAtMs,
    protocol: holder.protocol,
    command: json(holder.command),
    cwd: json(holder.cwd),
  }
  const lines = Object.entries(more).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
  return [holder.supervisorPid, holder.childPid, ...lines, ''].join('\n')
}

/** On one line, whatever it holds. */
const json = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value))

function fromJson(line: string | undefined): unknown {
  try {
    return line === undefined ? undefined : JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function text(line: string | undefined): string | undefined {
  const value = fromJson(line)
  return typeof value === 'string' ? value : undefined
}

function words(line: string | undefined): readonly string[] | undefined {
  const value = fromJson(line)
  return isWords(value) ? value : undefined
}

const isWords = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((word) => typeof word === 'string')

/** Nothing for a file that is not one of these: torn, empty, or another program's. */
export function parseHolder(file: string): Holder | undefined {
  const [supervisor = '', child = '', ...rest] = file.split('\n')
  const more = new Map(
    rest.map((line): [string, string] => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]),
  )
  const number = (name: string): number | undefined => {
    const value = more.get(name)
    return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined
  }
  if (!/^\d+$/.test(supervisor) || Number(supervisor) === 0) return undefined
  return {
    supervisorPid: Number(supervisor),
    childPid: /^\d+$/.test(child) ? Number(child) : 0,
    supervisorStart: number('supervisor_start'),
    childStart: number('child_start'),
    boot: more.get('boot'),
    key: more.get('key'),
    startedAtMs: number('started_at_ms'),
    protocol: number('protocol'),
    command: words(more.get('command')),
    cwd: text(more.get('cwd')),
  }
}

export function readHolder(dir: string, id: string): Holder | undefined {
  const bytes = readFileIfThere(sessionPaths(dir, id).pid)
  return bytes === undefined ? undefined : parseHolder(bytes.toString('utf8'))
}

/** One and the same process, or nobody in both. */
export const isSameHolder = (one: Holder | undefined, other: Holder | undefined): boolean =>
  one?.supervisorPid === other?.supervisorPid && one?.supervisorStart === other?.supervisorStart

/** A reused pid is not the supervisor: the start time tells, and after a reboot nothing of before is alive. */
export function isSupervisorAlive(holder: Holder): boolean {
  return isProcessAlive(holder, holder.supervisorPid, holder.supervisorStart)
}

function isProcessAlive(holder: Holder, pid: number, startTicks: number | undefined): boolean {
  if (holder.boot !== undefined && holder.boot !== bootId()) return false
  if (startTicks !== undefined) return isSame({ pid, startTicks })
  const stat = readStat(pid)
  return stat !== undefined && !stat.isZombie
}

/** How a session ended, kept after everything else of it is gone. */
export interface ExitRecord {
  readonly id: string
  /** The child's code; 128 + n when signal n ended it. */
  readonly exit_code: number
  readonly signal: number | null
  /** `exit`, `kill` (asked for through the socket or by SIGTERM), or `lost` (the supervisor died; settled later). */
  readonly reason: 'exit' | 'kill' | 'lost'
  readonly pid: number
  readonly supervisor_pid: number
  readonly command: readonly string[]
  readonly cwd: string
  readonly started_at: string
  readonly ended_at: string
  readonly output_bytes: number
  /** Processes of the tree that had to be ended after the child. */
  readonly swept: number
  /** Who asked for the end, or had what was left of a lost session ended; null when it ended by itself. */
  readonly ended_by: string | null
  /** Of a lost session: pid and command of what was ended, the first of them. */
  readonly swept_processes?: readonly string[]
}

/** Nothing for a file that is not one of these. */
export function readExitRecord(dir: string, id: string): ExitRecord | undefined {
  const value = fromJson(readFileIfThere(sessionPaths(dir, id).exit)?.toString('utf8'))
  return isExitRecord(value) ? value : undefined
}

function isExitRecord(value: unknown): value is ExitRecord {
  if (typeof value !== 'object' || value === null) return false
  const { exit_code, command, ...rest } = value as Partial<Record<keyof ExitRecord, unknown>>
  const isNumber = (one: unknown): boolean => Number.isSafeInteger(one)
  const isTime = (one: unknown): boolean => typeof one === 'string' && !Number.isNaN(Date.parse(one))
  return (
    isNumber(exit_code) &&
    isWords(command) &&
    [rest.pid, rest.supervisor_pid].every(isNumber) &&
    [rest.started_at, rest.ended_at].every(isTime) &&
    typeof rest.reason === 'string'
  )
}

/**
 * `running`; `lost`: its supervisor died without settling it; `ended`: only the record and the log are left;
 * `unreadable`: what is in the place of its files is not ours to read. Only a list has the last, to go on with the others.
 */
export type SessionEntry = {
  readonly id: string
  readonly holder: Holder | undefined
  readonly exit: ExitRecord | undefined
  readonly state: 'running' | 'lost' | 'ended' | 'unreadable'
}

export function findSession(dir: string, id: string): SessionEntry | undefined {
  const holder = readHolder(dir, id)
  if (holder !== undefined && isSupervisorAlive(holder))
    return { id, holder, exit: readable(() => readExitRecord(dir, id)), state: 'running' }
  const exit = readExitRecord(dir, id)
  if (holder !== undefined) return { id, holder, exit, state: 'lost' }
  if (exit !== undefined) return { id, holder, exit, state: 'ended' }
  const { socket } = sessionPaths(dir, id)
  return onDisk(socket, () => statSync(socket, { throwIfNoEntry: false })) === undefined
    ? undefined
    : { id, holder, exit, state: 'lost' }
}

/** All sessions of a folder by id; an absent folder has none. */
export function listSessions(dir: string): SessionEntry[] {
  const ids = new Set(namesIn(dir).flatMap((name) => /^(.+?)\.(?:sock|pid|exit\.json)$/.exec(name)?.[1] ?? []))
  return [...ids]
    .filter((id) => isId(id))
    .sort()
    .flatMap((id) => findListed(dir, id) ?? [])
}

/** One of the list: what cannot be read is an answer there. */
export function findListed(dir: string, id: string): SessionEntry | undefined {
  const entry = readable(() => ({ found: findSession(dir, id) }))
  return entry === undefined ? { id, holder: undefined, exit: undefined, state: 'unreadable' } : entry.found
}

/** Nothing for what is no plain file of ours; a running session and its neighbours are not to suffer from it. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof HeimdallError && UNREADABLE.has(error.code)) return undefined
    throw error
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['STORE_UNREADABLE', 'STORE_CORRUPT'])

/** Names of everything in the folder; an absent one has none. */
export function namesIn(dir: string): string[] {
  return onDisk(dir, () => {
    try {
      return readdirSync(dir)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return []
      throw error
    }
  })
}
