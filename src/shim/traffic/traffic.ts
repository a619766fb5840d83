// The traffic of one shim: bytes both ways with back-pressure, until the client leaves, the server ends, or policy or a signal says so.
import type { EventEmitter } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { type Clock, whileMoving, within } from '../../clock.ts'
import { EXIT } from '../../errors.ts'
import { PREVIEW_NONE } from '../../events/preview.ts'
import type { RunStatus } from '../../events/types.ts'
import { PARENT_WATCH_MS, UPSTREAM_DRAIN_MS, UPSTREAM_EOF_MS, UPSTREAM_HANGUP_MS } from '../../limits.ts'
import type { Decision } from '../../policy/types.ts'
import type { AgentOut } from '../messages/agent-out.ts'
import { ERROR_CODES, protocolError } from '../call/refusals.ts'
import type { ClientJudge } from '../call/client-judge.ts'
import type { ClientSide, Flow } from './client-side.ts'
import type { ClientInfo } from '../call/client-info.ts'
import { Garbage } from '../messages/garbage.ts'
import type { CallGate, JudgedCall } from '../call/call-gate.ts'
import type { OpenCalls } from '../call/open-calls.ts'
import type { Upstream, UpstreamExit } from '../server/upstream.ts'
import type { UpstreamSide } from './upstream-side.ts'

/** JSON-RPC's code for what the server itself did wrong. */
const INTERNAL_ERROR = -32_603
/** Output that a dead server left in its pipe is there at once; a descendant that holds the pipe open is not waited for. */
const LAST_OUTPUT_MS = 500

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export interface TrafficOptions {
  readonly clock: Clock
  readonly client: ClientInfo
  readonly gate: CallGate
  readonly judge: ClientJudge
  readonly open: OpenCalls
  readonly out: AgentOut
  readonly upstream: Upstream
  readonly upstreamSide: UpstreamSide
  readonly clientSide: (flow: Flow) => ClientSide
  readonly stdin: Readable
  readonly stdout: Writable
  readonly signals: EventEmitter
  /** The process that started the shim, asked again and again; it changes when that process is gone. */
  readonly parentPid: () => number
  readonly note: (line: string) => void
}

export interface TrafficEnd {
  readonly exitCode: number
  readonly status: RunStatus
}

export interface Traffic {
  readonly ended: Promise<TrafficEnd>
  /** Policy has ended the run: the server goes, the client is told with every request it still makes. */
  terminate(decision: Decision): void
}

interface Ending extends TrafficEnd {
  /** How long the server may take to go by itself. */
  readonly patienceMs: number
  /** What open calls are told. */
  readonly why: string
}

export function startTraffic(options: TrafficOptions): Traffic {
  const { clock, judge, open, out, upstream, upstreamSide, stdin, stdout } = options
  let isEnding = false
  let isTerminated = false
  let hasExited = false
  let allAnswered: () => void = () => {}
  const settled = new Promise<void>((resolve) => {
    allAnswered = resolve
  })
  let resolveEnded: (end: TrafficEnd) => void
  const ended = new Promise<TrafficEnd>((resolve) => {
    resolveEnded = resolve
  })
  const garbage = new Garbage()
  /** Counts what upstream has taken and answered. */
  let moves = 0
  const moved = (): number => moves
  const client = options.clientSide(flowTo(upstream, stdin, garbage, () => void (moves += 1)))
  const closed = (stream: Readable): Promise<void> => new Promise((resolve) => void stream.once('close', resolve))
  const lastOutput = Promise.all([closed(upstream.stdout), closed(upstream.stderr)])

  const end = async (ending: Ending): Promise<void> => {
    if (isEnding) return
    isEnding = true
    if (open.size === 0) allAnswered()
    // A server that does not read holds up the rest of the input, but not the end.
    if (ending.patienceMs > 0) await whileMoving(clock, UPSTREAM_DRAIN_MS, moved, client.ended())
    const unjudged = client.drop()
    if (unjudged > 0) options.note(`${unjudged} bytes of the client were not sent on: the server did not read`)
    const patienceMs = ending.patienceMs > 0 && open.size > 0 ? UPSTREAM_DRAIN_MS : ending.patienceMs
    await upstream.end({ patienceMs, moved, settled, afterSettledMs: UPSTREAM_EOF_MS })
    await within(clock, LAST_OUTPUT_MS, lastOutput)
    out.upstreamEnded()
    closeOpenCalls(options, () => INTERNAL_ERROR, ending.why)
    await within(clock, LAST_OUTPUT_MS, out.drained())
    stopWatching()
    resolveEnded({ exitCode: ending.exitCode, status: isTerminated ? 'TERMINATED' : ending.status })
  }
  const clientLeft = (): void =>
    void end({
      exitCode: isTerminated ? EXIT.denied : EXIT.ok,
      status: 'SUCCEEDED',
      patienceMs: UPSTREAM_EOF_MS,
      why: 'the client left before the answer came',
    })
  const stopWatching = watchForEnd(
    options,
    (exitCode) => void end({ exitCode, status: 'CANCELLED', patienceMs: 0, why: 'the shim was told to end' }),
  )

  stdin.on('data', (chunk: Buffer) => {
    client.push(chunk)
    garbage.passed(chunk.length)
  })
  stdin.once('end', clientLeft)
  stdin.once('close', clientLeft)
  stdin.on('error', clientLeft)
  stdout.on('error', clientLeft)
  upstream.stdout.on('data', (chunk: Buffer) => {
    if (!out.fromUpstream(chunk)) {
      upstream.stdout.pause()
      out.onDrain(() => upstream.stdout.resume())
    }
    const openBefore = open.size
    upstreamSide.push(chunk)
    if (open.size < openBefore) moves += 1
    garbage.passed(chunk.length)
    if (isEnding && open.size === 0) allAnswered()
  })
  // A server that closes its output, or input that is still to be sent, will answer nothing more, whether or not it lives on.
  const hungUp = (what: string) => (): void => {
    void within(clock, UPSTREAM_HANGUP_MS, upstream.exited).then(() => {
      if (isTerminated || isEnding || hasExited) return
      options.note(what)
      return end({ exitCode: EXIT.failure, status: 'FAILED', patienceMs: 0, why: what })
    })
  }
  upstream.stdout.once('close', hungUp('the server closed its output and does not exit'))
  upstream.stdin.once('error', hungUp('the server closed its input and does not exit'))
  void upstream.exited.then(async (exit) => {
    hasExited = true
    if (isTerminated || isEnding) return
    await within(clock, LAST_OUTPUT_MS, lastOutput)
    const hasFailed = exit.code !== 0 || open.size > 0
    const why = exitText(exit)
    if (hasFailed) options.note(why)
    await end({ exitCode: exitCodeOf(exit), status: hasFailed ? 'FAILED' : 'SUCCEEDED', patienceMs: 0, why })
  })

  return {
    ended,
    terminate(decision) {
      if (isTerminated) return
      isTerminated = true
      // After the chunk in which it happened: calls before this one in the same chunk have been let through.
      queueMicrotask(() => {
        judge.cutOff()
        void upstream.end({ patienceMs: 0 }).then(() => {
          out.upstreamEnded()
          closeOpenCalls(
            options,
            ({ call }) => ERROR_CODES[options.client.generationOf(call.meta)].TERMINATE_RUN,
            decision.summary,
          )
        })
      })
    },
  }
}

/** Answers calls that nobody else will answer, and ends them in the record. */
function closeOpenCalls(
  { open, out, gate }: TrafficOptions,
  codeOf: (judged: JudgedCall) => number,
  why: string,
): void {
  for (const { judged, idRaw, perhaps } of open.takeAll()) {
    if (perhaps !== null) {
      gate.finish(judged, perhaps)
      continue
    }
    const code = codeOf(judged)
    const line = protocolError(idRaw, code, gate.clean(why))
    out.answer(line)
    gate.finish(judged, {
      status: 'ERROR',
      bytesOut: Buffer.byteLength(line),
      error: { class: 'transport', message: why, code, retryable: false },
      result: PREVIEW_NONE,
    })
  }
}

function flowTo(upstream: Upstream, stdin: Readable, garbage: Garbage, onTaken: () => void): Flow {
  const { stdin: to } = upstream
  return {
    // A server that has closed its input takes nothing any more; its exit tells the rest.
    write(bytes) {
      // What was held, or put together from pieces, is in buffers of its own.
      garbage.passed(bytes.length)
      return !to.writable || to.write(bytes, onTaken)
    },
    writable: () =>
      new Promise((resolve) => {
        const done = (): void => {
          to.off('drain', done)
          to.off('close', done)
          resolve()
        }
        to.on('drain', done)
        to.on('close', done)
        if (to.destroyed || !to.writableNeedDrain) done()
      }),
    pause: () => void stdin.pause(),
    resume: () => void stdin.resume(),
  }
}

/** Signals, and the death of the parent where the end of input does not tell. Returns how to stop watching. */
function watchForEnd(options: TrafficOptions, end: (exitCode: number) => void): () => void {
  const { signals, clock, parentPid } = options
  const listeners = Object.entries(SIGNALS).map(([name, exitCode]) => {
    const listener = (): void => end(exitCode)
    signals.on(name, listener)
    return { name, listener }
  })
  const parent = parentPid()
  let isWatching = parent > 1
  const look = (): void => {
    if (!isWatching) return
    if (parentPid() === parent) clock.after(PARENT_WATCH_MS, look, { background: true })
    else end(EXIT.ok)
  }
  look()
  return () => {
    isWatching = false
    for (const { name, listener } of listeners) signals.off(name, listener)
  }
}

function exitText({ code, signal, error }: UpstreamExit): string {
  if (error !== null) return `the server could not be started: ${error.message}`
  return signal === null ? `the server exited with code ${code}` : `the server was ended by ${signal}`
}

function exitCodeOf({ code, signal, error }: UpstreamExit): number {
  if (error !== null) return 127
  return signal === null ? (code ?? EXIT.failure) : 128 + (SIGNAL_NUMBERS[signal] ?? 0)
}

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
}
