// An OTLP collector over HTTP: sends batches, retries what may succeed later, and fails on the rest.
import { type Clock, pause } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import { OTLP_ANSWER_BYTES_MAX, OTLP_RETRIES, OTLP_RETRY_MAX_MS, OTLP_RETRY_MS } from '../../limits.ts'
import type { Span } from '../traces/span.ts'
import type { CollectorAddress } from './destination.ts'
import { rejectedIn, requestOf } from './request.ts'

export interface Collecting {
  readonly clock: Clock
  readonly note: (line: string) => void
  /** Retry an unreachable collector without end. */
  readonly isPatient: boolean
  /** Aborts the request in flight. */
  readonly signal: AbortSignal
}

type Outcome =
  | { readonly kind: 'taken'; readonly answer: Uint8Array }
  | { readonly kind: 'later'; readonly why: string; readonly afterMs?: number | undefined }
  | { readonly kind: 'refused'; readonly why: string }

export class Collector {
  readonly #address: CollectorAddress
  readonly #options: Collecting
  readonly #version: string
  /** Spans that the collector rejected. */
  rejected = 0

  constructor(address: CollectorAddress, options: Collecting, version: string) {
    this.#address = address
    this.#options = options
    this.#version = version
  }

  /** False when aborted before the collector accepted them. */
  async send(spans: readonly Span[]): Promise<boolean> {
    const { clock, note, isPatient, signal } = this.#options
    const body = requestOf(spans, this.#address.encoding, this.#version)
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#post(body)
      if (outcome.kind === 'taken') {
        if (attempt > OTLP_RETRIES) note('the collector is reachable again')
        this.#lookInto(outcome.answer)
        return true
      }
      if (signal.aborted) return false
      if (outcome.kind === 'refused') throw this.#failure('COLLECTOR_REFUSED', outcome.why)
      if (attempt >= OTLP_RETRIES && !isPatient) throw this.#failure('COLLECTOR_AWAY', outcome.why)
      if (attempt === OTLP_RETRIES)
        note(`the collector does not accept spans: ${outcome.why}; retrying, the records keep them`)
      const wanted = outcome.afterMs ?? OTLP_RETRY_MS * 2 ** Math.min(attempt, 16)
      await pause(clock, Math.min(wanted, OTLP_RETRY_MAX_MS), signal)
    }
  }

  #failure(code: 'COLLECTOR_REFUSED' | 'COLLECTOR_AWAY', why: string): HeimdallError {
    return new HeimdallError(code, `${printable(this.#address.url)}: ${why}`, {
      hint: 'nothing is lost: the records are complete, and the same spans can be sent again',
    })
  }

  #lookInto(answer: Uint8Array): void {
    const { spans, why } = rejectedIn(answer, this.#address.encoding)
    this.rejected += spans
    if (spans > 0 || why !== '')
      this.#options.note(`warning: the collector rejected ${spans} spans: ${escapeControls(why.slice(0, WHY_CHARS))}`)
  }

  async #post(body: Uint8Array): Promise<Outcome> {
    const { clock, signal } = this.#options
    const { url, headers, encoding, timeoutMs } = this.#address
    const late = new AbortController()
    const timer = clock.after(timeoutMs, () => late.abort(), { background: true })
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': `application/${encoding === 'json' ? 'json' : 'x-protobuf'}` },
        body,
        // Records go to the configured address only.
        redirect: 'manual',
        signal: AbortSignal.any([late.signal, signal]),
      })
      const answer = await beginningOf(response)
      if (response.ok) return { kind: 'taken', answer }
      const why = `it answered ${response.status}${saying(response, answer)}`
      if (!LATER.has(response.status)) return { kind: 'refused', why }
      return { kind: 'later', why, afterMs: retryAfterMs(response, clock) }
    } catch (error) {
      if (late.signal.aborted) return { kind: 'later', why: `no answer within ${timeoutMs} ms` }
      if (signal.aborted) return { kind: 'later', why: 'interrupted' }
      if (!(error instanceof Error)) throw error
      return failed(error)
    } finally {
      timer.cancel()
    }
  }
}

/** What the OTLP specification says to try again. */
const LATER = new Set([429, 502, 503, 504])
const WHY_CHARS = 200

/** A broken certificate or an address that is none stays so; a connection that was not made or broke may come about. */
function failed(error: Error): Outcome {
  const cause = error.cause instanceof Error ? error.cause : error
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  const why = cause.message === '' ? code : cause.message
  const isNetwork = /^(E(CONN|TIMEDOUT|PIPE|AI_|NOTFOUND|NET|HOST)|UND_ERR_)/.test(code)
  return { kind: isNetwork ? 'later' : 'refused', why: escapeControls(why) }
}

async function beginningOf(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    length += chunk.length
    // Leaving the loop lets go of the rest.
    if (length >= OTLP_ANSWER_BYTES_MAX) break
  }
  return Buffer.concat(chunks).subarray(0, OTLP_ANSWER_BYTES_MAX)
}

/** Its words where they are text; of protobuf only what can be read. */
function saying(response: Response, answer: Uint8Array): string {
  const isText = /json|text/.test(response.headers.get('content-type') ?? '')
  const text = isText ? Buffer.from(answer).toString().trim().slice(0, WHY_CHARS) : ''
  const words = text === '' ? response.statusText : text
  return words === '' ? '' : `: ${escapeControls(words)}`
}

function retryAfterMs(response: Response, clock: Clock): number | undefined {
  const text = response.headers.get('retry-after')
  if (text === null) return undefined
  const seconds = Number(text)
  const ms = Number.isNaN(seconds) ? Date.parse(text) - clock.wallMs() : seconds * 1_000
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
