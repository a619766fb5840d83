// A collector of traces: takes OTLP over HTTP, reads it by OpenTelemetry's own definition of the format, and can be told to behave badly.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import root from 'otlp-proto/build/src/generated/root.js'
import { onTestFinished } from 'vitest'
import type { Json } from './shim-client.ts'

const REQUEST = (root as Json)['opentelemetry'].proto.collector.trace.v1.ExportTraceServiceRequest as {
  decode(bytes: Uint8Array): object
  fromObject(object: object): object
  toObject(message: object, options: object): Json
}

export interface ReadSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  readonly name: string
  readonly kind: number
  readonly status: number
  readonly startNs: string
  readonly endNs: string
  readonly attributes: Json
  readonly events: readonly { readonly name: string; readonly attributes: Json }[]
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly resource: Json
}

export const spansOfProtobuf = (bytes: Uint8Array): ReadSpan[] => spansIn(REQUEST.decode(bytes))

/** OTLP's JSON has ids in hexadecimal where the mapping of protobuf has base64. */
export function spansOfJson(text: string): ReadSpan[] {
  const request = JSON.parse(text, (key, value: unknown) =>
    /^(trace|span|parentSpan)Id$/.test(key) && typeof value === 'string'
      ? Buffer.from(value, 'hex').toString('base64')
      : value,
  ) as Json
  const message = REQUEST.fromObject(request)
  // A member that the definition does not know would be left out without a word.
  const known = REQUEST.toObject(message, { longs: String, bytes: String, arrays: true })
  expectMembers(request, known, '')
  return spansIn(message)
}

function expectMembers(given: unknown, known: unknown, path: string): void {
  if (typeof given !== 'object' || given === null) return
  for (const [key, value] of Object.entries(given)) {
    const same = (known as Json | undefined)?.[key] as unknown
    if (same === undefined && value !== undefined) throw new Error(`OTLP does not know ${path}.${key}`)
    expectMembers(value, same, `${path}.${key}`)
  }
}

function spansIn(message: object): ReadSpan[] {
  const { resourceSpans = [] } = REQUEST.toObject(message, { longs: String, bytes: Buffer, defaults: true })
  return (resourceSpans as Json[]).flatMap(({ resource, scopeSpans }) =>
    (scopeSpans as Json[]).flatMap(({ spans }) => (spans as Json[]).map((span) => readSpan(span, resource as Json))),
  )
}

const hex = (bytes: unknown): string => (Buffer.isBuffer(bytes) ? bytes.toString('hex') : '')

function readSpan(span: Json, resource: Json): ReadSpan {
  return {
    traceId: hex(span['traceId']),
    spanId: hex(span['spanId']),
    parentId: hex(span['parentSpanId']),
    name: span['name'] as string,
    kind: span['kind'] as number,
    status: (span['status'] as Json)['code'] as number,
    startNs: span['startTimeUnixNano'] as string,
    endNs: span['endTimeUnixNano'] as string,
    attributes: attributesOf(span['attributes'] as Json[]),
    events: (span['events'] as Json[]).map(({ name, attributes }) => ({
      name: name as string,
      attributes: attributesOf(attributes as Json[]),
    })),
    links: (span['links'] as Json[]).map(({ traceId, spanId }) => ({ traceId: hex(traceId), spanId: hex(spanId) })),
    resource: attributesOf(resource['attributes'] as Json[]),
  }
}

function attributesOf(list: readonly Json[]): Json {
  return Object.fromEntries(
    list.map(({ key, value }) => {
      const [kind = '', raw] = Object.entries(value as Json)[0] ?? []
      const number = kind === 'intValue' ? Number(raw) : (raw as unknown)
      return [key, kind === 'arrayValue' ? (raw as Json)['values'].map((one: Json) => Object.values(one)[0]) : number]
    }),
  )
}

type Answering = (request: IncomingMessage, response: ServerResponse, attempt: number) => void

export interface TestCollector {
  readonly url: string
  readonly spans: ReadSpan[]
  readonly bodies: Buffer[]
  readonly headers: IncomingMessage['headers'][]
  readonly paths: string[]
  behave(answering: Answering | undefined): void
}

export async function startCollector(): Promise<TestCollector> {
  let answering: Answering | undefined
  let attempts = 0
  const collector: TestCollector = {
    url: '',
    spans: [],
    bodies: [],
    headers: [],
    paths: [],
    behave(next) {
      answering = next
      attempts = 0
    },
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      attempts += 1
      collector.paths.push(request.url ?? '')
      if (answering !== undefined) {
        answering(request, response, attempts)
        if (response.headersSent || response.destroyed || request.destroyed) return
      }
      const body = Buffer.concat(chunks)
      const isJson = request.headers['content-type'] === 'application/json'
      collector.bodies.push(body)
      collector.headers.push(request.headers)
      collector.spans.push(...(isJson ? spansOfJson(body.toString()) : spansOfProtobuf(body)))
      response.setHeader('content-type', request.headers['content-type'] ?? '').end(isJson ? '{}' : '')
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(collector, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}
