// The destination of spans: `--otlp URL|FILE`, with the standard OpenTelemetry variables.
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { OTLP_TIMEOUT_MS } from '../../limits.ts'
import type { Env } from '../../paths.ts'

export interface CollectorAddress {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly encoding: 'protobuf' | 'json'
  readonly timeoutMs: number
}

export type Destination =
  | { readonly kind: 'http'; readonly address: CollectorAddress }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stdout' }

/** `path` checks and resolves the name of a file. */
export function destinationOf(text: string, env: Env, path: (name: string) => string): Destination {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { kind: 'http', address: addressOf(text, env) }
  if (text === '-') return { kind: 'stdout' }
  if (text === '')
    throw new HeimdallError('USAGE', '--otlp takes the address of a collector or a file, got an empty string')
  return { kind: 'file', path: path(text) }
}

function addressOf(text: string, env: Env): CollectorAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new HeimdallError(
      'USAGE',
      `--otlp takes an http or https address or a file, got ${printable(withoutSecrets(text))}`,
      {
        hint: 'OTLP over gRPC is not supported; collectors listen for HTTP on port 4318',
      },
    )
  if (url.username !== '' || url.password !== '')
    throw new HeimdallError('USAGE', '--otlp takes no password in the address: every process can read command lines', {
      hint: 'send it as a header: OTEL_EXPORTER_OTLP_HEADERS="authorization=Basic%20…"',
    })
  // As in OpenTelemetry: the base address of a collector implies /v1/traces.
  if (url.pathname === '/' && url.search === '') url.pathname = '/v1/traces'
  url.hash = ''
  const of = (name: string): string | undefined =>
    env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || undefined
  return {
    url: url.href,
    headers: headersOf(of('HEADERS') ?? ''),
    encoding: encodingOf(of('PROTOCOL')),
    timeoutMs: timeoutOf(of('TIMEOUT')),
  }
}

const withoutSecrets = (text: string): string => text.replace(/\/\/[^/@]*@/, '//')

/** `name=value,name=value`, values percent-encoded where they have to be. */
function headersOf(text: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const pair of text.split(',').filter((one) => one.trim() !== '')) {
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=(.*)$/.exec(pair) ?? []
    const decoded = value === undefined ? undefined : decode(value.trim())
    // The value may be a secret and is not printed.
    if (name === undefined || decoded === undefined || /[^\t\x20-\x7e\x80-\xff]/.test(decoded))
      throw new HeimdallError('USAGE', 'OTEL_EXPORTER_OTLP_HEADERS is not a list of name=value', {
        hint: 'separate headers by commas, and percent-encode special characters in their values',
      })
    headers[name.toLowerCase()] = decoded
  }
  return headers
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function encodingOf(protocol: string | undefined): CollectorAddress['encoding'] {
  if (protocol === undefined || protocol === 'http/protobuf') return 'protobuf'
  if (protocol === 'http/json') return 'json'
  throw new HeimdallError(
    'USAGE',
    `OTEL_EXPORTER_OTLP_PROTOCOL is ${printable(protocol)}; supported are http/protobuf and http/json`,
  )
}

function timeoutOf(text: string | undefined): number {
  if (text === undefined) return OTLP_TIMEOUT_MS
  const ms = Number(text)
  if (Number.isInteger(ms) && ms > 0) return ms
  throw new HeimdallError('USAGE', `OTEL_EXPORTER_OTLP_TIMEOUT takes milliseconds, got ${printable(text)}`)
}
