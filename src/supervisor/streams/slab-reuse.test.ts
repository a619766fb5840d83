// Memory of the output log that is read into again: never what a client's socket is still taking, never what is kept.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { scaled } from '../../../test/support/scale.ts'
import { FrameReader } from '../../wire/reader.ts'
import { PLAIN_SUBSCRIBE } from '../../wire/payloads.ts'
import { FanOut } from './fan-out.ts'
import { OutputLog, READ_BYTES } from './output-log.ts'
import { Subscriber } from './subscriber.ts'

const BACKLOG = 96 << 10
const STALL_MS = 50
const SLAB_BYTES = 128 << 10

/** Text, so that it can be cut anywhere; a prime number of bytes, so that no two slabs begin alike. */
const PATTERN = Buffer.from(Array.from({ length: 1_000_003 }, (_, n) => 0x30 + (Math.imul(n, 2_654_435_761) >>> 28)))
const TWICE = Buffer.concat([PATTERN, PATTERN])

/** The stream has this at an offset. */
function expected(from: number, count: number): Buffer {
  return TWICE.subarray(from % PATTERN.length).subarray(0, count)
}

/** A client whose socket leaves the bytes where they are until it goes on, and only then looks at them. */
class SlowClient {
  isStalled = false
  #at = 0
  #inFlight: Buffer[] = []
  wrongAt: number | undefined
  readonly subscriber: Subscriber
  readonly #reader: FrameReader<'supervisor'>

  constructor(log: OutputLog) {
    this.#at = log.end
    this.#reader = new FrameReader('supervisor', {
      frame: (name, payload) => {
        if (name === 'gap') this.#at = Number(payload.readBigUInt64BE(8))
        if (name !== 'output') return
        if (!payload.equals(expected(this.#at, payload.length))) this.wrongAt ??= this.#at
        this.#at += payload.length
      },
    })
    this.#reader.push(Buffer.of(0))
    this.subscriber = new Subscriber(
      log,
      { ...PLAIN_SUBSCRIBE, from: 'live', gaps: true },
      {
        send: (parts) => {
          this.#inFlight.push(...parts)
          if (!this.isStalled) this.#take()
          return !this.isStalled
        },
        end: () => undefined,
        snapshot: () => Promise.resolve(undefined),
      },
      0,
    )
  }

  goOn(fanOut: FanOut): void {
    if (!this.isStalled) return
    this.isStalled = false
    this.#take()
    fanOut.drained(this.subscriber)
  }

  #take(): void {
    for (const part of this.#inFlight.splice(0)) this.#reader.push(part)
  }
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('output' as const), bytes: fc.integer({ min: 1, max: 90_000 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('stall' as const, 'goOn' as const), client: fc.nat(2) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const) }) },
)

test('a client never sees bytes of memory that was read into again, however long it stalls', () => {
  let reused = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 150 }), (steps) => {
      const clock = fakeClock()
      const log: OutputLog = new OutputLog(BACKLOG + (64 << 10), (from, to) => fanOut.isInFlight(from, to))
      const flow = {
        isPaused: false,
        pause: () => void (flow.isPaused = true),
        resume: () => void (flow.isPaused = false),
      }
      const fanOut = new FanOut(flow, clock, { stallMs: STALL_MS, backlogBytes: BACKLOG })
      const clients = Array.from({ length: 3 }, () => new SlowClient(log))
      for (const { subscriber } of clients) fanOut.add(subscriber)
      const slabs = new Set<ArrayBufferLike>()
      const write = (bytes: number): void => {
        for (let left = bytes; left > 0 && !flow.isPaused;) {
          const room = log.room()
          slabs.add(room.buffer)
          const count = Math.min(left, room.length, 16 << 10)
          expected(log.end, count).copy(room)
          log.commit(count)
          left -= count
          fanOut.flush()
        }
      }
      for (const next of steps) {
        if (next.do === 'output') write(next.bytes)
        else if (next.do === 'wait') clock.advance(STALL_MS)
        else if (next.do === 'stall') (clients[next.client] as SlowClient).isStalled = true
        else (clients[next.client] as SlowClient).goOn(fanOut)
      }
      clock.advance(STALL_MS)
      for (const client of clients) client.goOn(fanOut)
      expect(clients.map(({ wrongAt }) => wrongAt)).toEqual([undefined, undefined, undefined])
      expect(Buffer.concat(log.slices(log.start, log.end)).equals(expected(log.start, log.end - log.start))).toBe(true)
      reused += Math.max(0, Math.floor(log.end / SLAB_BYTES) - slabs.size)
    }),
    { numRuns: scaled(15, 400) },
  )
  // A schedule that never comes to memory that was used before proves nothing.
  expect(reused).toBeGreaterThan(10)
})

test('a busy log with clients that keep up needs no new memory', () => {
  const log = new OutputLog(256 << 10, () => false)
  const slabs = new Set<ArrayBufferLike>()
  for (let n = 0; n < 4_000; n += 1) {
    slabs.add(log.room().buffer)
    log.commit(16 << 10)
  }
  expect(slabs.size).toBeLessThanOrEqual(4)
})

test('nor does one with a client that never reads: only what its socket was given is its own', () => {
  const clock = fakeClock()
  const log: OutputLog = new OutputLog(BACKLOG + (64 << 10), (from, to) => fanOut.isInFlight(from, to))
  const fanOut = new FanOut({ pause: () => undefined, resume: () => undefined }, clock, {
    stallMs: STALL_MS,
    backlogBytes: BACKLOG,
  })
  const client = new SlowClient(log)
  fanOut.add(client.subscriber)
  client.isStalled = true
  const slabs = new Set<ArrayBufferLike>()
  for (let n = 0; n < 4_000; n += 1) {
    const room = log.room()
    slabs.add(room.buffer)
    expected(log.end, READ_BYTES).copy(room)
    log.commit(READ_BYTES)
    fanOut.flush()
    clock.advance(STALL_MS)
  }
  expect(slabs.size).toBeLessThanOrEqual(6)
  client.goOn(fanOut)
  expect(client.wrongAt).toBeUndefined()
})
