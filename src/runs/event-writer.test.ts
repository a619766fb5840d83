// The queue between the data path and the record: what gives way under pressure, in which order, and what is counted.
import { expect, test } from 'vitest'
import { fakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { HeimdallError } from '../errors.ts'
import {
  EVENT_BATCH_MS,
  EVENT_BATCH_BYTES,
  EVENT_QUEUE_FULL,
  EVENT_QUEUE_MAX,
  EVENT_QUEUE_SOFT,
  EVENT_RETRY_MS,
  EVENT_RETRY_MS_MAX,
  EVENT_STALL_MS,
  EVENT_BEHIND_BYTES,
} from '../limits.ts'
import { type CallNames, decisionBody, decisionEvent, EventText } from '../events/event-text.ts'
import { EventWriter } from './event-writer.ts'
import { type Preview, PREVIEW_NONE, PREVIEW_OMITTED } from '../events/preview.ts'
import { soloRecord } from './solo-record.ts'
import { createRedact } from '../events/redact.ts'
import type { RunStart } from '../events/types.ts'

interface Event {
  readonly type: string
  readonly call?: {
    readonly call_id: string
    readonly seq?: number
    readonly preview?: { readonly truncated: boolean }
  }
  readonly run?: { readonly summary: Record<string, number> }
}

const start: RunStart = {
  started_at: '2026-01-02T03:04:05.000Z',
  mode: 'guardrails',
  policy: { policy_id: 'p', policy_version: '1', policy_hash: 'none' },
}
const policy = start.policy
const identity = {
  run_id: 'r',
  agent_id: 'a',
  client: 'custom',
  env: 'dev',
  source: { host_id: 'h', proc_id: 'p', shim_id: 's' },
} as const
const ARGS = Buffer.from(JSON.stringify({ text: 'x'.repeat(8_000) }))
const PREVIEW: Preview = {
  field: 'args_preview',
  piece: { buffer: ARGS, from: 0, to: ARGS.length },
  redact: createRedact(),
}

/** `holds`: what stands between takes lines and does not get rid of them. */
type ReaderState = 'takes' | 'holds' | 'behind' | 'full'

/** A reader that takes lines, is behind, or has a full disk, as the test says. */
function setUp(): {
  clock: FakeClock
  writer: EventWriter
  reader: { state: ReaderState }
  attempts: () => number
  troubles: string[]
  events: () => Event[]
  /** Its start and decision, then its end. */
  call: (n: number, preview?: Preview) => void
  begin: (n: number) => void
  end: (n: number) => void
} {
  const clock = fakeClock()
  const text = new EventText(identity, () => clock.wallMs())
  const reader: { state: ReaderState } = { state: 'takes' }
  let taken = ''
  let attempts = 0
  const troubles: string[] = []
  const record = soloRecord(text, start, clock, (lines) => {
    attempts += 1
    if (reader.state === 'full') throw new HeimdallError('STORE_FULL', 'no space left')
    if (reader.state === 'behind' || (reader.state === 'holds' && lines.length === 0)) return false
    taken += String(lines)
    return true
  })
  const writer = new EventWriter({
    record,
    lines: text.lines,
    clock,
    onTrouble: (error, lost) => troubles.push(error === null ? `works again, ${lost} lost` : 'fails'),
  })
  const names = (n: number): CallNames => ({ call_id: `c${n}`, server_name: 's', tool_name: 't', args_hash: '' })
  const begin = (n: number, preview: Preview = PREVIEW): void => {
    const room = writer.room('call', 2)
    if (room === 'none') return
    const decision = {
      action: 'ALLOW',
      rule_id: null,
      severity: 'info',
      reason_code: 'OK',
      summary: 'x'.repeat(200),
      enforced: true,
    } as const
    const of = names(n)
    text.callStart(of, { transport: 'mcp_stdio', bytesIn: 1, tags: [] }, room === 'bare' ? PREVIEW_OMITTED : preview)
    text.decision(decisionBody(of, decisionEvent(decision, policy), { counters: [], mono_ms: 1, boot_id: 'b' }))
    writer.added()
  }
  const end = (n: number, preview: Preview = PREVIEW): void => {
    const room = writer.room('end', 1)
    if (room === 'none') return
    text.callEnd(names(n), { status: 'OK', latencyMs: 1, bytesOut: 1 }, room === 'bare' ? PREVIEW_OMITTED : preview)
    writer.added()
  }
  return {
    clock,
    writer,
    reader,
    attempts: () => attempts,
    troubles,
    events: () =>
      taken
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Event),
    begin,
    end,
    call(n, preview = PREVIEW) {
      begin(n, preview)
      end(n, preview)
    },
  }
}

const ids = (events: readonly Event[], type: string): string[] =>
  events.flatMap((event) => (event.type === type && event.call !== undefined ? [event.call.call_id] : []))
const upTo = (count: number): string[] => Array.from({ length: count }, (_, n) => `c${n}`)

test('taking an event writes nothing: the record is touched by a later turn of the loop only', () => {
  const { call, attempts, clock, events } = setUp()
  for (let n = 0; n < 30; n += 1) call(n)
  expect(attempts()).toBe(0)
  clock.advance(10)
  expect(ids(events(), 'tool_call_decision')).toEqual(upTo(30))
  expect(events().every((event) => event.call?.preview?.truncated !== true)).toBe(true)
})

test('with calls one after the other each end is written with the call behind it, and the last one soon', () => {
  const { begin, end, writer, attempts, clock, events } = setUp()
  const calls = 10
  for (let n = 0; n < calls; n += 1) {
    begin(n)
    expect(writer.turn(() => undefined)).toBe('written')
    clock.advance(1)
    end(n)
    clock.advance(2)
  }
  // The run's start; then for each call a write, and the question whether it has gone out.
  expect(attempts()).toBe(1 + calls * 2)
  clock.advance(EVENT_BATCH_MS)
  expect(ids(events(), 'tool_call_end')).toEqual(upTo(calls))
})

test('a record that does not keep up is told of, and waited for until it fails', async () => {
  const { call, reader, writer, clock, events, attempts } = setUp()
  let caughtUp = 0
  const wait = (): void => void writer.caughtUp().then(() => (caughtUp += 1))
  wait()
  reader.state = 'behind'
  let count = 0
  for (; !writer.isBehind; count += 1) call(count)
  expect(count * 2 * ARGS.length).toBeLessThan(EVENT_BEHIND_BYTES * 1.5)
  wait()
  const before = attempts()
  await clock.advanceAsync(EVENT_STALL_MS / 2)
  expect([caughtUp, writer.isBehind]).toEqual([1, true])
  // Each of them encodes all that waits.
  expect(attempts() - before).toBeLessThanOrEqual(EVENT_STALL_MS / 2 / EVENT_BATCH_MS + 1)
  reader.state = 'takes'
  await clock.advanceAsync(10)
  expect([caughtUp, writer.isBehind]).toEqual([2, false])
  expect(ids(events(), 'tool_call_end')).toEqual(upTo(count))
  reader.state = 'behind'
  for (let n = 0; n < count; n += 1) call(n)
  wait()
  await clock.advanceAsync(EVENT_STALL_MS + 10)
  expect([caughtUp, writer.isBehind, writer.isFailing]).toEqual([3, false, true])
})

test('what could not be committed can be taken back, and what others put meanwhile stays', () => {
  const { call, reader, writer, clock, events } = setUp()
  call(0)
  reader.state = 'full'
  const from = writer.mark()
  call(1)
  call(2)
  const to = writer.mark()
  call(3)
  expect(writer.turn(() => undefined)).toBe('failing')
  expect(writer.takeBack(from, to)).toBe(true)
  reader.state = 'takes'
  clock.advance(EVENT_RETRY_MS_MAX)
  for (const type of ['tool_call_start', 'tool_call_decision', 'tool_call_end'])
    expect(ids(events(), type)).toEqual(['c0', 'c3'])
  expect(events().flatMap(({ call: of }) => of?.seq ?? [])).toEqual([1, 1, 2, 2])
  const written = writer.mark()
  call(4)
  const behind = writer.mark()
  expect(writer.turn(() => undefined)).toBe('written')
  expect(writer.takeBack(written, behind)).toBe(false)
})

test('LED-002: a reader that stays behind costs previews first, and nothing else while there is room', async () => {
  const { call, reader, writer, clock, events } = setUp()
  reader.state = 'behind'
  const count = Math.ceil(EVENT_QUEUE_SOFT / (2 * ARGS.length)) + 200
  for (let n = 0; n < count; n += 1) {
    call(n)
    clock.advance(1)
  }
  expect(writer.eventsLost).toBe(0)
  reader.state = 'takes'
  clock.advance(EVENT_RETRY_MS_MAX)
  const taken = events()
  for (const type of ['tool_call_start', 'tool_call_decision', 'tool_call_end'])
    expect(ids(taken, type)).toEqual(upTo(count))
  const starts = taken.filter(({ type }) => type === 'tool_call_start')
  expect(starts.map(({ call: start }) => start?.seq)).toEqual(starts.map((_, i) => i + 1))
  const shown = starts.filter(({ call: start }) => start?.preview?.truncated === false)
  expect(shown.length * ARGS.length).toBeLessThan(EVENT_QUEUE_SOFT)
  expect(shown.length).toBeLessThan(count / 2)
  // Once the queue is short again, previews are back.
  call(count)
  clock.advance(10)
  expect(events().at(-3)?.call?.preview?.truncated).toBe(false)
  const closing = writer.close('SUCCEEDED')
  await clock.advanceAsync(2_000)
  await closing
  const last = events().at(-1)
  expect(last).toMatchObject({ type: 'run_end', run: { summary: { calls_total: count + 1 } } })
  expect(last?.run?.summary).not.toHaveProperty('events_lost')
})

test('LED-002: a reader that is stuck costs ends next, beginnings and decisions never; what is lost is counted in run_end', async () => {
  const { call, reader, writer, clock, events } = setUp()
  reader.state = 'behind'
  let count = 0
  // Ends are given up at EVENT_QUEUE_FULL; from there the rest goes on for a thousand calls.
  for (; writer.eventsLost < 1_000; count += 1) {
    call(count, PREVIEW_NONE)
    clock.advance(1)
  }
  reader.state = 'takes'
  const closing = writer.close('SUCCEEDED')
  await clock.advanceAsync(2_000)
  await closing
  const all = events()
  expect(ids(all, 'tool_call_decision')).toEqual(upTo(count))
  const starts = all.filter(({ type }) => type === 'tool_call_start')
  expect(ids(all, 'tool_call_start')).toEqual(upTo(count))
  expect(starts.map(({ call: start }) => start?.seq)).toEqual(starts.map((_, i) => i + 1))
  const missing =
    3 * count - ['start', 'decision', 'end'].reduce((sum, t) => sum + ids(all, `tool_call_${t}`).length, 0)
  expect(all.at(-1)).toMatchObject({
    type: 'run_end',
    run: { summary: { events_lost: missing, calls_total: count, calls_allowed: count } },
  })
})

test('memory has an end: past EVENT_QUEUE_MAX decisions are lost too, and counted', async () => {
  const { call, reader, writer, clock, events } = setUp()
  reader.state = 'behind'
  let count = 0
  for (; writer.eventsLost < 3 * 2_000; count += 1) call(count, PREVIEW_NONE)
  reader.state = 'takes'
  const closing = writer.close('SUCCEEDED')
  await clock.advanceAsync(2_000)
  await closing
  const all = events()
  const written = all.filter(({ call: of }) => of !== undefined)
  expect(all.at(-1)?.run?.summary['events_lost']).toBe(3 * count - written.length)
  const chars = written.reduce((sum, event) => sum + JSON.stringify(event).length, 0)
  expect(chars).toBeGreaterThan(EVENT_QUEUE_FULL)
  expect(chars).toBeLessThan(EVENT_QUEUE_MAX + EVENT_BATCH_BYTES)
})

test('a full disk is tried again in growing pauses, said once, and all is written in order when there is room', () => {
  const { call, reader, writer, clock, attempts, troubles, events } = setUp()
  reader.state = 'full'
  call(0)
  clock.advance(10)
  expect(writer.isFailing).toBe(true)
  for (let n = 1; n < 50; n += 1) {
    call(n)
    clock.advance(100)
  }
  expect(attempts()).toBeLessThan(20)
  expect(troubles).toEqual(['fails'])
  reader.state = 'takes'
  clock.advance(1_000)
  expect(writer.isFailing).toBe(false)
  expect(troubles).toEqual(['fails', 'works again, 0 lost'])
  expect(ids(events(), 'tool_call_start')).toEqual(upTo(50))
  expect(events().filter(({ type }) => type === 'run_start')).toHaveLength(1)
})

test('a disk with room for one batch only: however often it fails again, one timer waits', () => {
  const clock = fakeClock()
  const text = new EventText(identity, () => clock.wallMs())
  let room = 0
  const record = soloRecord(text, start, clock, (lines) => {
    if (lines.length === 0) return true
    if (room === 0) throw new HeimdallError('STORE_FULL', 'no space left')
    room -= 1
    return true
  })
  // As a shim does: when events can be written again, it says how it is.
  const onTrouble = (error: Error | null): void => {
    if (error !== null) return
    text.shimHealth({})
    writer.added()
  }
  const writer = new EventWriter({ record, lines: text.lines, clock, onTrouble })
  text.shimHealth({})
  writer.added()
  clock.advance(10)
  // For run_start and the first event.
  room = 2
  clock.advance(EVENT_RETRY_MS)
  expect(writer.isFailing).toBe(true)
  expect(clock.pending()).toBe(1)
})

test('a record that stays full does not hold up the end, and the loss is reported', async () => {
  const { call, reader, writer, clock, troubles } = setUp()
  reader.state = 'full'
  for (let n = 0; n < 10; n += 1) call(n)
  const closing = writer.close('SUCCEEDED')
  await clock.advanceAsync(5_000)
  await closing
  expect(writer.eventsLost).toBe(30)
  expect(troubles.length).toBeGreaterThan(0)
  expect(clock.pending()).toBe(0)
})

test('a reader that stands still is waited for once, not by every call; when it reads again, so is it', async () => {
  const { clock, writer, reader, troubles, call } = setUp()
  reader.state = 'holds'
  call(1)
  const turn = writer.turn(() => undefined)
  expect(turn).toBeInstanceOf(Promise)
  for (let ms = 0; ms <= EVENT_STALL_MS; ms += 20) await clock.advanceAsync(20)
  expect(await turn).toBe('failing')
  expect(troubles).toEqual(['fails'])
  call(2)
  expect(writer.turn(() => undefined)).toBe('failing')
  for (let ms = 0; ms <= 3 * EVENT_RETRY_MS_MAX; ms += 100) await clock.advanceAsync(100)
  expect(troubles).toEqual(['fails'])
  reader.state = 'takes'
  for (let ms = 0; ms <= 3 * EVENT_RETRY_MS_MAX; ms += 100) await clock.advanceAsync(100)
  expect(troubles).toEqual(['fails', 'works again, 0 lost'])
  call(3)
  expect(writer.turn(() => undefined)).toBe('written')
})
