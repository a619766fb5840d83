// One pseudo-terminal with its child: the only file that knows node-pty. Bytes in both directions, size, end.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, writeSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { ReadStream } from 'node:tty'
import { HeimdallError, isErrno } from '../errors.ts'
import { PTY_DRAIN_BYTES_MAX } from '../limits.ts'
import type { FileId, ProcessId } from '../process-table.ts'
import { readStat } from '../processes.ts'
import { sendSignal } from '../signals.ts'

/** What node-pty's JavaScript calls; its stream is not used, because it loses what a dying child wrote last. */
interface Native {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    program: string,
    onExit: (code: number, signal: number) => void,
  ): { fd: number; pid: number; pty: string }
  resize(fd: number, cols: number, rows: number): void
}

export interface PtyStart {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly cols: number
  readonly rows: number
  /** Default: true. */
  readonly echo?: boolean
}

export interface PtySink {
  /** Where the next bytes are read to; at least a page. */
  room(): Buffer
  /** So many bytes are in the room that was given last. */
  read(bytes: number): void
  /** The child has ended and every byte it wrote has been read. */
  ended(code: number, signal: number): void
}

export interface Pty {
  readonly child: ProcessId
  /** Resolves when the terminal is set up as the start asked. Only then may input be written. */
  readonly ready: Promise<void>
  /** The side of the terminal that the child has; ours as long as it is open here. */
  readonly terminal: FileId
  /** Writes what the terminal takes now; 0 when its buffer is full, undefined when the terminal is gone. */
  write(bytes: Uint8Array): number | undefined
  resize(cols: number, rows: number): void
  pause(): void
  resume(): void
  close(): void
}

/** Throws without a child, or returns with one: what fails behind the fork ends the child again. */
export function openPty(start: PtyStart, sink: PtySink): Pty {
  const native = loadNative()
  const [file = '', ...args] = start.command
  const environment = Object.entries(start.env).map(([name, value]) => `${name}=${value}`)
  let exited: (code: number, signal: number) => void = () => undefined
  const { fd, pid, pty } = native.fork(
    file,
    args,
    environment,
    start.cwd,
    start.cols,
    start.rows,
    -1,
    -1,
    true,
    spawnProgram(),
    (code, signal) => exited(code, signal),
  )
  try {
    const opened = wire(native, { fd, pid, slavePath: pty, echo: start.echo !== false }, sink)
    exited = opened.exited
    return opened.pty
  } catch (error) {
    // It may not have become the leader of a group yet.
    sendSignal(-pid, 'SIGKILL')
    sendSignal(pid, 'SIGKILL')
    closeSync(fd)
    throw error
  }
}

/**
 * Node has no call for it; `stty` has. Without `stty` input is echoed, as it would be in any terminal. Output must be
 * read meanwhile: `stty` waits for a write of the child that waits for the reader.
 */
function switchEchoOff(slave: number): Promise<void> {
  return new Promise((resolve, reject) => {
    spawn('stty', ['-echo'], { stdio: [slave, 'ignore', 'ignore'] })
      .once('close', () => resolve())
      .once('error', (error) => (isErrno(error, 'ENOENT', 'EACCES', 'EAGAIN') ? resolve() : reject(error)))
  })
}

interface Forked {
  readonly fd: number
  readonly pid: number
  readonly slavePath: string
  readonly echo: boolean
}

interface Wired {
  readonly pty: Pty
  readonly exited: (code: number, signal: number) => void
}

function wire(native: Native, { fd, pid, slavePath, echo }: Forked, sink: PtySink): Wired {
  let isOpen = true
  let isPaused = false
  let hasEnded = false
  const child = { pid, startTicks: readStat(pid)?.startTicks ?? 0 }
  // libuv takes a hang-up for the end and drops what is still to be read. As long as we hold the other side open
  // ourselves there is no hang-up, and reading goes on until it would block.
  const slave = openSync(slavePath, constants.O_RDWR | constants.O_NOCTTY)
  const { terminal, stream } = closingOnError(slave, () => ({
    terminal: { ...numbersOf(fstatSync(slave)), path: slavePath },
    stream: readingInto(sink, fd, () => isPaused),
  }))
  const pty: Pty = {
    child,
    ready: echo ? Promise.resolve() : switchEchoOff(slave),
    terminal,
    write(bytes) {
      if (!isOpen) return undefined
      try {
        return writeSync(fd, bytes)
      } catch (error) {
        if (isErrno(error, 'EAGAIN')) return 0
        if (isErrno(error, 'EIO')) return undefined
        throw error
      }
    },
    resize(cols, rows) {
      if (isOpen) native.resize(fd, cols, rows)
    },
    pause() {
      isPaused = true
      stream.pause()
    },
    resume() {
      isPaused = false
      if (isOpen && !hasEnded) stream.resume()
    },
    close() {
      if (!isOpen) return
      isOpen = false
      stream.destroy()
      closeSync(slave)
    },
  }
  return {
    pty,
    exited: (code, signal) => {
      hasEnded = true
      if (isOpen) {
        // The stream has room of its own to read into, and would write over what is read here.
        stream.pause()
        drain(fd, sink)
      }
      sink.ended(code, signal)
    },
  }
}

const numbersOf = ({ dev, ino, rdev }: Stats): Omit<FileId, 'path'> => ({ dev, ino, rdev })

function readingInto(sink: PtySink, fd: number, isPaused: () => boolean): ReadStream {
  // ReadStream hands its options on to net.Socket; its type does not say so.
  const stream = new ReadStream(fd, {
    onread: {
      buffer: () => sink.room(),
      callback: (bytes: number) => {
        sink.read(bytes)
        return !isPaused()
      },
    },
  } as ConstructorParameters<typeof ReadStream>[1])
  stream.on('error', (error) => {
    if (!isErrno(error, 'EIO', 'EAGAIN')) throw error
  })
  return stream.resume()
}

function closingOnError<T>(fd: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** The kernel hands over everything that was written before it says EAGAIN, so after the child's end this is all. */
function drain(fd: number, sink: PtySink): void {
  for (let drained = 0; drained < PTY_DRAIN_BYTES_MAX;) {
    try {
      const room = sink.room()
      const bytes = readSync(fd, room, 0, room.byteLength, null)
      if (bytes === 0) return
      sink.read(bytes)
      drained += bytes
    } catch (error) {
      if (isErrno(error, 'EAGAIN', 'EIO')) return
      throw error
    }
  }
}

const packageName = `@lydell/node-pty-${process.platform}-${process.arch}`

let loaded: Native | HeimdallError | undefined

/** While the starter is still at work. What is wrong with it is said when a terminal is to be opened. */
export function loadTerminalEarly(): void {
  loaded ??= found()
}

function loadNative(): Native {
  loaded ??= found()
  if (loaded instanceof HeimdallError) throw loaded
  return loaded
}

function found(): Native | HeimdallError {
  try {
    return nearNodePty()(`${packageName}/pty.node`) as Native
  } catch (error) {
    return new HeimdallError('SESSION_PTY_UNAVAILABLE', `the native part of the terminal library does not load`, {
      hint: `install without --omit=optional, so that ${packageName} is there`,
      cause: error,
    })
  }
}

/** The binary is a dependency of node-pty, not of ours: it is found from there. */
function nearNodePty(): NodeJS.Require {
  const here = createRequire(import.meta.url)
  return createRequire(here.resolve('@lydell/node-pty'))
}

/** macOS starts children through a small program; elsewhere the argument is not looked at. */
function spawnProgram(): string {
  return process.platform === 'darwin' ? nearNodePty().resolve(`${packageName}/spawn-helper`) : ''
}
