// The peers of the supervisor bench and our own session, each started, connected to and measured in the same way.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import type { spawn as spawnTerminal } from '@lydell/node-pty'
import { resolveOptions } from '../../src/wire/session-options.ts'
import { startSession } from '../../src/sessions/start.ts'
import { encodeFrame, encodeJson } from '../../src/wire/encode.ts'

export const LAUNCHER = resolve('dist/session.cjs')

/** A session and a way to see its raw output. */
export interface Subject {
  /** Process whose work is counted. */
  readonly pid: number
  type(text: string): void
  stop(): Promise<void>
}

export type Sink = (bytes: number, chunk: Buffer) => void

/** Reads with one reused buffer, so that the reader costs every subject the same little. */
function reading(path: string, sink: Sink): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = connect({
      path,
      onread: {
        buffer: Buffer.alloc(256 << 10),
        callback: (bytes, chunk) => {
          sink(bytes, Buffer.from(chunk.buffer, chunk.byteOffset, bytes))
          return true
        },
      },
    })
    socket.once('connect', () => done(socket))
    socket.once('error', fail)
  })
}

/** Takes the frames apart as they come and passes on only what OUTPUT carries. */
function unframed(sink: Sink): Sink {
  const header = Buffer.alloc(5)
  let have = 0
  let left = 0
  let isFirst = true
  return (bytes, chunk) => {
    let at = isFirst ? 1 : 0
    isFirst = false
    while (at < bytes) {
      if (have < 5) {
        header[have] = chunk[at] ?? 0
        have += 1
        at += 1
        if (have === 5) left = header.readUInt32BE(1)
      }
      if (have < 5) continue
      const take = Math.min(left, bytes - at)
      if (header[0] === 0x81 && take > 0) sink(take, chunk.subarray(at, at + take))
      left -= take
      at += take
      if (left === 0) have = 0
    }
  }
}

export async function ours(folder: string, command: readonly string[], sinks: readonly Sink[]): Promise<Subject> {
  const id = `b${process.hrtime.bigint()}`
  const started = await startSession(
    resolveOptions({ id, socketDir: join(folder, 's'), cwd: '/', command, cols: 200, rows: 50, graceMs: 100 }),
    { launcher: LAUNCHER, env: { PATH: process.env['PATH'], TERM: 'xterm-256color' } },
  )
  const sockets = await Promise.all(sinks.map((sink) => reading(started.socket, unframed(sink))))
  for (const socket of sockets) socket.write(encodeFrame('subscribe'))
  // Types where it reads, as a terminal does; without a reader on a connection of its own.
  const control = sockets[0] ?? (await reading(started.socket, () => undefined))
  return {
    pid: started.supervisor_pid,
    type: (text) => void control.write(encodeFrame('input', Buffer.from(text))),
    stop: async () => {
      control.write(encodeFrame('kill'))
      await gone(started.supervisor_pid)
      for (const socket of [control, ...sockets]) socket.destroy()
    },
  }
}

/** Connects and resolves when the screen has been drawn: one SNAPSHOT frame, whole. */
export async function oursRedrawn(socketPath: string): Promise<void> {
  let buffered = Buffer.alloc(0)
  let done: () => void
  const drawn = new Promise<void>((resolve) => {
    done = resolve
  })
  const socket = await reading(socketPath, (_bytes, chunk) => {
    buffered = Buffer.concat([buffered, chunk])
    if (buffered.length >= 6 && buffered[1] === 0x87 && buffered.length >= 6 + buffered.readUInt32BE(2)) done()
  })
  socket.write(encodeJson('subscribe', { from: 'snapshot' }))
  await drawn
  socket.destroy()
}

const dtachPacket = (type: number, length: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.of(type, length), body, Buffer.alloc(8 - body.length)])

const DTACH = { push: 0, attach: 1, redraw: 4, byWinch: 3 }

/** dtach through its socket: what a client in our place would do. */
export async function dtachSocket(
  folder: string,
  command: readonly string[],
  sink: Sink | undefined,
): Promise<Subject & { path: string }> {
  const path = join(folder, `d${process.hrtime.bigint()}`)
  execFileSync('dtach', ['-n', path, ...command], { env: { PATH: process.env['PATH'], TERM: 'xterm' } })
  const socket = await reading(path, sink ?? (() => undefined))
  // With two attached clients dtach waits for either and drops what the other cannot take.
  if (sink !== undefined) socket.write(dtachPacket(DTACH.attach, 0, Buffer.alloc(0)))
  const pid = holderOf(path)
  return {
    pid,
    path,
    type: (text) => void socket.write(dtachPacket(DTACH.push, text.length, Buffer.from(text))),
    stop: () => end(pid, [socket]),
  }
}

/** Asks dtach's master to have the child redraw, as an attaching client does. */
export async function dtachRedrawn(path: string, mark: string): Promise<void> {
  let text = ''
  let done: () => void
  const drawn = new Promise<void>((resolve) => {
    done = resolve
  })
  const socket = await reading(path, (_bytes, chunk) => {
    text += chunk.toString('latin1')
    if (text.includes(mark)) done()
  })
  const size = Buffer.alloc(8)
  size.writeUInt16LE(50, 0)
  size.writeUInt16LE(200, 2)
  socket.write(dtachPacket(DTACH.attach, 0, Buffer.alloc(0)))
  socket.write(dtachPacket(DTACH.redraw, DTACH.byWinch, size))
  await drawn
  socket.destroy()
}

interface NodePty {
  readonly spawn: typeof spawnTerminal
}

interface NativePty {
  open(cols: number, rows: number): { master: number; slave: number; pty: string }
}

/** dtach's own attach program. It wants a terminal to read from and writes to a pipe, which spares it a second terminal. */
export async function dtachAttach(folder: string, command: readonly string[], sink: Sink): Promise<Subject> {
  const subject = await dtachSocket(folder, command, undefined)
  const near = createRequire(createRequire(import.meta.url).resolve('@lydell/node-pty'))
  const native = near(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`) as NativePty
  const { master, slave, pty } = native.open(200, 50)
  const input = openSync(pty, 'r+')
  const attach = spawn('dtach', ['-a', subject.path, '-E', '-z', '-r', 'none'], {
    stdio: [input, 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], TERM: 'xterm' },
  })
  attach.stdout?.on('data', (chunk: Buffer) => sink(chunk.length, chunk))
  await new Promise((resolve) => setTimeout(resolve, 200))
  return {
    pid: subject.pid,
    type: (text) => subject.type(text),
    stop: async () => {
      await ended(attach)
      await subject.stop()
      for (const fd of [input, master, slave]) closeSync(fd)
    },
  }
}

/** tmux with one attached client on a terminal of its own, which is how it is used. */
export async function tmuxAttach(folder: string, command: readonly string[], sink: Sink): Promise<Subject> {
  const path = join(folder, `t${process.hrtime.bigint()}`)
  const env = { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8' }
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', path, '-f', '/dev/null', ...args], { env, encoding: 'utf8' })
  tmux('new-session', '-d', '-x', '200', '-y', '50', command.map((word) => `'${word}'`).join(' '))
  tmux('set', '-g', 'status', 'off')
  const { spawn: spawnPty } = createRequire(import.meta.url)('@lydell/node-pty') as NodePty
  const attach = spawnPty('tmux', ['-S', path, 'attach'], { encoding: null, cols: 200, rows: 50, env })
  attach.onData((text) => {
    const chunk = text as unknown as Buffer
    sink(chunk.length, chunk)
  })
  await new Promise((resolve) => setTimeout(resolve, 300))
  const pid = Number(tmux('display-message', '-p', '#{pid}'))
  return {
    pid,
    type: (text) => attach.write(text),
    stop: async () => {
      tmux('kill-server')
      await gone(pid)
    },
  }
}

/** node-pty alone in a Node process: counts in the process itself, `bytes` for each line that is typed. */
export async function bareNodePty(
  command: readonly string[],
  bytes: number,
): Promise<{ pid: number; flood: (line: string) => Promise<number>; stop: () => Promise<void> }> {
  const reader = spawn(process.execPath, ['bench/support/bare-pty.mjs', 'count', String(bytes), ...command], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const line = (): Promise<string> =>
    new Promise((resolve) => reader.stdout.once('data', (text) => resolve(String(text))))
  await line()
  return {
    pid: reader.pid ?? 0,
    flood: async (text) => {
      const answer = line()
      reader.stdin.write(text)
      return (JSON.parse(await answer) as { ms: number }).ms
    },
    stop: () => ended(reader),
  }
}

/** A relay in Node that does nothing else, spoken to as ours is. */
export async function bareRelay(folder: string, command: readonly string[], sink: Sink): Promise<Subject> {
  const path = join(folder, `r${process.hrtime.bigint()}`)
  const relay = spawn(process.execPath, ['bench/peers/terminal-relay.mjs', path, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color' },
  })
  await new Promise((resolve) => relay.stdout.once('data', resolve))
  const socket = await reading(path, unframed(sink))
  return {
    pid: relay.pid ?? 0,
    type: (text) => void socket.write(encodeFrame('input', Buffer.from(text))),
    stop: async () => {
      await ended(relay)
      socket.destroy()
    },
  }
}

export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

function holderOf(path: string): number {
  const found = execFileSync('pgrep', ['-f', `^dtach -n ${path}`], { encoding: 'utf8' })
    .trim()
    .split('\n')
  return Number(found[0])
}

async function end(pid: number, sockets: readonly Socket[]): Promise<void> {
  for (const child of execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n'))
    process.kill(Number(child), 'SIGKILL')
  await gone(pid)
  for (const socket of sockets) socket.destroy()
}

async function ended(child: ChildProcess): Promise<void> {
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGKILL')
  await closed
}

async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true })
