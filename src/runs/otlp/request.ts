// Spans as OTLP, by OpenTelemetry's own transformer.
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import type { Span } from '../traces/span.ts'
import type { CollectorAddress } from './destination.ts'

const SERIALIZERS = { json: JsonTraceSerializer, protobuf: ProtobufTraceSerializer } as const

/** `version` is that of this program. */
export function requestOf(spans: readonly Span[], encoding: CollectorAddress['encoding'], version: string): Uint8Array {
  const resources = new Map<Span['resource'], ReadableSpan['resource']>()
  const resourceOf = (attributes: Span['resource']): ReadableSpan['resource'] => {
    const known = resources.get(attributes)
    if (known !== undefined) return known
    const named = { 'service.name': 'heimdall', 'service.version': version, ...attributes }
    // The transformer reads only the attributes, and groups spans by the identity of this object.
    const resource = { attributes: named } as unknown as ReadableSpan['resource']
    resources.set(attributes, resource)
    return resource
  }
  return (
    SERIALIZERS[encoding].serializeRequest(spans.map((span) => readable(span, resourceOf(span.resource), version))) ??
    new Uint8Array()
  )
}

/** How many spans the collector rejected, and why, by its response. */
export function rejectedIn(
  answer: Uint8Array,
  encoding: CollectorAddress['encoding'],
): { readonly spans: number; readonly why: string } {
  const { rejectedSpans, errorMessage } = answered(answer, encoding)
  // In JSON a 64-bit number may be a string.
  const spans = Number(rejectedSpans ?? 0)
  return { spans: Number.isSafeInteger(spans) ? spans : 0, why: typeof errorMessage === 'string' ? errorMessage : '' }
}

interface PartialSuccess {
  readonly rejectedSpans?: unknown
  readonly errorMessage?: unknown
}

/** A response that cannot be decoded is ignored: the status says that the spans were accepted. */
function answered(answer: Uint8Array, encoding: CollectorAddress['encoding']): PartialSuccess {
  try {
    const said = SERIALIZERS[encoding].deserializeResponse(answer) as { partialSuccess?: PartialSuccess } | null
    return { ...said?.partialSuccess }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return {}
  }
}

function readable(span: Span, resource: ReadableSpan['resource'], version: string): ReadableSpan {
  const context = (spanId: string, traceId = span.traceId): ReturnType<ReadableSpan['spanContext']> => ({
    traceId,
    spanId,
    traceFlags: TraceFlags.SAMPLED,
  })
  return {
    name: span.name,
    kind: span.kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
    spanContext: () => context(span.spanId),
    ...(span.parentId === null ? {} : { parentSpanContext: context(span.parentId) }),
    startTime: time(span.startMs),
    endTime: time(span.endMs),
    duration: time(span.endMs - span.startMs),
    ended: true,
    status: span.error === null ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, ...span.error },
    attributes: { ...span.attributes } as ReadableSpan['attributes'],
    links: span.links.map(({ spanId, traceId }) => ({ context: context(spanId, traceId) })),
    events: span.events.map(({ name, atMs, attributes }) => ({
      name,
      time: time(atMs),
      attributes: { ...attributes } as ReadableSpan['attributes'],
    })),
    resource,
    instrumentationScope: { name: 'heimdall', version },
    droppedAttributesCount: 0,
    droppedEventsCount: span.droppedEvents,
    droppedLinksCount: 0,
  }
}

const time = (ms: number): [number, number] => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]
