// The wire under the SDK's server: both framings on read, lines on write, an answer to every malformed request, and an orderly end.
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { isErrno } from '../errors.ts'
import { type Framed, MessageReader } from './message-frames.ts'
import { readMessage } from './message.ts'

/**
 * Requests that were read are answered before the wire closes, also when the client has closed its end already: a
 * pipe that prints two requests and ends is a client too.
 */
export class LedgerTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  readonly #input: Readable
  readonly #output: Writable
  readonly #reader = new MessageReader()
  readonly #unanswered = new Set<string | number>()
  #isInputOver = false
  #isClosed = false

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  start(): Promise<void> {
    this.#input.on('data', (chunk: Buffer) => this.#receive(this.#reader.push(chunk)))
    this.#input.on('error', (error) => this.onerror?.(error))
    this.#input.once('end', () => this.#endInput())
    this.#input.once('close', () => this.#endInput())
    this.#output.on('error', (error) => this.#outputFailed(error))
    return Promise.resolve()
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    const drained = this.#output.write(`${JSON.stringify(message)}\n`)
    if ('id' in message && message.id !== undefined && !('method' in message)) this.#unanswered.delete(message.id)
    this.#closeWhenAnswered()
    return drained ? Promise.resolve() : this.#drained()
  }

  /** A client that does not read its answers is not read from either, or they would pile up here. */
  #drained(): Promise<void> {
    this.#input.pause()
    return new Promise((resolve) => {
      this.#output.once('drain', () => {
        if (!this.#isClosed) this.#input.resume()
        resolve()
      })
    })
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#isClosed = true
    this.#input.pause()
    this.onclose?.()
    return Promise.resolve()
  }

  #receive(found: readonly Framed[]): void {
    for (const item of found) {
      const read = readMessage(item)
      if (read.kind === 'refused') {
        this.#answer(read.answer)
        if (item.kind === 'lost') this.#lose(item.reason)
      } else {
        // A cancelled request is never answered.
        if (read.requestId !== undefined) this.#unanswered.add(read.requestId)
        if (read.cancelledId !== undefined) this.#unanswered.delete(read.cancelledId)
        this.onmessage?.(read.message)
      }
    }
  }

  #answer(answer: object): void {
    if (!this.#output.write(`${JSON.stringify(answer)}\n`)) void this.#drained()
  }

  /** What was read before is still answered. */
  #lose(reason: string): void {
    this.onerror?.(new Error(reason))
    this.#input.destroy()
    this.#endInput()
  }

  #endInput(): void {
    if (this.#isInputOver) return
    this.#isInputOver = true
    this.#receive(this.#reader.end())
    this.#closeWhenAnswered()
  }

  #closeWhenAnswered(): void {
    if (this.#isInputOver && this.#unanswered.size === 0) void this.close()
  }

  #outputFailed(error: Error): void {
    // The client is gone; there is nobody left to tell.
    if (!isErrno(error, 'EPIPE')) this.onerror?.(error)
    void this.close()
  }
}
