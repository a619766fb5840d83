// Processes by way of /proc, which Linux has: every answer is read when it is asked for.
import { closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from 'node:fs'
import { isErrno } from './errors.ts'
import { TREE_SCAN_MS } from './limits.ts'
import {
  type FileId,
  type ProcessSource,
  type ProcessStat,
  type ProcessTable,
  readTreatment,
  type SignalTreatment,
} from './process-table.ts'

const table: ProcessTable = {
  stat,
  all,
  childrenOf,
  commandWords,
  hasInEnvironment,
  inEnvironment,
  hasAsStream,
  treatmentOf,
  terminalOf,
  holdersOf,
  terminalsOpenIn,
  folderOf: (pid) => linkOf(`/proc/${pid}/cwd`),
  bytesWritten,
  hasOpenToWrite,
}

export const procSource: ProcessSource = {
  look: () => table,
  lookAside: () => Promise.resolve(table),
  scanMs: TREE_SCAN_MS,
  startTolerance: 0,
  // USER_HZ is 100 on every architecture that Node.js supports.
  tickMs: 10,
  markedScript:
    'for f in $(grep -lsa -e "$1" /proc/[0-9]*/environ 2>/dev/null); do f=${f#/proc/}; echo "${f%/environ}"; done',
  isReadingTerminal,
}

function stat(pid: number): ProcessStat | undefined {
  const text = ifThere(() => firstBytes(`/proc/${pid}/stat`))
  return text === undefined ? undefined : parseStat(text)
}

/** More than `stat` and `io` can have; the kernel gives them whole with one read. */
const LINE_BYTES = 4_096
let line: Buffer | undefined

/** Asked for every process of every run: without the sizes and buffers of `readFileSync`, in half the time. */
function firstBytes(path: string): string {
  line ??= Buffer.allocUnsafe(LINE_BYTES)
  const fd = openSync(path, 'r')
  try {
    return line.toString('latin1', 0, readSync(fd, line, 0, LINE_BYTES, null))
  } finally {
    closeSync(fd)
  }
}

/** The name in parentheses may hold spaces and parentheses, so the fields are counted from its last one. */
function parseStat(text: string): ProcessStat | undefined {
  const close = text.lastIndexOf(')')
  if (close < 0) return undefined
  const fields = text.slice(close + 2).split(' ')
  const number = (index: number): number => Number(fields[index])
  return {
    pid: Number.parseInt(text, 10),
    // The state is that of the first thread: while others of the process run, its files stay open and its locks held.
    isZombie: (fields[0] === 'Z' || fields[0] === 'X') && number(17) <= 1,
    isStopped: fields[0] === 'T',
    ppid: number(1),
    pgrp: number(2),
    session: number(3),
    ttyNr: number(4),
    // Clock ticks since boot.
    startTicks: number(19),
  }
}

function all(): ProcessStat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => stat(Number(name)) ?? [])
}

/** Children of any thread of the process, from the kernel's own list. */
function childrenOf(pid: number): number[] {
  return namesIn(`/proc/${pid}/task`).flatMap((thread) => {
    const text = readProc(`/proc/${pid}/task/${thread}/children`)?.toString('latin1').trim()
    return text === undefined || text === '' ? [] : text.split(' ').map(Number)
  })
}

/** The number of `read` on the machines that Node.js runs on most; on others nothing is said. */
const READ_CALL: Readonly<Record<string, string>> = { x64: '0', arm64: '63' }

function isReadingTerminal(pid: number): boolean {
  const [call, fd] = readProc(`/proc/${pid}/syscall`)?.toString('latin1').split(' ') ?? []
  const isReading = call !== undefined && call === READ_CALL[process.arch] && fd !== undefined
  if (isReading && /^\/dev\/(?:pts\/\d+|tty)$/.test(linkOf(`/proc/${pid}/fd/${Number(fd)}`) ?? '')) return true
  return childrenOf(pid).some(isReadingTerminal)
}

function commandWords(pid: number): string[] {
  const text = readProc(`/proc/${pid}/cmdline`)?.toString('utf8') ?? ''
  return text === '' ? [] : text.replace(/\0$/, '').split('\0')
}

function hasInEnvironment(pid: number, beginning: string): boolean {
  const environ = readProc(`/proc/${pid}/environ`)
  return (
    environ !== undefined &&
    (environ.includes(`\0${beginning}`) || environ.subarray(0, beginning.length).equals(Buffer.from(beginning)))
  )
}

function inEnvironment(pid: number, name: string): string | undefined {
  const entries = readProc(`/proc/${pid}/environ`)?.toString('utf8').split('\0') ?? []
  return entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1)
}

const STANDARD_STREAMS = [0, 1, 2]

function hasAsStream(pid: number, file: FileId): boolean {
  return STANDARD_STREAMS.some((fd) => {
    const stats = ifThere(() => statSync(`/proc/${pid}/fd/${fd}`))
    return stats !== undefined && stats.dev === file.dev && stats.ino === file.ino && stats.rdev === file.rdev
  })
}

function treatmentOf(pid: number, signal: NodeJS.Signals): SignalTreatment | undefined {
  const status = readProc(`/proc/${pid}/status`)?.toString('latin1')
  const mask = (name: string): string | undefined =>
    new RegExp(`^${name}:\\s*([0-9a-f]+)$`, 'm').exec(status ?? '')?.[1]
  return readTreatment(mask('SigIgn'), mask('SigCgt'), signal)
}

const PSEUDO_TERMINALS = { firstMajor: 136, lastMajor: 143 }

function terminalOf(pid: number): string | undefined {
  const number = stat(pid)?.ttyNr ?? 0
  if (number === 0) return undefined
  const major = (number >> 8) & 0xfff
  const minor = (number & 0xff) | ((number >>> 12) & 0xfff00)
  if (major >= PSEUDO_TERMINALS.firstMajor && major <= PSEUDO_TERMINALS.lastMajor)
    return `/dev/pts/${(major - PSEUDO_TERMINALS.firstMajor) * 256 + minor}`
  return major === 4 && minor < 64 ? `/dev/tty${minor}` : `/dev/char/${major}:${minor}`
}

function holdersOf(terminal: string): number[] {
  const index = /^\/dev\/pts\/(\d+)$/.exec(terminal)?.[1]
  if (index === undefined) return []
  // Another mount namespace counts its own terminals from 0.
  const namespace = linkOf(`/proc/${process.pid}/ns/mnt`)
  return all()
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

function terminalsOpenIn(pid: number): string[] {
  const links = namesIn(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`) ?? '')
  return [...new Set(links.filter((link) => /^\/dev\/(pts\/\d+|tty\d+)$/.test(link)))]
}

function bytesWritten(pid: number): number | undefined {
  const text = ifThere(() => firstBytes(`/proc/${pid}/io`)) ?? ''
  const count = /^wchar:\s*(\d+)$/m.exec(text)?.[1]
  return count === undefined ? undefined : Number(count)
}

function hasOpenToWrite(pid: number, path: string): boolean {
  return namesIn(`/proc/${pid}/fd`).some((fd) => {
    if (linkOf(`/proc/${pid}/fd/${fd}`) !== path) return false
    const flags = /^flags:\s*([0-7]+)$/m.exec(readProc(`/proc/${pid}/fdinfo/${fd}`)?.toString('latin1') ?? '')?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & WRITE_FLAGS) !== 0
  })
}

/** Open to write alone, or to read and write. */
const WRITE_FLAGS = constants.O_WRONLY | constants.O_RDWR

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
