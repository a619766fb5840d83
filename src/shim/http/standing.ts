// GET and DELETE of a session: nothing to judge in them. What the server says on a stream of its own is passed on and read like any answer.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { protocolError } from '../call/refusals.ts'
import { INTERNAL_ERROR } from '../call/unanswered.ts'
import { type ExchangeOptions, whyNotPassed } from './exchange.ts'
import { Relay } from './relay.ts'

/** Passes one such request on. Returns how to end it. */
export function passOn(options: ExchangeOptions, request: IncomingMessage, response: ServerResponse): () => void {
  const { core, remote } = options
  const refuse = (why: string): void => {
    if (response.headersSent) response.destroy()
    else sayProblem(response, 502, core.gate.words.clean(why))
  }
  const upstream = remote.request(request.method ?? 'GET', request.rawHeaders, null, {
    response(answer) {
      const why = whyNotPassed(answer)
      if (why !== null) {
        answer.destroy()
        refuse(why)
        return
      }
      void new Relay(options, answer, response).run().then((isWhole) => {
        if (isWhole) response.end()
        else response.destroy()
      })
    },
    failed: ({ message }) => refuse(`the server cannot be reached: ${message}`),
  })
  upstream.end()
  response.once('close', () => upstream.destroy())
  return () => {
    upstream.destroy()
    response.destroy()
  }
}

/** An answer of ours to what is no message. */
export function sayProblem(response: ServerResponse, status: number, why: string): void {
  const line = protocolError('null', INTERNAL_ERROR, why)
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(line) }
  response.writeHead(status, headers).end(line)
}
