// What is to be done with the messages that were read together: their calls are decided and recorded at once, then each message has its turn.
import type { EventWriter } from '../../runs/event-writer.ts'
import type { CallGate } from './call-gate.ts'
import type { JudgedCall, ResolvedCall } from './judged-call.ts'

/** A call waits for its decision, with what is done once it is there, or when the shim ends before that. */
interface PendingCall {
  readonly resolved: ResolvedCall
  readonly decided: (judged: JudgedCall) => void
  readonly abandoned: () => void
}

type Step = PendingCall | (() => void)

const isPending = (step: Step): step is PendingCall => typeof step !== 'function'

export class Turn {
  readonly #gate: CallGate
  #steps: Step[] = []
  /** Calls that are being decided. */
  #deciding: readonly PendingCall[] = []
  #isAbandoned = false

  constructor(gate: CallGate) {
    this.#gate = gate
  }

  /** Calls that have no decision yet. */
  get pending(): number {
    return this.#steps.filter(isPending).length
  }

  add(call: PendingCall): void {
    this.#steps.push(call)
  }

  /** Does something after the calls that came before it. */
  after(act: () => void): void {
    this.#steps.push(act)
  }

  /** Null when all is done, else when it will be. */
  run(events: EventWriter): Promise<void> | null {
    const steps = this.#steps
    this.#steps = []
    const calls = steps.filter(isPending)
    const act = (judged: readonly JudgedCall[]): void => {
      this.#deciding = []
      if (this.#isAbandoned) return
      let next = 0
      for (const step of steps)
        if (isPending(step)) step.decided(judged[next++] as JudgedCall)
        else step()
      events.endOfTurn()
    }
    this.#deciding = calls
    const judged = calls.length === 0 ? [] : this.#gate.decide(calls.map(({ resolved }) => resolved))
    if (judged instanceof Promise) return judged.then(act)
    act(judged)
    return null
  }

  /** Nothing is decided any more. */
  abandon(): void {
    this.#isAbandoned = true
    for (const { abandoned } of [...this.#deciding, ...this.#steps.filter(isPending)]) abandoned()
    this.#deciding = []
    this.#steps = []
  }
}
