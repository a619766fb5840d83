// The supervisor beside dtach, tmux and a bare node-pty reader: throughput, CPU, echo, memory, start and redraw.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveOptions } from '../src/supervisor/options.ts'
import { sessionPaths } from '../src/supervisor/session-files.ts'
import { startSession } from '../src/supervisor/start.ts'
import { encodeFrame } from '../src/wire/encode.ts'
import { runBench, type Side } from './support/bench.ts'
import {
  bareNodePty,
  cpuMs,
  dtachAttach,
  dtachRedrawn,
  dtachSocket,
  LAUNCHER,
  ours,
  oursRedrawn,
  removeFolder,
  residentKb,
  type Sink,
  type Subject,
  tmuxAttach,
} from './support/terminals.ts'

const MB = 200
const ROUNDS = 5
const LINE = `${'0123456789'.repeat(7)}a\n`
const MARK = '=the=end='

const folder = mkdtempSync(join(tmpdir(), 'hm-bench-'))
const text = join(folder, 'text')
const lines = Math.floor((MB * 1e6) / LINE.length)
// Each newline leaves the terminal as two bytes.
const EXPECTED = lines * (LINE.length + 1)
const FLOOD = ['sh', '-c', `stty -echo; read go; cat ${text}; printf ${MARK}; read end`]

/** Counts to the last byte and looks for the mark behind it: a byte that is missing fails the run. */
function counter(isExact: boolean): { sink: Sink; begin: () => void; done: Promise<void> } {
  let got = 0
  let tail = ''
  let finish: () => void
  let fail: (error: Error) => void
  const done = new Promise<void>((resolve, reject) => {
    finish = resolve
    fail = reject
  })
  return {
    done,
    // What an attaching program draws before the go is not the child's.
    begin: () => {
      got = 0
    },
    sink: (bytes, chunk) => {
      got += bytes
      tail = (tail + chunk.toString('latin1', Math.max(0, bytes - 64))).slice(-64)
      if (!tail.includes(MARK)) return
      if (isExact && got !== EXPECTED + MARK.length) fail(new Error(`${EXPECTED + MARK.length - got} bytes lost`))
      else finish()
    },
  }
}

type Open = (sinks: readonly Sink[]) => Promise<Subject>

async function flood(open: Open, clients: number, isExact: boolean): Promise<{ mbPerS: number; cpuPerGb: number }> {
  const counters = Array.from({ length: clients }, () => counter(isExact))
  const subject = await open(counters.map(({ sink }) => sink))
  await settled()
  const cpuBefore = cpuMs(subject.pid)
  for (const { begin } of counters) begin()
  const before = performance.now()
  subject.type('\n')
  await Promise.all(counters.map(({ done }) => done))
  const tookMs = performance.now() - before
  const cpuUsed = cpuMs(subject.pid) - cpuBefore
  await subject.stop()
  return { mbPerS: (lines * LINE.length) / 1e3 / tookMs, cpuPerGb: cpuUsed / 1e3 / ((lines * LINE.length) / 1e9) }
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 300))
const first = (sinks: readonly Sink[]): Sink => sinks[0] ?? (() => undefined)
const openOurs: Open = (sinks) => ours(folder, FLOOD, sinks)
const openDtach: Open = (sinks) => dtachAttach(folder, FLOOD, first(sinks))
const openTmux: Open = (sinks) => tmuxAttach(folder, FLOOD, first(sinks))
const speed = (name: string, open: Open, clients = 1, isExact = true): Side => ({
  name,
  measure: async () => (await flood(open, clients, isExact)).mbPerS,
})
const cost = (name: string, open: Open, isExact = true): Side => ({
  name,
  measure: async () => (await flood(open, 1, isExact)).cpuPerGb,
})

const ECHO = ['sh', '-c', 'stty raw -echo; exec cat']
const KEYS = 4_000
/** Until the code of a fresh process is compiled; a session lives for hours. */
const WARM_UP_KEYS = 2_000

/** Median microseconds from a key to its echo, one after the other. */
async function echo(open: Open): Promise<number> {
  let arrived: () => void = () => undefined
  const subject = await open([() => arrived()])
  await settled()
  const times: number[] = []
  for (let n = 0; n < KEYS + WARM_UP_KEYS; n += 1) {
    const before = performance.now()
    await new Promise<void>((resolve) => {
      arrived = resolve
      subject.type(String.fromCharCode(97 + (n % 26)))
    })
    if (n >= WARM_UP_KEYS) times.push((performance.now() - before) * 1_000)
  }
  await subject.stop()
  return times.sort((a, b) => a - b)[KEYS / 2] ?? Number.NaN
}

async function idleMemory(): Promise<number> {
  const subject = await ours(folder, ['sleep', '1000'], [])
  await settled()
  const kb = residentKb(subject.pid)
  await subject.stop()
  return kb / 1_024
}

async function bareMemory(): Promise<number> {
  const holder = spawn(process.execPath, ['bench/support/bare-pty.mjs', 'hold', 'sleep', '1000'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => holder.stdout.once('data', resolve))
  await settled()
  const kb = residentKb(holder.pid ?? 0)
  const closed = new Promise((resolve) => holder.once('close', resolve))
  holder.kill('SIGKILL')
  await closed
  return kb / 1_024
}

/** From the command line to an answer on the socket. */
async function startToAnswer(): Promise<number> {
  const id = `s${process.hrtime.bigint()}`
  const dir = join(folder, 's')
  const before = performance.now()
  const launcher = spawn(
    process.execPath,
    ['bin/hm', 'run', '--detach', '--id', id, '--socket-dir', dir, '--', 'sleep', '1000'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  // It says so when the socket answers; to try in a loop would take the CPU that it needs.
  await new Promise((resolve) => launcher.stdout.once('data', resolve))
  await answer(sessionPaths(dir, id).socket)
  const tookMs = performance.now() - before
  const socket = connect(sessionPaths(dir, id).socket)
  socket.write(encodeFrame('kill'))
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  launcher.kill()
  return tookMs
}

function answer(path: string): Promise<void> {
  return new Promise((resolve) => {
    const attempt = (): void => {
      const socket = connect(path)
      socket.once('error', () => setTimeout(attempt, 1))
      socket.once('data', () => {
        socket.destroy()
        resolve()
      })
    }
    attempt()
  })
}

function bareStart(): number {
  const before = performance.now()
  const { status } = spawnSync(process.execPath, ['-e', '0'])
  if (status !== 0) throw new Error(`node -e 0 ended with ${status}`)
  return performance.now() - before
}

/** Writes 10 MB of history, then a full screen, and draws that again whenever it is asked to. */
const REDRAW = `draw() { i=1; printf "\\033[2J\\033[H"; while [ $i -le 40 ]; do printf "line %d of the screen\\r\\n" $i; i=$((i+1)); done; printf ${MARK}; }
trap draw WINCH; stty -echo; head -c 10000000 ${text}; draw; while :; do read x; done`

async function redraws(): Promise<{ ours: Side; dtach: Side; stop: () => Promise<void> }> {
  const id = 'redraw'
  const started = await startSession(
    resolveOptions({
      id,
      socketDir: join(folder, 's'),
      cwd: '/',
      command: ['sh', '-c', REDRAW],
      cols: 200,
      rows: 50,
      graceMs: 100,
    }),
    { launcher: LAUNCHER, env: { PATH: process.env['PATH'], TERM: 'xterm-256color' } },
  )
  const dtach = await dtachSocket(folder, ['sh', '-c', REDRAW], undefined)
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const timed = async (draw: Promise<void>): Promise<number> => {
    const before = performance.now()
    await draw
    return performance.now() - before
  }
  return {
    ours: { name: 'heimdall, snapshot', measure: () => timed(oursRedrawn(started.socket)) },
    dtach: { name: 'dtach, child redraws', measure: () => timed(dtachRedrawn(dtach.path, MARK)) },
    stop: async () => {
      process.kill(started.supervisor_pid, 'SIGTERM')
      await dtach.stop()
    },
  }
}

await runBench({
  name: 'supervisor',
  about: `${MB} MB of text a run; a run that loses a byte fails (tmux redraws and is only timed)`,
  async prepare() {
    writeFileSync(text, Buffer.alloc(lines * LINE.length, LINE))
    const redraw = await redraws()
    return {
      cleanup: async () => {
        await redraw.stop()
        removeFolder(folder)
      },
      comparisons: [
        {
          what: 'throughput to one subscriber',
          unit: 'MB/s',
          rounds: ROUNDS,
          ours: speed('heimdall', openOurs),
          peers: [
            { ...speed('dtach attach', openDtach), goal: { atLeast: 1 } },
            { ...speed('tmux attach', openTmux, 1, false), goal: { atLeast: 1.8 } },
            {
              name: 'bare node-pty reader',
              measure: async () => (lines * LINE.length) / 1e3 / (await bareNodePty(FLOOD, EXPECTED + MARK.length)),
              goal: { atLeast: 0.9 },
            },
          ],
        },
        {
          what: 'CPU of the session while it floods',
          unit: 's/GB',
          rounds: 3,
          ours: cost('heimdall', openOurs),
          peers: [{ ...cost('tmux server', openTmux, false), goal: { atMost: 0.25 } }, cost('dtach master', openDtach)],
        },
        {
          what: 'throughput to four subscribers, each of them',
          unit: 'MB/s',
          rounds: ROUNDS,
          ours: speed('heimdall, four', openOurs, 4),
          peers: [{ ...speed('heimdall, one', openOurs), goal: { atLeast: 0.9 } }],
        },
        {
          what: 'echo of one key, p50',
          unit: 'µs',
          rounds: ROUNDS,
          ours: { name: 'heimdall socket', measure: () => echo((sinks) => ours(folder, ECHO, sinks)) },
          peers: [
            {
              name: 'dtach socket',
              measure: () => echo((sinks) => dtachSocket(folder, ECHO, first(sinks))),
              goal: { atMost: 1.2 },
            },
            {
              name: 'tmux attach',
              measure: () => echo((sinks) => tmuxAttach(folder, ECHO, first(sinks))),
              goal: { atMost: 0.8 },
            },
          ],
        },
        {
          what: 'resident memory of an idle session',
          unit: 'MiB',
          rounds: ROUNDS,
          ours: { name: 'heimdall', measure: idleMemory },
          peers: [{ name: 'node with one node-pty', measure: bareMemory, goal: { atMost: 1.5 } }],
        },
        {
          what: 'hm run --detach until the socket answers',
          unit: 'ms',
          rounds: 15,
          ours: { name: 'hm run --detach', measure: startToAnswer },
          peers: [{ name: 'node -e 0', measure: bareStart, goal: { atMost: 3 } }],
        },
        {
          what: 'attach to 10 MB of history until the screen is drawn',
          unit: 'ms',
          rounds: 15,
          ours: redraw.ours,
          peers: [redraw.dtach],
        },
      ],
    }
  },
})
