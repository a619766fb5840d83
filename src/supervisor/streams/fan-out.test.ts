// Generated schedules of output, clients that stall and go on, and the end, against a model of what each may see.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { decodeExit, decodeGap, decodeReplayEnd, decodeSnapshot } from '../../wire/decode.ts'
import { type From, PLAIN_SUBSCRIBE, type SubscribeOptions } from '../../wire/payloads.ts'
import { FrameReader } from '../../wire/reader.ts'
import { advance, isCut, START_OF_STREAM } from './cut.ts'
import { FanOut } from './fan-out.ts'
import { OutputLog } from './output-log.ts'
import { Subscriber } from './subscriber.ts'

const BACKLOG = 16 << 10
const STALL_MS = 100
const SCROLLBACK = 8 << 10

/** A client with a socket that takes everything, or one more write and then nothing. */
class FakeClient {
  readonly options: SubscribeOptions
  readonly subscriber: Subscriber
  readonly joinedAt: number
  isStalled = false
  #isFull = false
  hasStalled = false
  isEnded = false
  output: Buffer[] = []
  /** Where in the stream the next output byte belongs; unknown for plain clients after a loss. */
  at: number | undefined
  /** Those after something was shown; where a subscription begins is nobody's loss. */
  gaps: { from: number; to: number }[] = []
  exitCode: number | undefined
  losses = 0
  #unplaced: Buffer[] = []
  replayEnd: number | undefined
  readonly problems: string[] = []

  constructor(world: World, options: SubscribeOptions) {
    this.options = options
    this.joinedAt = world.log.end
    const reader = new FrameReader('supervisor', { frame: (name, payload) => this.#take(world, name, payload) })
    reader.push(Buffer.of(0))
    this.subscriber = new Subscriber(
      world.log,
      options,
      {
        send: (parts) => {
          if (this.isEnded) this.problems.push('written to after the end')
          for (const part of parts) reader.push(part)
          this.#isFull = this.isStalled
          return !this.#isFull
        },
        end: () => (this.isEnded = true),
        snapshot: () =>
          Promise.resolve({
            offset: world.log.cutAtOrBefore(world.log.end),
            size: { cols: 80, rows: 24 },
            isWhole: true,
            bytes: Buffer.from('drawing'),
          }),
      },
      SCROLLBACK,
    )
  }

  goOn(world: World): void {
    this.isStalled = false
    if (!this.#isFull) return
    this.#isFull = false
    world.fanOut.drained(this.subscriber)
  }

  #take(world: World, name: string, payload: Buffer): void {
    if (this.exitCode !== undefined) this.problems.push(`${name} after EXIT`)
    if (name === 'output') {
      // The few frames around a gap are bounded and may go together; output may not.
      if (this.#isFull) this.problems.push('output while full')
      if (this.options.gaps) this.#takeTold(world, payload)
      else this.#takePlain(world, payload)
      this.output.push(Buffer.from(payload))
    } else if (name === 'gap') {
      const { droppedBytes, nextOffset } = decodeGap(payload)
      const from = nextOffset - droppedBytes
      if (this.at !== undefined && from !== this.at) this.problems.push(`gap from ${from}, output ended at ${this.at}`)
      if (this.at !== undefined) this.gaps.push({ from, to: nextOffset })
      else if (!world.isCut(nextOffset)) this.problems.push(`begins inside a sequence at ${nextOffset}`)
      this.at = nextOffset
    } else if (name === 'snapshot') this.at = decodeSnapshot(payload).offset
    else if (name === 'replayEnd') this.replayEnd = decodeReplayEnd(payload)
    else if (name === 'exit') this.exitCode = decodeExit(payload)
    else this.problems.push(`unexpected ${name}`)
  }

  #takeTold(world: World, payload: Buffer): void {
    this.at ??= world.find(payload)
    if (this.output.length === 0) this.#checkStart(world, this.at)
    if (!world.stream(this.at, this.at + payload.length).equals(payload))
      this.problems.push(`wrong bytes at ${this.at}`)
    this.at += payload.length
  }

  /** Told nothing, it must still see whole pieces of the stream in order; each numbered line says where it belongs. */
  #takePlain(world: World, payload: Buffer): void {
    if (
      this.#unplaced.length === 0 &&
      this.at !== undefined &&
      world.stream(this.at, this.at + payload.length).equals(payload)
    ) {
      this.at += payload.length
      return
    }
    this.#unplaced.push(Buffer.from(payload))
    if (!/<\d+>/.test(Buffer.concat(this.#unplaced).toString('latin1'))) return
    this.#placeBeforeLoss(world)
    const piece = Buffer.concat(this.#unplaced)
    const found = world.find(piece)
    if (found < (this.at ?? 0))
      this.problems.push(`bytes that the child did not write, or out of order, after ${this.at}`)
    for (const cut of [
      ...(this.at === undefined ? [] : [this.at]),
      ...(typeof this.options.from === 'number' && this.at === undefined ? [] : [found]),
    ])
      if (!world.isCut(cut)) this.problems.push(`torn at ${cut}`)
    if (this.at !== undefined) this.losses += 1
    this.at = found + piece.length
    this.#unplaced = []
  }

  /** A loss may come behind a beginning too short to be placed by itself, such as half of the first line: then that is placed first. */
  #placeBeforeLoss(world: World): void {
    if (world.find(Buffer.concat(this.#unplaced)) >= 0) return
    for (let count = this.#unplaced.length - 1; count > 0; count -= 1) {
      const beginning = Buffer.concat(this.#unplaced.slice(0, count))
      const found = world.findFrom(beginning, this.at ?? 0)
      if (found < 0) continue
      this.at = found + beginning.length
      this.#unplaced = this.#unplaced.slice(count)
      return
    }
  }

  #checkStart(world: World, at: number): void {
    const { from } = this.options
    if (typeof from === 'number') return
    if (!world.isCut(at)) this.problems.push(`begins inside a sequence at ${at}`)
    if (from === 'scrollback' && at < this.joinedAt - SCROLLBACK) this.problems.push('more than the scrollback')
  }
}

class World {
  readonly clock = fakeClock()
  readonly log = new OutputLog(BACKLOG + (32 << 10))
  isPaused = false
  pausedAtMs = 0
  longestPauseMs = 0
  readonly fanOut = new FanOut(
    {
      pause: () => {
        this.isPaused = true
        this.pausedAtMs = this.clock.monoMs()
      },
      resume: () => {
        this.isPaused = false
        this.longestPauseMs = Math.max(this.longestPauseMs, this.clock.monoMs() - this.pausedAtMs)
      },
    },
    this.clock,
    { stallMs: STALL_MS, backlogBytes: BACKLOG },
  )
  #whole = Buffer.alloc(0)
  #count = 0

  /** Every line is unlike any other, with colours, a title now and then, and characters of several bytes. */
  output(lines: number, torn: number): void {
    if (this.isPaused) return
    let text = ''
    for (let n = 0; n < lines; n += 1) {
      this.#count += 1
      text += `\x1b[3${this.#count % 8}m<${this.#count}>é日😀\x1b[0m${this.#count % 7 === 0 ? '\x1b]0;title\x1b\\' : ''}\r\n`
    }
    const bytes = Buffer.from(text)
    const chunk = Buffer.concat([this.#torn, bytes]).subarray(0, this.#torn.length + bytes.length - (torn % 20))
    this.#torn = Buffer.concat([this.#torn, bytes]).subarray(chunk.length)
    this.#append(chunk)
  }
  #torn = Buffer.alloc(0)

  finishSequence(): void {
    this.#append(this.#torn)
    this.#torn = Buffer.alloc(0)
  }

  #append(chunk: Buffer): void {
    this.#whole = Buffer.concat([this.#whole, chunk])
    for (let at = 0; at < chunk.length;) {
      const count = chunk.copy(this.log.room(), 0, at, at + 4_096)
      this.log.commit(count)
      at += count
      this.fanOut.flush()
    }
  }

  stream(from: number, to: number): Buffer {
    return this.#whole.subarray(from, to)
  }

  isCut(at: number): boolean {
    return isCut(advance(START_OF_STREAM, this.#whole.subarray(0, at)))
  }

  findFrom(payload: Buffer, at: number): number {
    return this.#whole.indexOf(payload, at)
  }

  find(payload: Buffer): number {
    // The last place: what a client gets first is the latest.
    return this.#whole.lastIndexOf(payload)
  }
}

type Step =
  | { readonly do: 'output'; readonly lines: number; readonly torn: number }
  | { readonly do: 'join'; readonly options: SubscribeOptions }
  | { readonly do: 'stall' | 'goOn' | 'leave'; readonly client: number }
  | { readonly do: 'wait'; readonly ms: number }

const options = fc.record({
  from: fc.oneof(fc.constantFrom<From[]>('scrollback', 'live', 'snapshot'), fc.nat(100_000)),
  readOnly: fc.constant(false),
  events: fc.constant(false),
  gaps: fc.constant(true),
  redraw: fc.boolean(),
  replayEnd: fc.boolean(),
  acks: fc.constant(false),
  answers: fc.constant(false),
  viewer: fc.constant(false),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('output' as const),
      lines: fc.integer({ min: 1, max: 900 }),
      torn: fc.nat(40),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('join' as const), options }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'stall' as const,
        'stall' as const,
        'stall' as const,
        'goOn' as const,
        'goOn' as const,
        'leave' as const,
      ),
      client: fc.nat(5),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 300 }) }) },
)

async function play(steps: readonly Step[]): Promise<{ world: World; pairs: [FakeClient, FakeClient][] }> {
  const world = new World()
  // Each client that is told of gaps has a plain twin, which is told nothing.
  let pairs: [FakeClient, FakeClient][] = []
  const everyone: [FakeClient, FakeClient][] = []
  for (const next of steps) {
    const pair = 'client' in next ? pairs[next.client % Math.max(1, pairs.length)] : undefined
    if (next.do === 'output') world.output(next.lines, next.torn)
    else if (next.do === 'wait') world.clock.advance(next.ms)
    else if (next.do === 'join') {
      const told = new FakeClient(world, next.options)
      const plain = new FakeClient(world, { ...next.options, gaps: false, replayEnd: false })
      for (const { subscriber } of [told, plain]) world.fanOut.add(subscriber)
      pairs.push([told, plain])
      everyone.push([told, plain])
    } else if (pair !== undefined) {
      if (next.do === 'stall') for (const client of pair) client.isStalled = client.hasStalled = true
      if (next.do === 'goOn') for (const client of pair) client.goOn(world)
      if (next.do === 'leave') {
        for (const client of pair) world.fanOut.remove(client.subscriber)
        pairs = pairs.filter((other) => other !== pair)
      }
    }
    await Promise.resolve().then(() => undefined)
    for (const { subscriber } of pairs.flat()) expect(subscriber.lagBytes).toBeLessThanOrEqual(BACKLOG + (32 << 10))
    for (const client of pairs.flat())
      if (!client.hasStalled && client.options.from !== 'snapshot' && world.isCut(world.log.end))
        expect(client.subscriber.lagBytes).toBe(0)
  }
  world.clock.advance(STALL_MS)
  world.finishSequence()
  world.fanOut.finish(7)
  for (let n = 0; n < 20; n += 1) {
    for (const client of pairs.flat()) client.goOn(world)
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const client of everyone.flat()) expect(client.problems).toEqual([])
  return { world, pairs }
}

test('each subscriber gets a gap-free run of the stream or is told each gap; EXIT is last; nobody waits longer than the bound', async () => {
  let losses = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 120 }), async (steps) => {
      const { world, pairs } = await play(steps)
      expect(world.longestPauseMs).toBeLessThanOrEqual(STALL_MS)
      expect(world.fanOut.isDelivered).toBe(true)
      for (const [told, plain] of pairs) {
        expect([told.exitCode, plain.exitCode, told.isEnded]).toEqual([7, 7, true])
        expect(told.at ?? world.log.end).toBe(world.log.end)
        expect(told.replayEnd !== undefined).toBe(told.options.replayEnd)
        losses += told.gaps.length
        for (const offset of told.gaps.flatMap(({ from, to }) => [from, to]))
          expect([offset, world.isCut(offset)]).toEqual([offset, true])
        if (!told.hasStalled) expect(told.gaps).toEqual([])
        losses += plain.losses
        expect(plain.gaps).toEqual([])
      }
    }),
    { numRuns: 60 },
  )
  // A schedule generator that never makes anyone lose output proves nothing.
  expect(losses).toBeGreaterThan(30)
})

test('a stalled client delays the others once, by the bound, and they lose nothing', async () => {
  const world = new World()
  const stalled = new FakeClient(world, PLAIN_SUBSCRIBE)
  const live = new FakeClient(world, { ...PLAIN_SUBSCRIBE, gaps: true })
  stalled.isStalled = true
  for (const { subscriber } of [stalled, live]) world.fanOut.add(subscriber)
  let pauses = 0
  for (let n = 0; n < 200; n += 1) {
    world.output(500, n)
    if (world.isPaused) {
      pauses += 1
      world.clock.advance(STALL_MS)
    }
  }
  world.finishSequence()
  expect([pauses, world.longestPauseMs, live.gaps.length]).toEqual([1, STALL_MS, 0])
  expect(Buffer.concat(live.output).equals(world.stream(0, world.log.end))).toBe(true)
  world.fanOut.finish(0)
  stalled.goOn(world)
  expect([stalled.exitCode, stalled.problems]).toEqual([0, []])
})
