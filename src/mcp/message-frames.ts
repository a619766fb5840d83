// Bytes to messages: one JSON text per line, or `Content-Length:` headers and that many bytes (seed 000 T-4 reads both).
import { MCP_HEADER_BYTES_MAX, MCP_MESSAGE_BYTES_MAX, MCP_SKIP_BYTES_MAX } from '../limits.ts'
import { Skipped } from './skipped.ts'

export type Framed =
  | { readonly kind: 'message'; readonly bytes: Buffer }
  /** Skipped without being kept: a message above the limit, or headers that announce no usable length. */
  | { readonly kind: 'refused'; readonly reason: string; readonly id: string | number | null }
  /** Nothing that follows can be read. */
  | { readonly kind: 'lost'; readonly reason: string }

type State =
  | { readonly name: 'line' }
  /** Between the first header and the empty line. */
  | { readonly name: 'headers'; length: number | undefined; bytes: number; problem: string | undefined }
  | { readonly name: 'body'; readonly length: number }
  /** The rest of a line that grew past the limit. */
  | { readonly name: 'skip-line'; readonly skipped: Skipped }
  | { readonly name: 'skip-body'; readonly skipped: Skipped; remaining: number }
  | { readonly name: 'lost' }

const NEWLINE = 0x0a

/**
 * Incremental: bytes may arrive split anywhere, also inside a character or a header. Lengths are bytes. Limits are
 * checked before memory is taken, and after a refusal reading goes on with the next message.
 */
export class MessageReader {
  #state: State = { name: 'line' }
  #parts: Buffer[] = []
  #size = 0

  push(chunk: Buffer): Framed[] {
    const found: Framed[] = []
    let at = 0
    while (at < chunk.length) at = this.#step(chunk, at, found)
    return found
  }

  /** What is left when the stream ends: a last line without a newline is a message, half a body is not. */
  end(): Framed[] {
    const found: Framed[] = []
    if (this.#state.name === 'line') this.#finishLine(found)
    else if (this.#state.name === 'skip-line' || this.#state.name === 'skip-body')
      found.push(refusal(this.#state.skipped))
    else if (this.#state.name !== 'lost')
      found.push({ kind: 'refused', reason: 'the stream ended inside a message', id: null })
    this.#state = { name: 'line' }
    return found
  }

  #step(chunk: Buffer, at: number, found: Framed[]): number {
    const state = this.#state
    switch (state.name) {
      case 'line':
      case 'headers': {
        const newline = chunk.indexOf(NEWLINE, at)
        const end = newline < 0 ? chunk.length : newline
        this.#keep(chunk.subarray(at, end))
        if (newline < 0) this.#skipIfTooLong()
        else if (state.name === 'line') this.#finishLine(found)
        else this.#finishHeader(state, found)
        return newline < 0 ? end : end + 1
      }
      case 'body': {
        const end = Math.min(chunk.length, at + state.length - this.#size)
        this.#keep(chunk.subarray(at, end))
        if (this.#size === state.length) {
          found.push({ kind: 'message', bytes: this.#take() })
          this.#state = { name: 'line' }
        }
        return end
      }
      case 'skip-line': {
        const newline = chunk.indexOf(NEWLINE, at)
        state.skipped.push(chunk.subarray(at, newline < 0 ? chunk.length : newline))
        if (newline < 0) return chunk.length
        found.push(refusal(state.skipped))
        this.#state = { name: 'line' }
        return newline + 1
      }
      case 'skip-body': {
        const end = Math.min(chunk.length, at + state.remaining)
        state.skipped.push(chunk.subarray(at, end))
        state.remaining -= end - at
        if (state.remaining === 0) {
          found.push(refusal(state.skipped))
          this.#state = { name: 'line' }
        }
        return end
      }
      case 'lost':
        return chunk.length
    }
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#parts.push(bytes)
    this.#size += bytes.length
  }

  #take(): Buffer {
    const [only] = this.#parts
    const whole = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts, this.#size)
    this.#parts = []
    this.#size = 0
    return whole
  }

  #skipIfTooLong(): void {
    const limit = this.#state.name === 'line' ? MCP_MESSAGE_BYTES_MAX : MCP_HEADER_BYTES_MAX
    if (this.#size <= limit) return
    const skipped = new Skipped(`a line of more than ${limit} bytes`)
    skipped.push(this.#take())
    this.#state = { name: 'skip-line', skipped }
  }

  #finishLine(found: Framed[]): void {
    const line = this.#take()
    if (line.length > MCP_MESSAGE_BYTES_MAX) {
      const skipped = new Skipped(`a line of more than ${MCP_MESSAGE_BYTES_MAX} bytes`)
      skipped.push(line)
      found.push(refusal(skipped))
      return
    }
    const header = readHeader(line)
    if (header !== undefined) {
      this.#state = { name: 'headers', length: undefined, bytes: 0, problem: undefined }
      this.#addHeader(this.#state, header)
    } else if (!isBlank(line)) found.push({ kind: 'message', bytes: line })
  }

  #finishHeader(state: Extract<State, { name: 'headers' }>, found: Framed[]): void {
    const line = this.#take()
    if (!isBlank(line)) {
      state.bytes += line.length
      if (state.bytes > MCP_HEADER_BYTES_MAX) state.problem = `headers of more than ${MCP_HEADER_BYTES_MAX} bytes`
      const header = readHeader(line)
      if (header === undefined) state.problem ??= 'a line between headers that is none'
      else this.#addHeader(state, header)
      return
    }
    const { length, problem } = state
    this.#state = { name: 'line' }
    const refuse = (reason: string): void => void found.push({ kind: 'refused', reason, id: null })
    if (problem !== undefined) refuse(problem)
    else if (length === undefined) refuse('headers without Content-Length')
    else if (length > MCP_SKIP_BYTES_MAX) {
      found.push({ kind: 'lost', reason: `Content-Length ${length}, limit ${MCP_MESSAGE_BYTES_MAX}` })
      this.#state = { name: 'lost' }
    } else if (length > MCP_MESSAGE_BYTES_MAX) {
      const skipped = new Skipped(`Content-Length ${length}, limit ${MCP_MESSAGE_BYTES_MAX}`)
      this.#state = { name: 'skip-body', skipped, remaining: length }
    } else if (length > 0) this.#state = { name: 'body', length }
    else refuse('Content-Length 0')
  }

  #addHeader(state: Extract<State, { name: 'headers' }>, { name, value }: Header): void {
    if (name !== 'content-length') return
    if (/^\d{1,300}$/.test(value) && state.length === undefined) state.length = Number(value)
    else state.problem ??= 'a Content-Length that is no number, or a second one'
  }
}

function refusal({ reason, id }: Skipped): Framed {
  return { kind: 'refused', reason, id }
}

interface Header {
  readonly name: string
  readonly value: string
}

/** A JSON text starts with `{` or `[`, never with a name and a colon. */
function readHeader(line: Buffer): Header | undefined {
  if (line.length > MCP_HEADER_BYTES_MAX) return undefined
  const found = /^([A-Za-z][A-Za-z-]*):[ \t]*(.*?)[ \t\r]*$/.exec(line.toString('latin1'))
  const [, name, value] = found ?? []
  return name === undefined || value === undefined ? undefined : { name: name.toLowerCase(), value }
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}
