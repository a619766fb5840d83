// The traffic of one shim: bytes both ways with back-pressure, until the client leaves, the server ends, or policy or a signal says so.
import type { Readable, Writable } from 'node:stream'
import { whileMoving, within } from '../../clock.ts'
import { EXIT } from '../../errors.ts'
import { UPSTREAM_DRAIN_MS, UPSTREAM_EOF_MS, UPSTREAM_HANGUP_MS, UPSTREAM_START_MS } from '../../limits.ts'
import type { AgentOut } from '../messages/agent-out.ts'
import { ERROR_CODES, protocolError } from '../call/refusals.ts'
import type { ClientSide, Flow } from './client-side.ts'
import { Garbage } from '../messages/garbage.ts'
import type { JudgedCall } from '../call/judged-call.ts'
import type { CallCore, Traffic, TrafficEnd } from '../call/adapter.ts'
import { INTERNAL_ERROR, endUnanswered } from '../call/unanswered.ts'
import type { Upstream, UpstreamExit } from '../server/upstream.ts'
import type { UpstreamSide } from './upstream-side.ts'
import { writerTo } from '../pipes/pipe.ts'
import type { WatchForEnd } from './watch-for-end.ts'

/** Output that a dead server left in its pipe is there at once; a descendant that holds the pipe open is not waited for. */
const LAST_OUTPUT_MS = 500

/** How long a server may have been gone before its client's first word, which is then answered. */
const FIRST_REQUEST_MS = 2_000

const NOT_STARTED = 127

export interface TrafficOptions {
  readonly core: CallCore
  readonly out: AgentOut
  readonly upstream: Upstream
  readonly upstreamSide: UpstreamSide
  readonly clientSide: (flow: Flow) => ClientSide
  readonly stdin: Readable
  readonly stdout: Writable
  readonly watchForEnd: WatchForEnd
  readonly note: (line: string) => void
}

interface Ending extends TrafficEnd {
  /** Nobody waits for anything any more: the server gets no time to go by itself. */
  readonly isUrgent: boolean
  /** What open calls are told. */
  readonly why: string
}

export function startTraffic(options: TrafficOptions): Traffic {
  const { core, out, upstream, upstreamSide, stdin, stdout } = options
  const { clock, open } = core
  let isEnding = false
  let isTerminated = false
  let hasExited = false
  let hasNotStarted = false
  let hasSpoken = false
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

  let hurry: () => void = () => {}
  /** A signal, or the death of the parent, while the server is still waited for. */
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve
  })

  const end = async (ending: Ending): Promise<void> => {
    if (ending.isUrgent) hurry()
    if (isEnding) return
    isEnding = true
    if (open.size === 0) allAnswered()
    const startedByMs = clock.monoMs() + UPSTREAM_START_MS
    const drainMs = (): number =>
      hasSpoken ? UPSTREAM_DRAIN_MS : Math.max(UPSTREAM_DRAIN_MS, startedByMs - clock.monoMs())
    // A server that does not read holds up the rest of the input, but not the end.
    if (!ending.isUrgent) await whileMoving(clock, drainMs, moved, Promise.race([client.ended(), hurried]))
    const unjudged = client.drop()
    if (unjudged > 0) options.note(`${unjudged} bytes of the client were not sent on: the server did not read`)
    await upstream.end({
      patienceMs: ending.isUrgent ? null : open.size > 0 ? drainMs : () => UPSTREAM_EOF_MS,
      moved,
      settled: Promise.race([settled, hurried]),
      afterSettledMs: UPSTREAM_EOF_MS,
    })
    await within(clock, LAST_OUTPUT_MS, lastOutput)
    out.upstreamEnded()
    closeOpen(options, () => INTERNAL_ERROR, ending.why)
    await within(clock, LAST_OUTPUT_MS, out.drained())
    stopWatching()
    // Also where the client had left before that was known.
    if (hasNotStarted) resolveEnded({ exitCode: NOT_STARTED, status: 'FAILED' })
    else resolveEnded({ exitCode: ending.exitCode, status: isTerminated ? 'TERMINATED' : ending.status })
  }
  let hasClientLeft = false
  let hear: () => void = () => {}
  /** The client has said something, or never will. */
  const heard = new Promise<void>((resolve) => {
    hear = resolve
  })
  const clientLeft = (): void => {
    hasClientLeft = true
    hear()
    // How it ended is told by the server's end, which came before.
    if (hasExited && !isTerminated) return
    void end({
      exitCode: isTerminated ? EXIT.denied : EXIT.ok,
      status: 'SUCCEEDED',
      isUrgent: false,
      why: 'the client left before the answer came',
    })
  }
  const stopWatching = options.watchForEnd(
    (exitCode) => void end({ exitCode, status: 'CANCELLED', isUrgent: true, why: 'the shim was told to end' }),
  )

  /** Chunks that were looked at and may still be on their way to the client. */
  const unsent: Buffer[] = []
  const passed = (chunk: Buffer): void => {
    garbage.freed(chunk.length)
    unsent.push(chunk)
    if (out.backlog > 0) return
    for (const one of unsent) upstream.room?.giveBack(one)
    unsent.length = 0
  }
  stdin.on('data', (chunk: Buffer) => {
    client.push(chunk)
    hear()
    garbage.passed(chunk.length)
  })
  stdin.once('end', clientLeft)
  stdin.once('close', clientLeft)
  stdin.on('error', clientLeft)
  stdout.on('error', clientLeft)
  upstream.stdout.on('data', (chunk: Buffer) => {
    hasSpoken = true
    if (!out.fromUpstream(chunk)) {
      upstream.stdout.pause()
      out.onDrain(() => upstream.stdout.resume())
    }
    const openBefore = open.size
    garbage.passed(chunk.length)
    upstreamSide.push(chunk, passed)
    if (open.size < openBefore) moves += 1
    if (isEnding && open.size === 0) allAnswered()
  })
  // Pipes that are read into our own memory do not begin by themselves.
  stdin.resume()
  upstream.stdout.resume()
  // A server that closes its output, or input that is still to be sent, will answer nothing more, whether or not it lives on.
  const hungUp = (what: string) => (): void => {
    void within(clock, UPSTREAM_HANGUP_MS, upstream.exited).then(() => {
      if (isTerminated || isEnding || hasExited) return
      options.note(what)
      return end({ exitCode: EXIT.failure, status: 'FAILED', isUrgent: true, why: what })
    })
  }
  upstream.stdout.once('close', hungUp('the server closed its output and does not exit'))
  upstream.stdin.once('error', hungUp('the server closed its input and does not exit'))
  void upstream.exited.then(async (exit) => {
    hasExited = true
    hasNotStarted = exit.error !== null
    if (hasNotStarted && isEnding) options.note(exitText(exit))
    if (isTerminated || isEnding) return
    // Whoever has just started us is about to ask, and is to hear why nobody answers.
    await within(clock, FIRST_REQUEST_MS, heard)
    if (hasClientLeft) await within(clock, LAST_OUTPUT_MS, client.ended())
    await within(clock, LAST_OUTPUT_MS, lastOutput)
    const hasFailed = exit.code !== 0 || open.size > 0
    const why = exitText(exit)
    if (hasFailed) options.note(why)
    await end({ exitCode: exitCodeOf(exit), status: hasFailed ? 'FAILED' : 'SUCCEEDED', isUrgent: true, why })
  })

  return {
    ended,
    terminate(decision) {
      if (isTerminated) return
      isTerminated = true
      // After the chunk in which it happened: calls before this one in the same chunk have been let through.
      queueMicrotask(() => {
        core.cutOff()
        void upstream.end({ patienceMs: null }).then(() => {
          out.upstreamEnded()
          closeOpen(
            options,
            ({ call }) => ERROR_CODES[core.answering.client.generationOf(call.meta)].TERMINATE_RUN,
            decision.summary,
          )
        })
      })
    },
  }
}

/** Answers what nobody else will answer, and ends calls in the record. */
function closeOpen(
  { core: { open, gate }, out }: TrafficOptions,
  codeOf: (judged: JudgedCall) => number,
  why: string,
): void {
  const { calls, otherIds } = open.takeAll()
  for (const call of calls) {
    const line = endUnanswered(gate, call, codeOf(call.judged), why)
    if (line !== null) out.answer(line)
  }
  for (const id of otherIds) out.answer(protocolError(id, INTERNAL_ERROR, gate.words.clean(why)))
}

function flowTo(upstream: Upstream, stdin: Readable, garbage: Garbage, onTaken: () => void): Flow {
  const { stdin: to } = upstream
  const send = writerTo(to)
  return {
    // A server that has closed its input takes nothing any more; its exit tells the rest.
    write(bytes) {
      // What was held, or put together from pieces, is in buffers of its own.
      garbage.passed(bytes.length)
      return !to.writable || send(bytes, onTaken)
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

function exitText({ code, signal, error }: UpstreamExit): string {
  if (error !== null) return `the server could not be started: ${error.message}`
  return signal === null ? `the server exited with code ${code}` : `the server was ended by ${signal}`
}

function exitCodeOf({ code, signal, error }: UpstreamExit): number {
  if (error !== null) return NOT_STARTED
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
