// The supervisor beside dtach, tmux and a bare node-pty reader: throughput, CPU, echo, memory, start and redraw.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveOptions } from '../src/wire/session-options.ts'
import { sessionPaths } from '../src/wire/session-paths.ts'
import { startSession } from '../src/sessions/start.ts'
import { encodeFrame } from '../src/wire/encode.ts'
import { type Runner, runBench, type Side } from './support/bench.ts'
import { summarize } from './support/summary.ts'
import {
  bareNodePty,
  bareRelay,
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

const MB = 100
const ROUNDS = 5
const LINE = `${'0123456789'.repeat(7)}a\n`
/** Behind the text, with the number of the flood in it: a terminal that redraws shows the last one again. */
const markOf = (pass: number): string => `=the=end=${pass}=`

const folder = mkdtempSync(join(tmpdir(), 'hm-bench-'))
const text = join(folder, 'text')
const lines = Math.floor((MB * 1e6) / LINE.length)
// Each newline leaves the terminal as two bytes.
const EXPECTED = lines * (LINE.length + 1)
/** A flood for each line that is typed. */
const FLOOD = [
  'sh',
  '-c',
  `stty -echo; while read pass; do cat ${text}; printf "${markOf(0).replace('0', '$pass')}"; done`,
]
const FLOOD_GB = (lines * LINE.length) / 1e9

/** Counts to the last byte and looks for the mark behind it: a byte that is missing fails the run. */
function counter(isExact: boolean): { sink: Sink; flooded: (pass: number) => Promise<void> } {
  let got = 0
  let tail = ''
  let mark = ''
  let finish: () => void = () => undefined
  let fail: (error: Error) => void = () => undefined
  return {
    // What an attaching program draws before the go is not the child's.
    flooded: (pass) => {
      got = 0
      tail = ''
      mark = markOf(pass)
      return new Promise<void>((resolve, reject) => {
        finish = resolve
        fail = reject
      })
    },
    sink: (bytes, chunk) => {
      got += bytes
      tail = (tail + chunk.toString('latin1', Math.max(0, bytes - 64))).slice(-64)
      if (mark === '' || !tail.includes(mark)) return
      const lost = EXPECTED + mark.length - got
      if (isExact && lost !== 0) fail(new Error(`${lost} bytes lost`))
      else finish()
    },
  }
}

type Open = (sinks: readonly Sink[]) => Promise<Subject>
/** Of a process in its first flood, and of the same one in its third, when its code is compiled: a session lives for hours. */
type FloodFigure = 'speedCold' | 'speedWarm' | 'costCold' | 'costWarm'

async function floods(pid: number, flood: (pass: number) => Promise<number>): Promise<Record<FloodFigure, number>> {
  const once = async (pass: number): Promise<{ speed: number; cost: number }> => {
    // What the end of one flood leaves to do, like drawing the last screen, is no part of the next.
    await (pass === 1 ? settled() : quiet())
    const cpuBefore = cpuMs(pid)
    const tookMs = await flood(pass)
    return { speed: (FLOOD_GB * 1e6) / tookMs, cost: (cpuMs(pid) - cpuBefore) / 1e3 / FLOOD_GB }
  }
  const cold = await once(1)
  await once(2)
  const warm = await once(3)
  return { speedCold: cold.speed, speedWarm: warm.speed, costCold: cold.cost, costWarm: warm.cost }
}

const flooding = (name: string, open: Open, clients = 1, isExact = true): Runner<FloodFigure> => ({
  name,
  run: async () => {
    const counters = Array.from({ length: clients }, () => counter(isExact))
    const subject = await open(counters.map(({ sink }) => sink))
    const figures = await floods(subject.pid, async (pass) => {
      const flooded = counters.map((one) => one.flooded(pass))
      const before = performance.now()
      subject.type(`${pass}\n`)
      await Promise.all(flooded)
      return performance.now() - before
    })
    await subject.stop()
    return figures
  },
})

const bareReader: Runner<FloodFigure> = {
  name: 'bare node-pty reader',
  run: async () => {
    const reader = await bareNodePty(FLOOD, EXPECTED + markOf(0).length)
    const figures = await floods(reader.pid, (pass) => reader.flood(`${pass}\n`))
    await reader.stop()
    return figures
  },
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 300))
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_500))
const first = (sinks: readonly Sink[]): Sink => sinks[0] ?? (() => undefined)
const openOurs: Open = (sinks) => ours(folder, FLOOD, sinks)

const ECHO = ['sh', '-c', 'stty raw -echo; exec cat']
const KEYS = 4_000
/** Of a fresh process, whose code is not compiled yet. */
const COLD_KEYS = 500
const WARM_UP_KEYS = 2_000
type EchoFigure = 'cold' | 'warm'

/** Median microseconds from a key to its echo, one after the other. */
const echoing = (name: string, open: Open): Runner<EchoFigure> => ({
  name,
  run: async () => {
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
      times.push((performance.now() - before) * 1_000)
    }
    await subject.stop()
    return {
      cold: summarize(times.slice(0, COLD_KEYS)).median,
      warm: summarize(times.slice(WARM_UP_KEYS)).median,
    }
  },
})

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
const REDRAW = `draw() { i=1; printf "\\033[2J\\033[H"; while [ $i -le 40 ]; do printf "line %d of the screen\\r\\n" $i; i=$((i+1)); done; printf ${markOf(0)}; }
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
    dtach: { name: 'dtach, child redraws', measure: () => timed(dtachRedrawn(dtach.path, markOf(0))) },
    stop: async () => {
      process.kill(started.supervisor_pid, 'SIGTERM')
      await dtach.stop()
    },
  }
}

await runBench({
  name: 'supervisor',
  about: `${MB} MB of text, to a fresh process (cold) and, after two of them, to the same (warm); a lost byte fails (tmux redraws and is only timed)`,
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
          rounds: ROUNDS,
          ours: flooding('heimdall', openOurs),
          peers: [
            flooding('dtach attach', (sinks) => dtachAttach(folder, FLOOD, first(sinks))),
            flooding('tmux attach', (sinks) => tmuxAttach(folder, FLOOD, first(sinks)), 1, false),
            bareReader,
          ],
          figures: [
            {
              of: 'speedWarm',
              what: 'throughput to one subscriber, warm',
              unit: 'MB/s',
              goals: {
                'dtach attach': { atLeast: 0.95 },
                'tmux attach': { atLeast: 1.8 },
                'bare node-pty reader': { atLeast: 0.95 },
              },
            },
            { of: 'speedCold', what: 'throughput to one subscriber, cold', unit: 'MB/s' },
            {
              of: 'costWarm',
              what: 'CPU of the session while it floods, warm',
              unit: 's/GB',
              goals: { 'tmux attach': { atMost: 0.25 } },
            },
            { of: 'costCold', what: 'CPU of the session while it floods, cold', unit: 's/GB' },
          ],
        },
        {
          rounds: ROUNDS,
          ours: flooding('heimdall, four', openOurs, 4),
          peers: [flooding('heimdall, one', openOurs)],
          figures: [
            {
              of: 'speedWarm',
              what: 'throughput to four subscribers, each of them, warm',
              unit: 'MB/s',
              goals: { 'heimdall, one': { atLeast: 0.9 } },
            },
          ],
        },
        {
          rounds: ROUNDS,
          ours: echoing('heimdall socket', (sinks) => ours(folder, ECHO, sinks)),
          peers: [
            echoing('dtach socket', (sinks) => dtachSocket(folder, ECHO, first(sinks))),
            echoing('tmux attach', (sinks) => tmuxAttach(folder, ECHO, first(sinks))),
            // What is left to win: a process of this kind that does nothing but pass bytes on.
            echoing('bare relay in Node', (sinks) => bareRelay(folder, ECHO, first(sinks))),
          ],
          figures: [
            {
              of: 'warm',
              what: 'echo of one key, p50, warm',
              unit: 'µs',
              goals: { 'dtach socket': { atMost: 1.25 }, 'tmux attach': { atMost: 0.8 } },
            },
            { of: 'cold', what: `echo of one key, p50 of the first ${COLD_KEYS}, cold`, unit: 'µs' },
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
