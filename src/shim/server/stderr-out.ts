// The one writer to stderr: events and messages of ours, and what upstream says there. Where events are written, all else is one too.
import type { Writable } from 'node:stream'
import {
  EVENT_STREAM_BYTES_MAX,
  LOG_TEXT_BYTES_MAX,
  STDERR_LINE_BYTES_MAX,
  STDERR_RELAY_BYTES_MAX,
} from '../../limits.ts'
import type { EventText } from '../../events/event-text.ts'
import type { KnownSecrets } from '../../known-secrets/known-secrets.ts'
import { StreamRedactor } from '../../known-secrets/stream-redactor.ts'
import { cutAtBytes } from '../../events/preview.ts'
import { createRedact, REDACTED } from '../../events/redact.ts'

const NEWLINE = 0x0a

type Speaker = 'shim' | 'server'

/**
 * Seed 004 §1.1: a stream of events is nothing but lines of events. So what upstream writes there, and what we have to say,
 * is wrapped in an event of its own, and can be taken for no other; without events it goes out as it is.
 */
export class StderrOut {
  readonly #stream: Writable
  readonly #hasEvents: boolean
  #partial: Buffer[] = []
  #partialBytes = 0
  #dropped = 0
  /** How to wrap a line; not known before the run is. */
  #wrap: EventText | null = null
  /** What was said before the run's first event; null once that is out. */
  #early: [Speaker, string][] | null = []
  #earlyBytes = 0
  #redact = createRedact()
  /** Takes the server's secrets out of what it says, wherever its pieces are cut. */
  #relayed: StreamRedactor | null = null

  constructor(stream: Writable, options: { readonly hasEvents: boolean }) {
    this.#stream = stream
    this.#hasEvents = options.hasEvents
    // A reader that went away is no reason to stop: what it would have read is lost, as in any pipeline.
    stream.on('error', () => {})
  }

  /** From now on nothing that is said holds one of these. */
  redactWith(known: KnownSecrets | null): void {
    this.#redact = createRedact(known)
    this.#relayed = known === null ? null : new StreamRedactor(known, REDACTED)
  }

  /** From now on it is known what an event of this shim looks like. `text` puts its lines into memory of its own. */
  wrapIn(text: EventText): void {
    this.#wrap = text
  }

  /** Lines of events. False when the reader is too far behind to take them now; of no lines at all, while it has not taken those before. */
  events(lines: Buffer): boolean {
    if (this.#stream.destroyed) return true
    if (lines.length === 0) return this.#stream.writableLength === 0
    if (this.#stream.writableLength > EVENT_STREAM_BYTES_MAX) return false
    this.#stream.write(lines)
    this.sayEarly()
    return true
  }

  /** What was said before the first event is said now, also when that event will not come. */
  sayEarly(): void {
    if (this.#wrap === null || this.#early === null) return
    const early = this.#early
    this.#early = null
    for (const [from, line] of early) this.#say(from, line)
  }

  note(line: string): void {
    if (this.#stream.writableLength <= EVENT_STREAM_BYTES_MAX) this.#say('shim', line)
  }

  #say(from: Speaker, line: string): void {
    if (!this.#hasEvents) {
      this.#stream.write(`heimdall shim: ${this.#redact(line)}\n`)
      return
    }
    if (this.#wrap === null || this.#early !== null) {
      this.#earlyBytes += line.length
      if (this.#earlyBytes <= STDERR_RELAY_BYTES_MAX) this.#early?.push([from, line])
      else this.#dropped += line.length
      return
    }
    const text = this.#wrap
    text.lines.clear()
    text.shimLog(from, cutAtBytes(this.#redact(line), LOG_TEXT_BYTES_MAX))
    this.#stream.write(text.lines.encode())
  }

  /** Upstream's stderr is always drained; past the bound it is dropped here, and upstream never stops for it. */
  relay(said: Buffer): void {
    const chunk = this.#relayed?.push(said) ?? said
    if (chunk.length > 0) this.#relayClean(chunk)
  }

  #relayClean(chunk: Buffer): void {
    if (this.#stream.writableLength > STDERR_RELAY_BYTES_MAX) {
      this.#dropped += chunk.length
      return
    }
    if (this.#dropped > 0) {
      const dropped = this.#dropped
      this.#dropped = 0
      this.#say('shim', `${dropped} bytes of stderr were dropped, nobody read them`)
    }
    if (this.#hasEvents) this.#relayLines(chunk)
    else this.#stream.write(chunk)
  }

  #relayLines(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#partial.push(chunk.subarray(from, end))
      this.#sayPartial()
      from = end + 1
    }
    if (from === chunk.length) return
    this.#partial.push(chunk.subarray(from))
    this.#partialBytes += chunk.length - from
    if (this.#partialBytes > STDERR_LINE_BYTES_MAX) this.#sayPartial()
  }

  #sayPartial(): void {
    const line = Buffer.concat(this.#partial).toString()
    this.#partial = []
    this.#partialBytes = 0
    this.#say('server', line.endsWith('\r') ? line.slice(0, -1) : line)
  }

  /** Resolves when the reader has taken everything, or is gone. */
  async drained(): Promise<void> {
    if (this.#stream.destroyed || this.#stream.writableLength === 0) return
    await new Promise<void>((resolve) => {
      this.#stream.once('close', resolve)
      this.#stream.write('', () => resolve())
    })
  }

  relayEnded(): void {
    const last = this.#relayed?.end() ?? Buffer.alloc(0)
    if (last.length > 0) this.#relayClean(last)
    if (this.#partialBytes > 0) this.#sayPartial()
  }
}
