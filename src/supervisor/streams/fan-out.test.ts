// Generated schedules of output, clients that stall and go on, and the end, against a model of what each may see.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { scaled } from '../../../test/support/scale.ts'
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

interface Sent {
  readonly parts: readonly Buffer[]
  /** Sent while the socket still had something before it. */
  readonly isBehind: boolean
  /** The end of the stream at that time. */
  readonly sentAt: number
}

/** A client with a socket that takes everything, or one more write and then nothing: what it has not taken lies in the log's memory. */
class FakeClient {
  readonly options: SubscribeOptions
  readonly subscriber: Subscriber
  readonly joinedAt: number
  isStalled = false
  #isFull = false
  readonly #reader: FrameReader<'supervisor'>
  readonly #inFlight: Sent[] = []
  #taking: Sent = { parts: [], isBehind: false, sentAt: 0 }
  hasStalled = false
  isEnded = false
  output: Buffer[] = []
  /** Where in the stream the next output byte belongs; unknown until a client that is told of gaps has seen something. */
  at: number | undefined
  /** The same for a plain client, which is told nothing: all places where it may belong, each with the losses up to there. */
  places: ReadonlyMap<number, number> | undefined
  /** Those after something was shown; where a subscription begins is nobody's loss. */
  gaps: { from: number; to: number }[] = []
  exitCode: number | undefined
  replayEnd: number | undefined
  readonly problems: string[] = []

  constructor(world: World, options: SubscribeOptions) {
    this.options = options
    this.joinedAt = world.log.end
    const { from } = options
    if (typeof from === 'number' && from >= world.log.start) this.places = new Map([[Math.min(from, this.joinedAt), 0]])
    this.#reader = new FrameReader('supervisor', { frame: (name, payload) => this.#take(world, name, payload) })
    this.#reader.push(Buffer.of(0))
    this.subscriber = new Subscriber(
      world.log,
      options,
      {
        send: (parts) => {
          if (this.isEnded) this.problems.push('written to after the end')
          this.#inFlight.push({ parts, isBehind: this.#isFull, sentAt: world.log.end })
          this.#isFull = this.isStalled
          if (!this.#isFull) this.#takeInFlight()
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

  stall(): void {
    this.isStalled = true
    this.hasStalled = true
  }

  goOn(world: World): void {
    this.isStalled = false
    if (!this.#isFull) return
    this.#isFull = false
    this.#takeInFlight()
    world.fanOut.drained(this.subscriber)
  }

  #takeInFlight(): void {
    for (const sent of this.#inFlight.splice(0)) {
      this.#taking = sent
      for (const part of sent.parts) this.#reader.push(part)
    }
  }

  #take(world: World, name: string, payload: Buffer): void {
    if (this.exitCode !== undefined) this.problems.push(`${name} after EXIT`)
    if (name === 'output') {
      // The few frames around a gap are bounded and may go together; output may not.
      if (this.#taking.isBehind) this.problems.push('output while full')
      if (this.options.gaps) this.#takeTold(world, payload)
      else this.#takePlain(world, payload)
      this.output.push(Buffer.from(payload))
    } else if (name === 'gap') {
      if (!this.options.gaps) this.problems.push('told of a gap')
      const { droppedBytes, nextOffset } = decodeGap(payload)
      const from = nextOffset - droppedBytes
      if (this.at !== undefined && from !== this.at) this.problems.push(`gap from ${from}, output ended at ${this.at}`)
      if (this.at !== undefined) this.gaps.push({ from, to: nextOffset })
      else if (!world.isCut(nextOffset)) this.problems.push(`begins inside a sequence at ${nextOffset}`)
      this.at = nextOffset
    } else if (name === 'snapshot') this.#takeDrawing(decodeSnapshot(payload).offset)
    else if (name === 'replayEnd') this.replayEnd = decodeReplayEnd(payload)
    else if (name === 'exit') this.exitCode = decodeExit(payload)
    else this.problems.push(`unexpected ${name}`)
  }

  #takeTold(world: World, payload: Buffer): void {
    this.at ??= world.find(payload, this.#taking.sentAt)
    if (this.output.length === 0) this.#checkStart(world, this.at)
    if (!world.stream(this.at, this.at + payload.length).equals(payload))
      this.problems.push(`wrong bytes at ${this.at}`)
    this.at += payload.length
  }

  /** A drawing says where it belongs, also to a plain client. */
  #takeDrawing(offset: number): void {
    const before = [...(this.places ?? [])].filter(([at]) => at <= offset)
    if (this.places !== undefined && before.length === 0) this.problems.push(`drawn as it was before, at ${offset}`)
    this.places = new Map([[offset, fewest(before)]])
    this.at = offset
  }

  /**
   * Told nothing, it must still see whole pieces of the stream in order. Short ones are like many others: all places are
   * kept that a piece may have, until one that holds a numbered line tells which it was.
   */
  #takePlain(world: World, payload: Buffer): void {
    const next = new Map<number, number>()
    const begin = (at: number, losses: number): void => {
      const end = at + payload.length
      next.set(end, Math.min(losses, next.get(end) ?? losses))
    }
    for (const [at, losses] of this.places ?? [])
      if (world.stream(at, at + payload.length).equals(payload)) begin(at, losses)
    const isNumbered = /<\d+>/.test(payload.toString('latin1'))
    const mayJump = this.places === undefined || (this.hasStalled && !(isNumbered && next.size > 0))
    // From a cut to a cut, and forward.
    const left = [...(this.places ?? [])].filter(([at]) => world.isCut(at))
    for (const at of mayJump ? world.cutsBefore(payload, this.#taking.sentAt) : [])
      if (this.places === undefined) begin(at, 0)
      else if (left.some(([end]) => end < at)) begin(at, fewest(left.filter(([end]) => end < at)) + 1)
    if (next.size === 0)
      this.problems.push(`bytes that the child did not write, out of order, or torn, after ${placesText(this.places)}`)
    this.places = next.size === 0 ? undefined : next
  }

  #checkStart(world: World, at: number): void {
    const { from } = this.options
    if (typeof from === 'number') return
    if (!world.isCut(at)) this.problems.push(`begins inside a sequence at ${at}`)
    if (from === 'scrollback' && at < this.joinedAt - SCROLLBACK) this.problems.push('more than the scrollback')
  }
}

const fewest = (places: readonly (readonly [number, number])[]): number =>
  places.length === 0 ? 0 : Math.min(...places.map(([, losses]) => losses))

const placesText = (places: ReadonlyMap<number, number> | undefined): string =>
  places === undefined ? 'nothing' : [...places.keys()].slice(0, 5).join(' or ')

class World {
  readonly clock = fakeClock()
  readonly log: OutputLog = new OutputLog(BACKLOG + (32 << 10), (from, to) => this.fanOut.isInFlight(from, to))
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

  /** Where this stands behind a cut. */
  cutsBefore(payload: Buffer, sentAt: number): number[] {
    const stream = this.#whole.subarray(0, sentAt)
    const places: number[] = []
    for (let at = stream.indexOf(payload); at >= 0; at = stream.indexOf(payload, at + 1)) places.push(at)
    return places.filter((at) => this.isCut(at))
  }

  /** The last place: what a client gets first is the latest. */
  find(payload: Buffer, before: number): number {
    return this.#whole.subarray(0, before).lastIndexOf(payload)
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
      // Short pieces are like many others, and hard to place.
      lines: fc.oneof(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 2 })),
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
      if (next.do === 'stall') for (const client of pair) client.stall()
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
  const property = fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 120 }), async (steps) => {
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
      if (plain.places === undefined) continue
      expect([...plain.places.keys()]).toContain(world.log.end)
      losses += plain.places.get(world.log.end) ?? 0
    }
  })
  // Schedules under which no client loses output prove nothing: generate more until enough of them do.
  const isEnough = (): boolean => losses > 30
  for (let round = 0; round < 20 && !isEnough(); round += 1) await fc.assert(property, { numRuns: scaled(25, 2_000) })
  expect(isEnough()).toBe(true)
})

test.each([
  // What a plain client saw first is half a line, which is like the same half of any other.
  ['a drawing', true, 1],
  ['a piece', false, 4],
])('a loss behind a beginning that could be anywhere, and %s behind it, is in order', async (_name, redraw, times) => {
  const lost: Step[] = [
    { do: 'output', lines: 900, torn: 0 },
    { do: 'wait', ms: STALL_MS },
  ]
  const { pairs } = await play([
    { do: 'output', lines: 1, torn: 13 },
    { do: 'join', options: { ...PLAIN_SUBSCRIBE, from: 'live', gaps: true, redraw } },
    { do: 'stall', client: 0 },
    { do: 'output', lines: 1, torn: 19 },
    ...Array.from({ length: times }, () => lost).flat(),
    { do: 'goOn', client: 0 },
    { do: 'output', lines: 3, torn: 0 },
  ])
  expect(pairs.map(([told]) => told.gaps.length)).toEqual([1])
})

test('a stalled client delays the others once, by the bound, and they lose nothing', async () => {
  const world = new World()
  const stalled = new FakeClient(world, PLAIN_SUBSCRIBE)
  const live = new FakeClient(world, { ...PLAIN_SUBSCRIBE, gaps: true })
  stalled.stall()
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
