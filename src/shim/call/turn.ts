// What the record is to say of the messages of one turn: written together, before any call of the turn is sent on.
import { PREVIEW_NONE } from '../../events/preview.ts'
import type { EventWriter } from '../../runs/event-writer.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { CallGate } from './call-gate.ts'
import type { JudgedCall } from './judged-call.ts'

export type Noted =
  | { readonly what: 'forwarded'; readonly judged: JudgedCall; readonly id: MessageId | null }
  /** Not let through: the length of its answer, and its code. */
  | { readonly what: 'refused'; readonly judged: JudgedCall; readonly bytesOut: number; readonly code: number }
  | { readonly what: 'cancelled'; readonly judged: JudgedCall }

export class Turn {
  readonly #gate: CallGate
  readonly #deny: (judged: JudgedCall, id: MessageId | null) => Noted
  #noted: Noted[] = []
  #hasForwarded = false

  /** `deny` answers a call that was to be sent on and is not after all. */
  constructor(gate: CallGate, deny: (judged: JudgedCall, id: MessageId | null) => Noted) {
    this.#gate = gate
    this.#deny = deny
  }

  get hasForwarded(): boolean {
    return this.#hasForwarded
  }

  note(noted: Noted): void {
    this.#noted.push(noted)
    if (noted.what === 'forwarded') this.#hasForwarded = true
  }

  /** One write for all calls that are to be sent on: what the kernel has, no kill takes back. Null when it is done, else when it will be. */
  record(events: EventWriter): Promise<void> | null {
    const noted = this.#counted()
    const hasForwarded = noted.some(({ what }) => what === 'forwarded')
    this.#noted = []
    this.#hasForwarded = false
    if (!hasForwarded) {
      for (const one of noted) this.write(one)
      events.endOfTurn()
      return null
    }
    const { isRecordRequired } = this.#gate
    const from = events.mark()
    for (const one of noted) this.write(one)
    const to = events.mark()
    const settle = (outcome: 'written' | 'failing'): void => {
      if (outcome === 'failing' && isRecordRequired) this.#decideAnew(noted, events.takeBack(from, to))
      for (const { what, judged } of noted) if (what === 'forwarded' && judged.isForwarded) this.#gate.sent(judged)
    }
    const outcome = events.commit()
    if (outcome === 'waiting') return events.committed().then(settle)
    settle(outcome)
    return null
  }

  /** Calls that arrived together are counted together, before anything is written down or sent on. */
  #counted(): readonly Noted[] {
    const why = this.#gate.endTurn()
    if (why === null) return this.#noted
    return this.#noted.map((noted) => {
      if (noted.what !== 'forwarded') return noted
      const { judged, id } = noted
      this.#gate.decideUncounted(judged, why)
      return judged.isForwarded ? noted : this.#deny(judged, id)
    })
  }

  /**
   * The decisions of the turn could not be written down, and none of its calls has been sent on. `isTakenBack` says that
   * the record will not hear of the first decisions any more.
   */
  #decideAnew(written: readonly Noted[], isTakenBack: boolean): void {
    const anew = written.flatMap((noted): Noted[] => {
      if (noted.what === 'cancelled' && !noted.judged.isForwarded) return []
      if (noted.what !== 'forwarded') return isTakenBack ? [noted] : []
      const { judged, id } = noted
      this.#gate.decideAnew(judged)
      if (judged.isForwarded) return isTakenBack ? [noted] : []
      return [this.#deny(judged, id)]
    })
    for (const noted of anew) this.write(noted, isTakenBack)
  }

  write(noted: Noted, isFirst = true): void {
    const gate = this.#gate
    const { judged } = noted
    if (isFirst && noted.what !== 'cancelled') gate.words.announce(judged)
    if (noted.what === 'refused') {
      const { summary, action } = judged.decision
      // As the answer says it: a block stays one, the others name what would help.
      const retryable = action === 'THROTTLE' || action === 'REJECT_WITH_HINT'
      const error = { class: 'policy_block', message: summary, code: noted.code, retryable } as const
      gate.finish(judged, { status: 'ERROR', bytesOut: noted.bytesOut, error, result: PREVIEW_NONE })
    } else if (noted.what === 'cancelled')
      gate.finish(judged, { status: 'CANCELLED', bytesOut: 0, result: PREVIEW_NONE })
    else if (noted.id === null) gate.finish(judged, { status: 'OK', bytesOut: 0, result: PREVIEW_NONE })
  }
}
