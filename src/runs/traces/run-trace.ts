// One run as spans: each segment a trace of its own, with the turns in it, the calls in those, and what was decided on each.
import { CALLS_IN_FLIGHT_MAX, SPAN_EVENTS_MAX, SPAN_TIME_MS_MAX } from '../../limits.ts'
import { numberIn, objectIn, textIn } from '../index/call-facts.ts'
import type { EventObject } from '../index/entry-lines.ts'
import {
  attributesOf,
  OF_CALL,
  OF_CALL_END,
  OF_COUNTER,
  OF_DECISION,
  OF_EVENT,
  OF_RUN,
  OF_RUN_END,
  OF_WAIT,
  PREVIEWS,
  RESOURCE,
} from './attributes.ts'
import { callNameOf, errorTypeOf, methodOf, networkOf, providerOf } from './conventions.ts'
import { type Attributes, OpenSpan, placeIn, type Span, type SpanPlace, traceIdOf } from './span.ts'

export interface TraceOptions {
  readonly withPreviews: boolean
  /** Which calls are wanted; all unless told otherwise. */
  readonly isWanted?: (callId: string) => boolean
}

interface Segment {
  readonly span: OpenSpan
  readonly start: EventObject
  readonly resource: Attributes
  readonly links: readonly SpanPlace[]
  readonly waits: Map<string, OpenSpan>
  /** Work between two waits for a person; none while one is waited for. */
  turn: OpenSpan | null
  turns: number
  lastMs: number
}

interface OpenCall {
  readonly span: OpenSpan
  readonly segment: Segment
  readonly parentId: string
  readonly start: EventObject
  decision: EventObject | null
}

/** Signs of life, and what is only on stderr. */
const LEFT_OUT = new Set(['shim_health', 'shim_log'])

export class RunTrace {
  readonly #options: TraceOptions
  #segment: Segment | null = null
  #last: SpanPlace | null = null
  readonly #calls = new Map<string, OpenCall>()
  /** Calls whose end was not seen while so many others began. */
  forgottenCalls = 0

  constructor(options: TraceOptions) {
    this.#options = options
  }

  /** A segment has begun and not ended. */
  get isOpen(): boolean {
    return this.#segment !== null
  }

  /** The spans that end with this event. */
  take(event: EventObject): readonly Span[] {
    const type = String(event['type'])
    const atMs = timeOf(event) ?? this.#segment?.lastMs ?? 0
    if (LEFT_OUT.has(type)) return []
    if (type === 'run_start') {
      const before = this.finish()
      this.#begin(event, atMs)
      return before
    }
    // A call that outlives its run's end belongs to the segment that it began in.
    if (type === 'tool_call_end') return this.#endCall(event, atMs)
    const segment = this.#segment ?? this.#begin(event, atMs)
    segment.lastMs = Math.max(segment.lastMs, atMs)
    switch (type) {
      case 'run_end':
        return this.#end(segment, event, atMs)
      case 'tool_call_start':
        this.#beginCall(segment, event, atMs)
        return []
      case 'wait_start':
        return this.#beginWait(segment, event, atMs)
      case 'wait_end':
        return this.#endWait(segment, event, atMs)
      default:
        this.#note(segment, event, type, atMs)
        return []
    }
  }

  /** Of a record that ends without the run's own end, where nothing more will come. */
  finish(): readonly Span[] {
    const segment = this.#segment
    return segment === null ? [] : this.#end(segment, null, segment.lastMs)
  }

  #begin(start: EventObject, atMs: number): Segment {
    const run = objectIn(start, 'run')
    const source = objectIn(start, 'source')
    const traceId = traceIdOf(
      textIn(source, 'host_id') ?? '',
      textIn(start, 'run_id') ?? '',
      numberIn(run, 'segment') ?? 1,
      atMs,
    )
    const place = placeIn(traceId, 'run')
    const segment: Segment = {
      span: new OpenSpan(place, atMs, SPAN_EVENTS_MAX),
      start,
      resource: attributesOf(start, RESOURCE),
      links: this.#last === null ? [] : [this.#last],
      waits: new Map(),
      turn: null,
      turns: 0,
      lastMs: atMs,
    }
    this.#segment = segment
    this.#last = place
    this.#beginTurn(segment, atMs)
    return segment
  }

  #end(segment: Segment, event: EventObject | null, atMs: number): readonly Span[] {
    this.#segment = null
    const status = textIn(objectIn(event ?? undefined, 'run'), 'status')
    const waits = [...segment.waits.values()].map((span) => this.#waitSpan(segment, span, null, atMs))
    const agent = textIn(segment.start, 'agent_id')
    return [
      ...waits,
      ...this.#endTurn(segment, atMs),
      segment.span.end(atMs, {
        parentId: null,
        name: agent === null ? 'invoke_agent' : `invoke_agent ${agent}`,
        kind: 'internal',
        error: status === 'FAILED' || status === 'TERMINATED' ? {} : null,
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          ...providerOf(segment.start),
          ...attributesOf(segment.start, OF_RUN),
          ...(event === null ? {} : attributesOf(event, OF_RUN_END)),
          ...(status === 'FAILED' || status === 'TERMINATED' ? { 'error.type': status } : {}),
        },
        links: segment.links,
        resource: segment.resource,
      }),
    ]
  }

  #beginTurn(segment: Segment, atMs: number): void {
    segment.turns += 1
    const place = placeIn(segment.span.place.traceId, 'turn', segment.turns)
    segment.turn = new OpenSpan(place, atMs, SPAN_EVENTS_MAX)
  }

  #endTurn(segment: Segment, atMs: number): readonly Span[] {
    const { turn } = segment
    if (turn === null) return []
    segment.turn = null
    return [
      turn.end(atMs, {
        ...childOf(segment),
        name: 'turn',
        attributes: { ...attributesOf(segment.start, CONVERSATION), 'heimdall.turn.number': segment.turns },
      }),
    ]
  }

  #beginWait(segment: Segment, event: EventObject, atMs: number): readonly Span[] {
    const id = waitIdOf(event)
    if (segment.waits.has(id) || segment.waits.size >= WAITS_MAX) return []
    segment.waits.set(id, new OpenSpan(placeIn(segment.span.place.traceId, 'wait', id, atMs), atMs, SPAN_EVENTS_MAX))
    return this.#endTurn(segment, atMs)
  }

  #endWait(segment: Segment, event: EventObject, atMs: number): readonly Span[] {
    const id = waitIdOf(event)
    const span = segment.waits.get(id)
    if (span === undefined) return []
    segment.waits.delete(id)
    if (segment.waits.size === 0) this.#beginTurn(segment, atMs)
    return [this.#waitSpan(segment, span, event, atMs)]
  }

  #waitSpan(segment: Segment, span: OpenSpan, event: EventObject | null, atMs: number): Span {
    return span.end(atMs, {
      ...childOf(segment),
      name: 'wait for a person',
      attributes: {
        ...attributesOf(segment.start, CONVERSATION),
        ...(event === null ? {} : attributesOf(event, OF_WAIT, this.#previews('wait'))),
      },
    })
  }

  #beginCall(segment: Segment, start: EventObject, atMs: number): void {
    const call = objectIn(start, 'call')
    const callId = textIn(call, 'call_id')
    if (callId === null || this.#options.isWanted?.(callId) === false) return
    const place = placeIn(segment.span.place.traceId, 'call', callId, numberIn(call, 'seq') ?? 0)
    const span = new OpenSpan(place, atMs, SPAN_EVENTS_MAX)
    const parentId = (segment.turn ?? segment.span).place.spanId
    const [oldest] = this.#calls.keys()
    if (this.#calls.size >= CALLS_IN_FLIGHT_MAX && oldest !== undefined && !this.#calls.has(callId)) {
      this.#calls.delete(oldest)
      this.forgottenCalls += 1
    }
    this.#calls.set(callId, { span, segment, parentId, start, decision: null })
  }

  #endCall(end: EventObject, atMs: number): readonly Span[] {
    const callId = textIn(objectIn(end, 'call'), 'call_id')
    const call = callId === null ? undefined : this.#calls.get(callId)
    if (callId === null || call === undefined) return []
    this.#calls.delete(callId)
    const { span, segment, start, decision } = call
    segment.lastMs = Math.max(segment.lastMs, atMs)
    const status = textIn(end, 'status')
    const isFailed = status === 'ERROR' || status === 'TIMEOUT'
    const error = objectIn(end, 'error')
    const message = this.#options.withPreviews ? textIn(error, 'message') : null
    const latency = end['latency_ms']
    const method = methodOf(start)
    return [
      ...(decision === null ? [] : [this.#decisionSpan(call, decision)]),
      // Measured by a clock that nobody sets.
      span.end(typeof latency === 'number' && latency >= 0 ? span.startMs + latency : atMs, {
        parentId: call.parentId,
        name: callNameOf(start, method),
        kind: 'client',
        error: isFailed ? (message === null ? {} : { message }) : null,
        attributes: {
          'mcp.method.name': method,
          ...(method === 'tools/call'
            ? {
                'gen_ai.operation.name': 'execute_tool',
                'gen_ai.tool.name': textIn(objectIn(start, 'call'), 'tool_name') ?? '',
              }
            : {}),
          ...networkOf(start),
          ...attributesOf(start, OF_CALL, this.#previews('call')),
          ...attributesOf(end, OF_CALL_END, this.#previews('end')),
          ...(isFailed ? errorTypeOf(status, error) : {}),
        },
        links: [],
        resource: segment.resource,
      }),
    ]
  }

  #decisionSpan({ span, segment }: OpenCall, event: EventObject): Span {
    const atMs = timeOf(event) ?? span.startMs
    const place = placeIn(span.place.traceId, 'decision', span.place.spanId)
    const decided = new OpenSpan(place, span.startMs, SPAN_EVENTS_MAX)
    const counters = objectIn(event, 'decision')?.['counters']
    for (const counter of Array.isArray(counters) ? (counters as unknown[]) : [])
      decided.add({ name: 'counter', atMs, attributes: attributesOf(counter as EventObject, OF_COUNTER) })
    return decided.end(atMs, {
      parentId: span.place.spanId,
      name: 'decide',
      kind: 'internal',
      error: null,
      attributes: attributesOf(event, CONVERSATION, OF_DECISION, this.#previews('decision')),
      links: [],
      resource: segment.resource,
    })
  }

  #note(segment: Segment, event: EventObject, type: string, atMs: number): void {
    const callId = textIn(objectIn(event, 'call'), 'call_id')
    const call = callId === null ? undefined : this.#calls.get(callId)
    if (type === 'tool_call_decision') {
      if (call !== undefined) call.decision = event
      return
    }
    // A call that is not wanted takes along what was said of it.
    if (callId !== null && call === undefined) return
    const note = { name: type, atMs, attributes: attributesOf(event, OF_EVENT.get(type) ?? {}) }
    ;(call?.span ?? segment.span).add(note)
  }

  #previews(of: keyof typeof PREVIEWS): Readonly<Record<string, string>> {
    return this.#options.withPreviews ? PREVIEWS[of] : {}
  }
}

/** Waits that are open at the same time: several watchers may say so of one agent. */
const WAITS_MAX = 64
const CONVERSATION = { run_id: 'gen_ai.conversation.id', agent_id: 'gen_ai.agent.name' } as const

function childOf({ span, resource }: Segment): Pick<Span, 'parentId' | 'kind' | 'error' | 'links' | 'resource'> {
  return { parentId: span.place.spanId, kind: 'internal', error: null, links: [], resource }
}

const waitIdOf = (event: EventObject): string => textIn(objectIn(event, 'wait'), 'wait_id') ?? ''

function timeOf(event: EventObject): number | undefined {
  const ms = Date.parse(textIn(event, 'ts') ?? '')
  return Number.isNaN(ms) || ms < 0 || ms > SPAN_TIME_MS_MAX ? undefined : ms
}
