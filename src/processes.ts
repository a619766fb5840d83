// What the kernel says of processes: parents, groups, sessions, start times. A pid alone names nobody for long.
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { isErrno } from './errors.ts'

export interface ProcessStat {
  readonly pid: number
  readonly ppid: number
  readonly pgrp: number
  readonly session: number
  readonly ttyNr: number
  /** Clock ticks from boot to the start of the process; with pid and boot it names one process for ever. */
  readonly startTicks: number
  readonly isZombie: boolean
}

/** A process that cannot be confused with a later one of the same pid. */
export interface ProcessId {
  readonly pid: number
  readonly startTicks: number
}

/** Nothing when there is no such process. */
export function readStat(pid: number): ProcessStat | undefined {
  const text = readProc(`/proc/${pid}/stat`)
  return text === undefined ? undefined : parseStat(text.toString('latin1'))
}

/** The name in parentheses may hold spaces and parentheses, so the fields are counted from its last one. */
export function parseStat(text: string): ProcessStat | undefined {
  const close = text.lastIndexOf(')')
  if (close < 0) return undefined
  const fields = text.slice(close + 2).split(' ')
  const number = (index: number): number => Number(fields[index])
  return {
    pid: Number.parseInt(text, 10),
    isZombie: fields[0] === 'Z' || fields[0] === 'X',
    ppid: number(1),
    pgrp: number(2),
    session: number(3),
    ttyNr: number(4),
    startTicks: number(19),
  }
}

/** True while exactly this process runs; a zombie has ended. */
export function isSame(process: ProcessId): boolean {
  const stat = readStat(process.pid)
  return stat !== undefined && !stat.isZombie && stat.startTicks === process.startTicks
}

export function allProcesses(): ProcessStat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? [])
}

/** Children of any thread of the process, from the kernel's own list. */
export function childrenOf(pid: number): number[] {
  let threads: string[]
  try {
    threads = readdirSync(`/proc/${pid}/task`)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH')) return []
    throw error
  }
  return threads.flatMap((thread) => {
    const text = readProc(`/proc/${pid}/task/${thread}/children`)?.toString('latin1').trim()
    return text === undefined || text === '' ? [] : text.split(' ').map(Number)
  })
}

/** True when the environment that the process was started with has an entry with this beginning. Unreadable means no. */
export function hasInEnvironment(pid: number, beginning: string): boolean {
  const environ = readProc(`/proc/${pid}/environ`)
  return (
    environ !== undefined &&
    (environ.includes(`\0${beginning}`) || environ.subarray(0, beginning.length).equals(Buffer.from(beginning)))
  )
}

/** A file whatever it is called, also in another mount namespace; both numbers and the device that it stands for. */
export interface FileId {
  readonly dev: number
  readonly ino: number
  readonly rdev: number
}

const STANDARD_STREAMS = [0, 1, 2]

/** True when a standard stream of the process is this very file. Unreadable means no. */
export function hasAsStream(pid: number, file: FileId): boolean {
  return STANDARD_STREAMS.some((fd) => {
    try {
      const { dev, ino, rdev } = statSync(`/proc/${pid}/fd/${fd}`)
      return dev === file.dev && ino === file.ino && rdev === file.rdev
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return false
      throw error
    }
  })
}

let boot: string | undefined

/** Start times count from boot; after a reboot the same numbers are other processes. */
export function bootId(): string {
  boot ??= readProc('/proc/sys/kernel/random/boot_id')?.toString('latin1').trim() ?? 'unknown'
  return boot
}

/** The command line as one may show it; empty for a process that is gone or not ours. */
export function commandLine(pid: number): string {
  return commandWords(pid).join(' ').trim()
}

/** The words that the process was started with, or what it has put in their place; none for one that is gone. */
export function commandWords(pid: number): string[] {
  const text = readProc(`/proc/${pid}/cmdline`)?.toString('utf8') ?? ''
  return text === '' ? [] : text.replace(/\0$/, '').split('\0')
}

const PSEUDO_TERMINALS = { firstMajor: 136, lastMajor: 143 }

/** The terminal that controls the process, by its path; nothing for a process without one. */
export function terminalOf(pid: number): string | undefined {
  const number = readStat(pid)?.ttyNr ?? 0
  if (number === 0) return undefined
  const major = (number >> 8) & 0xfff
  const minor = (number & 0xff) | ((number >>> 12) & 0xfff00)
  if (major >= PSEUDO_TERMINALS.firstMajor && major <= PSEUDO_TERMINALS.lastMajor)
    return `/dev/pts/${(major - PSEUDO_TERMINALS.firstMajor) * 256 + minor}`
  return major === 4 && minor < 64 ? `/dev/tty${minor}` : `/dev/char/${major}:${minor}`
}

/** Who holds the far end of a pseudo-terminal: its emulator, `tmux`, `script`, a supervisor. Those of other users are not seen. */
export function holdersOf(terminal: string): number[] {
  const index = /^\/dev\/pts\/(\d+)$/.exec(terminal)?.[1]
  if (index === undefined) return []
  // Another mount namespace counts its own terminals from 0.
  const namespace = linkOf(`/proc/${process.pid}/ns/mnt`)
  return allProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => linkOf(`/proc/${pid}/ns/mnt`) === namespace && holdsFarEnd(pid, index))
}

function holdsFarEnd(pid: number, index: string): boolean {
  return namesIn(`/proc/${pid}/fd`).some(
    (fd) =>
      linkOf(`/proc/${pid}/fd/${fd}`)?.endsWith('/ptmx') === true &&
      new RegExp(`^tty-index:\\s*${index}$`, 'm').test(readProc(`/proc/${pid}/fdinfo/${fd}`)?.toString('latin1') ?? ''),
  )
}

const readProc = (path: string): Buffer | undefined => ifThere(() => readFileSync(path))
const linkOf = (path: string): string | undefined => ifThere(() => readlinkSync(path))
const namesIn = (path: string): string[] => ifThere(() => readdirSync(path)) ?? []

/** Nothing when it is gone between the listing and the reading, or another user's. */
function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return undefined
    throw error
  }
}
