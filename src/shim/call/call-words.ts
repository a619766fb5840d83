// What is said of calls: to the record, from the beginning with its decision to the end, and to the agent, who is told the same.
import type { Clock } from '../../clock.ts'
import {
  type CallNames,
  decisionBody,
  type DecisionEvent,
  decisionEvent,
  type EventText,
} from '../../events/event-text.ts'
import type { QueuedEvent } from '../../events/event-lines.ts'
import { isAbsent, PREVIEW_OMITTED, type Preview } from '../../events/preview.ts'
import type { Redact } from '../../events/redact.ts'
import type { RecordedCount } from '../../policy/decide/counted.ts'
import type { Policy } from '../../policy/decide/plan.ts'
import type { Decision } from '../../policy/types.ts'
import type { EventWriter } from '../../runs/event-writer.ts'
import { recordedMoment } from '../../runs/run-moment.ts'
import type { BootMoment } from '../../runs/run-totals.ts'
import type { CallArguments } from './call-arguments.ts'
import type { CallOutcome, JudgedCall, ToolCall } from './judged-call.ts'
import { recordedDecision, shortText, shownDecision } from './shown-decision.ts'

export interface CallWordsOptions {
  readonly serverName: string
  readonly policy: Policy
  readonly events: EventWriter
  readonly text: EventText
  /** For what we say ourselves. */
  readonly redact: Redact
  /** For what passes: secrets that are none to those who read previews stay in it. */
  readonly previews: Redact
  readonly clock: Clock
}

interface Said {
  readonly decision: Decision
  /** As the agent is told. */
  readonly shown: Decision
  /** As the record says. */
  readonly recorded: Decision
  readonly event: DecisionEvent
}

export class CallWords {
  readonly #options: CallWordsOptions
  #breakers: ReadonlySet<string>
  #lastSaid: Said | null = null
  #lastTool: { readonly name: string; readonly shown: string } | null = null

  constructor(options: CallWordsOptions) {
    this.#options = options
    this.#breakers = breakersOf(options.policy)
  }

  usePolicy(policy: Policy): void {
    this.#lastSaid = null
    this.#breakers = breakersOf(policy)
  }

  /** Puts the start of a call and its decision on their way to the record, and counts the decision, which it returns. */
  announce(judged: JudgedCall, now: BootMoment): QueuedEvent {
    const { text, events, previews } = this.#options
    const { call, decision, args, names, counts, approvalId } = judged
    const { recorded, event } = this.#said(judged)
    const counted = { counters: counts, ...recordedMoment(now) }
    const room = events.room('call', 2)
    if (room === 'none') {
      // It counts whether or not there is memory for its lines.
      const fields = decisionBody(names, event, counted, approvalId)
      const unwritten: QueuedEvent = { type: 'tool_call_decision', ts: '', envelope: '', fields }
      events.fold.count(unwritten)
      return unwritten
    }
    const { argsBytes: buffer } = call
    const preview: Preview =
      buffer === null || room === 'bare'
        ? PREVIEW_OMITTED
        : { field: 'args_preview', piece: { buffer, from: 0, to: buffer.length }, redact: previews }
    text.callStart(
      names,
      {
        transport: call.transport,
        bytesIn: call.bytesIn,
        method: call.method === undefined ? undefined : this.shownTool(call.method),
        tags: judged.tags,
        argsStreamHash: call.argsStreamHash ?? args.streamHash,
      },
      preview,
    )
    const put = text.decision(decisionBody(names, event, counted, approvalId))
    events.fold.count(put)
    if (decision.hint !== undefined && decision.enforced) text.hintIssued(judged.callId, recorded.hint)
    for (const ruleId of judged.tripped) if (this.#breakers.has(ruleId)) text.breakerTrip(names, ruleId)
    events.added()
    return put
  }

  /** What is said of a decision; most calls have the one that the call before had. */
  #said({ decision, args, policy }: JudgedCall): Said {
    if (this.#lastSaid?.decision === decision) return this.#lastSaid
    const shown = shownDecision(decision, args, this.#options.redact)
    const recorded = recordedDecision(shown)
    this.#lastSaid = { decision, shown, recorded, event: decisionEvent(recorded, policy) }
    return this.#lastSaid
  }

  /** The decision as the agent may be told: the record says the same. */
  shown(judged: JudgedCall): Decision {
    return this.#said(judged).shown
  }

  /** Words for the agent that are not about a decision. */
  clean(text: string): string {
    return this.#options.redact(text)
  }

  /** A tool may be called anything, a secret too. */
  shownTool(name: string): string {
    if (this.#lastTool?.name !== name) this.#lastTool = { name, shown: this.#options.redact(name) }
    return this.#lastTool.shown
  }

  namesOf(callId: string, { toolName }: ToolCall, { hash }: CallArguments): CallNames {
    return {
      call_id: callId,
      server_name: this.#options.serverName,
      tool_name: this.shownTool(toolName),
      args_hash: hash,
    }
  }

  /** The agent has been sent secrets of the server's; `judged` is the call that was answered so, where it is one. */
  exposed(secrets: readonly object[], judged: JudgedCall | null): void {
    const { text, events } = this.#options
    for (const secret of secrets) {
      if (events.room('other', 1) === 'none') return
      text.secretExposed(secret, judged?.names ?? null)
      events.added()
    }
  }

  /** Puts the end of a call that was announced on its way to the record, and counts it. */
  finish(judged: JudgedCall, outcome: CallOutcome, counts: readonly RecordedCount[], now: BootMoment): void {
    const { text, events, redact, previews, clock } = this.#options
    const { names } = judged
    const counted = counts.length === 0 ? undefined : { counters: counts, ...recordedMoment(now) }
    const room = events.room('end', 1)
    if (room === 'none') {
      if (counted !== undefined)
        events.fold.count({ type: 'tool_call_end', ts: '', envelope: '', fields: { call: names, ...counted } })
      return
    }
    const latencyMs = Math.max(0, Math.ceil(clock.monoMs() - judged.startMs))
    const { result } = outcome
    const preview: Preview = isAbsent(result)
      ? result
      : room === 'bare'
        ? PREVIEW_OMITTED
        : { field: 'result_preview', piece: result, redact: previews }
    const error =
      outcome.error === undefined ? undefined : { ...outcome.error, message: firstLine(redact(outcome.error.message)) }
    const { status, bytesOut, resultStreamHash } = outcome
    const end = text.callEnd(names, { status, latencyMs, bytesOut, error, resultStreamHash }, preview, counted)
    if (counted !== undefined) events.fold.count(end)
    events.added()
  }

  /** Puts what a call counts that has ended in the record already. */
  settled({ names }: JudgedCall, counters: readonly RecordedCount[], now: BootMoment): void {
    const { text, events } = this.#options
    if (events.room('other', 1) === 'none') return
    events.fold.count(text.callSettled(names, { counters, ...recordedMoment(now) }))
    events.added()
  }
}

function breakersOf({ snapshot }: Policy): ReadonlySet<string> {
  return new Set(snapshot.rules.filter(({ kind }) => kind === 'breaker').map(({ rule_id }) => rule_id))
}

/** What went wrong, without the stack trace that some servers append. */
const firstLine = (text: string): string => shortText(text.split('\n', 1)[0] ?? '')
