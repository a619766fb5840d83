// What the wire does when the other side does not keep up.
import { PassThrough, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { LedgerTransport } from './transport.ts'

/** Takes nothing until it is told to. */
class SlowReader extends Writable {
  readonly #waiting: (() => void)[] = []

  constructor() {
    super({ highWaterMark: 16 })
  }

  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    this.#waiting.push(done)
  }

  async takeAll(): Promise<void> {
    for (let done = this.#waiting.shift(); done !== undefined; done = this.#waiting.shift()) {
      done()
      await new Promise(setImmediate)
    }
  }
}

test.each([
  ['an answer', (transport: LedgerTransport) => transport.send({ jsonrpc: '2.0', id: 1, result: { text: 'long' } })],
  ['a refusal', (_transport: LedgerTransport, input: PassThrough) => void input.write('no JSON\n')],
])('a client that does not read %s is not read from, until it does', async (_what, act) => {
  const [input, output] = [new PassThrough(), new SlowReader()]
  const transport = new LedgerTransport(input, output)
  await transport.start()
  expect(input.isPaused()).toBe(false)
  const sent = act(transport, input)
  await new Promise(setImmediate)
  expect(input.isPaused()).toBe(true)
  await output.takeAll()
  await sent
  expect(input.isPaused()).toBe(false)
})
