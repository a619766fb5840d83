// How the traffic of a shim ends: the client leaves, the server exits or hangs up, a signal comes or policy says so; who is waited for, what open calls are told, and with which exit code.
import type { Readable } from 'node:stream'
import { whileMoving, within } from '../../clock.ts'
import { EXIT } from '../../errors.ts'
import {
  UPSTREAM_DRAIN_MS,
  UPSTREAM_EOF_MS,
  UPSTREAM_FIRST_REQUEST_MS,
  UPSTREAM_HANGUP_MS,
  UPSTREAM_LAST_OUTPUT_MS,
  UPSTREAM_START_MS,
} from '../../limits.ts'
import type { Decision } from '../../policy/types.ts'
import type { CallCore, TrafficEnd } from '../call/adapter.ts'
import type { JudgedCall } from '../call/judged-call.ts'
import { ERROR_CODES, protocolError } from '../call/refusals.ts'
import { INTERNAL_ERROR, endUnanswered } from '../call/unanswered.ts'
import type { AgentOut } from '../messages/agent-out.ts'
import type { Upstream, UpstreamExit } from '../server/upstream.ts'
import type { ClientSide } from './client-side.ts'
import type { WatchForEnd } from './watch-for-end.ts'

const NOT_STARTED = 127

export interface EndingParts {
  readonly core: CallCore
  readonly out: AgentOut
  readonly upstream: Upstream
  readonly client: ClientSide
  readonly watchForEnd: WatchForEnd
  readonly note: (line: string) => void
}

interface Reason extends TrafficEnd {
  /** Nobody waits for anything any more: the server gets no time to go by itself. */
  readonly isUrgent: boolean
  /** What open calls are told. */
  readonly why: string
}

export class TrafficEnding {
  readonly #parts: EndingParts
  readonly #ended = happening<TrafficEnd>()
  #isBegun = false
  #isTerminated = false
  #exit: UpstreamExit | undefined
  #hasServerSpoken = false
  #hasClientLeft = false
  /** The client has said something, or never will. */
  readonly #clientHeard = happening<void>()
  readonly #allAnswered = happening<void>()
  /** A signal, or the death of the parent, while the server is still waited for. */
  readonly #hurried = happening<void>()
  /** Counts what the server has taken and answered, and what the client has taken. */
  #moves = 0
  readonly #lastOutput: Promise<unknown>
  readonly #stopWatching: () => void

  constructor(parts: EndingParts) {
    this.#parts = parts
    const { upstream } = parts
    this.#lastOutput = Promise.all([closed(upstream.stdout), closed(upstream.stderr)])
    this.#stopWatching = parts.watchForEnd(
      (exitCode) => void this.#end({ exitCode, status: 'CANCELLED', isUrgent: true, why: 'the shim was told to end' }),
    )
    void upstream.exited.then((exit) => this.#serverExited(exit))
  }

  get ended(): Promise<TrafficEnd> {
    return this.#ended.promise
  }

  clientSpoke(): void {
    this.#clientHeard.happen()
  }

  clientLeft(): void {
    this.#hasClientLeft = true
    this.#clientHeard.happen()
    // How it ended is told by the server's end, which came before.
    if (this.#exit !== undefined && !this.#isTerminated) return
    void this.#end({
      exitCode: this.#isTerminated ? EXIT.denied : EXIT.ok,
      status: 'SUCCEEDED',
      isUrgent: false,
      why: 'the client left before the answer came',
    })
  }

  serverSpoke(): void {
    this.#hasServerSpoken = true
  }

  serverTook(): void {
    this.#moves += 1
  }

  clientTook(): void {
    this.#moves += 1
  }

  /** After what it sent was read; `hasMoved`: a call was answered, or an answer is in progress. */
  serverWasRead(hasMoved: boolean): void {
    if (hasMoved) this.#moves += 1
    if (this.#isBegun && this.#parts.core.open.size === 0) this.#allAnswered.happen()
  }

  /** A server that closes its output, or input that is still to be sent, will answer nothing more, whether or not it lives on. */
  hungUp(what: string): void {
    const { core, upstream, note } = this.#parts
    void within(core.clock, UPSTREAM_HANGUP_MS, upstream.exited).then(() => {
      if (this.#isTerminated || this.#isBegun || this.#exit !== undefined) return
      note(what)
      return this.#end({ exitCode: EXIT.failure, status: 'FAILED', isUrgent: true, why: what })
    })
  }

  /** The server goes; the client stays, and is told with every request it still makes. */
  terminate({ summary }: Decision): void {
    if (this.#isTerminated) return
    this.#isTerminated = true
    const { core, out, upstream } = this.#parts
    // After the chunk in which it happened: calls before this one in the same chunk have been let through.
    queueMicrotask(() => {
      core.cutOff()
      void upstream.end({ patienceMs: null }).then(() => {
        out.upstreamEnded()
        const generationOf = ({ call }: JudgedCall) => core.answering.client.generationOf(call.meta)
        this.#closeOpen((judged) => ERROR_CODES[generationOf(judged)].TERMINATE_RUN, summary)
      })
    })
  }

  async #serverExited(exit: UpstreamExit): Promise<void> {
    const { core, client, note } = this.#parts
    const { clock, open } = core
    this.#exit = exit
    const why = exitText(exit)
    if (exit.error !== null && this.#isBegun) note(why)
    if (this.#isTerminated || this.#isBegun) return
    // Whoever has just started us is about to ask, and is to hear why nobody answers.
    await within(clock, UPSTREAM_FIRST_REQUEST_MS, this.#clientHeard.promise)
    if (this.#hasClientLeft) await within(clock, UPSTREAM_LAST_OUTPUT_MS, client.ended())
    await within(clock, UPSTREAM_LAST_OUTPUT_MS, this.#lastOutput)
    const hasFailed = exit.code !== 0 || open.size > 0
    if (hasFailed) note(why)
    await this.#end({ exitCode: exitCodeOf(exit), status: hasFailed ? 'FAILED' : 'SUCCEEDED', isUrgent: true, why })
  }

  /** The first reason counts; a later one may only hurry it. */
  async #end({ exitCode, status, isUrgent, why }: Reason): Promise<void> {
    if (isUrgent) this.#hurried.happen()
    if (this.#isBegun) return
    this.#isBegun = true
    const { core, out, upstream, client, note } = this.#parts
    const { clock, open } = core
    if (open.size === 0) this.#allAnswered.happen()
    const startedByMs = clock.monoMs() + UPSTREAM_START_MS
    const drainMs = (): number =>
      this.#hasServerSpoken ? UPSTREAM_DRAIN_MS : Math.max(UPSTREAM_DRAIN_MS, startedByMs - clock.monoMs())
    const moved = (): number => this.#moves
    const hurried = this.#hurried.promise
    // A server that does not read holds up the rest of the input, but not the end.
    if (!isUrgent) await whileMoving(clock, drainMs, moved, Promise.race([client.ended(), hurried]))
    const unjudged = client.drop()
    if (unjudged > 0) note(`${unjudged} bytes of the client were not sent on: the server did not read`)
    await upstream.end({
      patienceMs: isUrgent ? null : open.size > 0 ? drainMs : () => UPSTREAM_EOF_MS,
      moved,
      settled: Promise.race([this.#allAnswered.promise, hurried]),
      afterSettledMs: UPSTREAM_EOF_MS,
    })
    await within(clock, UPSTREAM_LAST_OUTPUT_MS, this.#lastOutput)
    out.upstreamEnded()
    this.#closeOpen(() => INTERNAL_ERROR, why)
    const taken = Promise.race([out.drained(), hurried])
    await whileMoving(
      clock,
      () => UPSTREAM_LAST_OUTPUT_MS,
      () => out.backlog,
      taken,
    )
    this.#stopWatching()
    // Also where the client had left before that was known.
    const isNotStarted = this.#exit !== undefined && this.#exit.error !== null
    if (isNotStarted) this.#ended.happen({ exitCode: NOT_STARTED, status: 'FAILED' })
    else this.#ended.happen({ exitCode, status: this.#isTerminated ? 'TERMINATED' : status })
  }

  /** Answers what nobody else will answer, and ends calls in the record. */
  #closeOpen(codeOf: (judged: JudgedCall) => number, why: string): void {
    const { core, out } = this.#parts
    const { open, gate } = core
    const { calls, otherIds } = open.takeAll()
    for (const call of calls) {
      const line = endUnanswered(gate, call, codeOf(call.judged), why)
      if (line !== null) out.answer(line)
    }
    for (const id of otherIds) out.answer(protocolError(id, INTERNAL_ERROR, gate.words.clean(why)))
  }
}

/** What is waited for and happens once. */
function happening<T>(): { readonly promise: Promise<T>; readonly happen: (as: T) => void } {
  let happen: (as: T) => void = () => undefined
  const promise = new Promise<T>((resolve) => {
    happen = resolve
  })
  return { promise, happen }
}

const closed = (stream: Readable): Promise<void> => new Promise((resolve) => void stream.once('close', resolve))

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
