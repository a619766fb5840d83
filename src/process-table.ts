// What is asked of a system about its processes: the questions, without anybody's way to answer them.
import { constants } from 'node:os'

export interface ProcessStat {
  readonly pid: number
  readonly ppid: number
  readonly pgrp: number
  /** The pid of the leader of its session; 0 where the system does not tell. */
  readonly session: number
  /** Device number of the terminal that controls it; 0 without one. */
  readonly ttyNr: number
  /** When it started, in the count of the system: with pid and boot it names one process for ever. */
  readonly startTicks: number
  readonly isZombie: boolean
  readonly isStopped: boolean
}

/** A process that cannot be confused with a later one of the same pid. */
export interface ProcessId {
  readonly pid: number
  readonly startTicks: number
}

/** A process as a file names it, which may know no more than the pid. */
export interface RecordedProcess {
  readonly pid: number
  readonly startTicks: number | undefined
  readonly boot: string | undefined
}

/** A file by its numbers and the device that it stands for, which are the same in every mount namespace; the path is what we call it. */
export interface FileId {
  readonly path: string
  readonly dev: number
  readonly ino: number
  readonly rdev: number
}

export type SignalTreatment = 'default' | 'ignored' | 'caught'

/** A look at all processes. What is asked of a process that is gone, or not ours to read, is answered with no or nothing. */
export interface ProcessTable {
  stat(pid: number): ProcessStat | undefined
  all(): readonly ProcessStat[]
  childrenOf(pid: number): readonly number[]
  /** The words that the process was started with, or what it has put in their place. */
  commandWords(pid: number): readonly string[]
  /** True when the environment that the process was started with has an entry with this beginning; a closing NUL is the end of the entry. */
  hasInEnvironment(pid: number, beginning: string): boolean
  /** What an entry of that environment says. */
  inEnvironment(pid: number, name: string): string | undefined
  /** True when a standard stream of the process is this very file; any open descriptor, where the system tells no more. */
  hasAsStream(pid: number, file: FileId): boolean
  /** What the process does with a signal; nothing where the system does not tell. */
  treatmentOf(pid: number, signal: NodeJS.Signals): SignalTreatment | undefined
  /** The terminal that controls the process, by its path; nothing for a process without one. */
  terminalOf(pid: number): string | undefined
  /** Who holds the far end of a pseudo-terminal: its emulator, `tmux`, `script`, a supervisor. Those of other users are not seen. */
  holdersOf(terminal: string): readonly number[]
  /** Terminals that the process has open, as a `tmux` server has those of its clients; nothing where the system does not tell. */
  terminalsOpenIn(pid: number): readonly string[] | undefined
  /** The folder that the process is in; nothing where the system does not tell. */
  folderOf(pid: number): string | undefined
  /** Bytes that the process has written so far, to whatever it was, with those of its children that have ended; nothing where the system does not tell. */
  bytesWritten(pid: number): number | undefined
  /** True when the process has the file open to write to it; nothing where the system does not tell. */
  hasOpenToWrite(pid: number, path: string): boolean | undefined
}

/** One way to ask the system. */
export interface ProcessSource {
  /** A table that is as fresh as its answers, or a picture of this moment, whichever is cheaper here. */
  look(): ProcessTable
  /** The same without holding up whoever asks. */
  lookAside(): Promise<ProcessTable>
  /** How often a tree may be looked at for good measure. */
  readonly scanMs: number
  /** Start times further apart than this are two processes. */
  readonly startTolerance: number
  /** Milliseconds per unit of a start time. */
  readonly tickMs: number
  /** Shell text that prints the pids of all processes that carry the environment entry `$1`, for those who outlive us. */
  readonly markedScript: string
  /** Whether this process, or one below it, stands still in a read of its terminal; false where the system does not tell. */
  isReadingTerminal(pid: number): boolean
}

/** From two sets of signals as the systems print them: hexadecimal, signal 1 in the lowest bit. */
export function readTreatment(
  ignored: string | undefined,
  caught: string | undefined,
  signal: NodeJS.Signals,
): SignalTreatment | undefined {
  if (ignored === undefined || caught === undefined) return undefined
  const bit = 1n << BigInt(constants.signals[signal] - 1)
  const has = (mask: string): boolean => (BigInt(`0x${mask}`) & bit) !== 0n
  return has(ignored) ? 'ignored' : has(caught) ? 'caught' : 'default'
}
