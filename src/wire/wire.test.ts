// Bytes in, frames out: golden bytes for every frame, any chunking, and what a hostile peer may not do.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { HeimdallError } from '../errors.ts'
import { FRAME_PAYLOAD_BYTES_MAX } from '../limits.ts'
import {
  decodeAck,
  decodeExit,
  decodeGap,
  decodeReplayEnd,
  decodeResize,
  decodeSnapshot,
  decodeStatusResp,
} from './decode.ts'
import {
  encodeAck,
  encodeBytes,
  encodeExit,
  encodeFrame,
  encodeGap,
  encodeHeader,
  encodeJson,
  encodeReplayEnd,
  encodeResize,
  encodeSnapshot,
  encodeStatusResp,
} from './encode.ts'
import { FRAMES, type FrameName, type FrameNameFrom, type Sender, STATES, stateName } from './frames.ts'
import {
  type Info,
  parseErrorMessage,
  parseInfo,
  parseReport,
  parseState,
  parseSubscribe,
  PLAIN_SUBSCRIBE,
  type StateEvent,
} from './payloads.ts'
import { FrameReader } from './reader.ts'

interface Seen {
  readonly name: FrameName | number
  readonly hex: string
}

function read<S extends Sender>(sender: S, chunks: Iterable<Buffer>): { seen: Seen[]; reader: FrameReader<S> } {
  const seen: Seen[] = []
  const reader = new FrameReader(sender, {
    frame: (name: FrameNameFrom<S>, payload) => seen.push({ name, hex: payload.toString('hex') }),
    unknown: (tag) => seen.push({ name: tag, hex: '' }),
  })
  for (const chunk of chunks) reader.push(chunk)
  return { seen, reader }
}

const fromHex = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex')
const bytesOf = (buffer: Buffer): Buffer[] => [...buffer].map((byte) => Buffer.from([byte]))
const jsonHex = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('hex')

const state: StateEvent = {
  state: 'idle',
  state_ms: 5,
  needs_input: { value: true, source: 'osc', evidence: 'OSC 9' },
  cols: 80,
  rows: 24,
  title: 't',
}
const info: Info = {
  ...state,
  id: 'a',
  pid: 2,
  supervisor_pid: 1,
  command: ['sh'],
  cwd: '/',
  started_at: '2026-01-01T00:00:00Z',
  pinned: false,
  alive: true,
  exit_code: null,
  idle_ms: 1,
  modes: { bracketed_paste: true },
  offset_start: 0,
  offset_end: 9,
  input_bytes_pending: 0,
  clients: 1,
}

/** Every frame as bytes on the wire; the first eight are seed 001 to the letter. */
const GOLDEN: readonly (readonly [FrameName, Buffer, string])[] = [
  ['input', encodeFrame('input', Buffer.from('ls\r')), '01 00000003 6c730d'],
  ['subscribe', encodeFrame('subscribe'), '02 00000000'],
  ['status', encodeFrame('status'), '03 00000000'],
  ['resize', encodeResize({ cols: 220, rows: 50 }), '04 00000004 00dc 0032'],
  ['kill', encodeFrame('kill'), '05 00000000'],
  ['output', encodeFrame('output', Buffer.from('hi')), '81 00000002 6869'],
  [
    'statusResp',
    encodeStatusResp({ pid: 4242, idleMs: 1500, alive: true, state: STATES.tool_use, stateMs: 65_536 }),
    '82 0000000f 00001092 000005dc 01 03 00010000 00',
  ],
  ['exit', encodeExit(-1), '83 00000004 ffffffff'],
  ['info', encodeFrame('info'), '40 00000000'],
  [
    'report',
    encodeJson('report', { source: 'hook', needs_input: true }),
    `41 00000024 ${jsonHex({ source: 'hook', needs_input: true })}`,
  ],
  ['detach', encodeFrame('detach'), '42 00000000'],
  ['rename', encodeFrame('rename', Buffer.from('ab')), '43 00000002 6162'],
  ['colors', encodeFrame('colors', Buffer.from('{}')), '44 00000002 7b7d'],
  ['keep', encodeFrame('keep'), '45 00000000'],
  ['secrets', encodeFrame('secrets', Buffer.from('{}')), '46 00000002 7b7d'],
  ['caller', encodeFrame('caller', Buffer.from('{}')), '47 00000002 7b7d'],
  ['activity', encodeFrame('activity'), '8b 00000000'],
  ['gap', encodeGap({ droppedBytes: 1, nextOffset: 0x1_0000_0002 }), '84 00000010 0000000000000001 0000000100000002'],
  ['state', encodeJson('state', state), `85 0000007c ${jsonHex(state)}`],
  ['replayEnd', encodeReplayEnd(255), '86 00000008 00000000000000ff'],
  [
    'snapshot',
    Buffer.concat([
      ...encodeSnapshot({ offset: 3, size: { cols: 80, rows: 24 }, isWhole: true, bytes: Buffer.from('x') }),
    ]),
    '87 0000000e 01 0000000000000003 0050 0018 78',
  ],
  [
    'error',
    encodeJson('error', { code: 'READ_ONLY', message: 'no' }),
    `88 00000023 ${jsonHex({ code: 'READ_ONLY', message: 'no' })}`,
  ],
  ['ack', encodeAck(7), '89 00000008 0000000000000007'],
  ['infoResp', encodeJson('infoResp', info), `8a 0000017d ${jsonHex(info)}`],
]

describe('golden bytes (seed 001, message types)', () => {
  test('the table has a golden frame for every entry, and no tag twice', () => {
    expect(GOLDEN.map(([name]) => name).sort()).toEqual(Object.keys(FRAMES).sort())
    const tags = Object.values(FRAMES).map(({ tag }) => tag)
    expect(new Set(tags).size).toBe(tags.length)
    for (const { tag, sender } of Object.values(FRAMES)) expect(tag >= 0x80).toBe(sender === 'supervisor')
  })

  test.each(GOLDEN)('%s', (name, encoded, golden) => {
    expect(encoded.toString('hex')).toBe(fromHex(golden).toString('hex'))
    const { sender } = FRAMES[name]
    const wire = sender === 'supervisor' ? Buffer.concat([Buffer.from([0]), encoded]) : encoded
    const expected = [{ name, hex: encoded.subarray(5).toString('hex') }]
    expect(read(sender, [wire]).seen).toEqual(expected)
    expect(read(sender, bytesOf(wire)).seen).toEqual(expected)
  })

  test('state bytes and their names (seed 001, status payload)', () => {
    expect(STATES).toEqual({ idle: 0, thinking: 1, streaming: 2, tool_use: 3, active: 4, dead: 255 })
    expect(stateName(0xff)).toBe('dead')
    expect(stateName(9)).toBe('unknown(9)')
  })

  test('payloads come back as the values that went in', () => {
    const payload = (frame: Buffer): Buffer => frame.subarray(5)
    expect(decodeResize(payload(encodeResize({ cols: 65_535, rows: 1 })))).toEqual({ cols: 65_535, rows: 1 })
    const status = { pid: 1, idleMs: 2, alive: false, state: 255, stateMs: 3 }
    expect(decodeStatusResp(payload(encodeStatusResp(status)))).toEqual(status)
    expect(decodeStatusResp(payload(encodeStatusResp({ ...status, idleMs: 2 ** 40, stateMs: -1 })))).toMatchObject({
      idleMs: 0xffff_ffff,
      stateMs: 0,
    })
    expect(decodeExit(payload(encodeExit(-2_147_483_648)))).toBe(-2_147_483_648)
    const gap = { droppedBytes: 2 ** 33 + 1, nextOffset: Number.MAX_SAFE_INTEGER }
    expect(decodeGap(payload(encodeGap(gap)))).toEqual(gap)
    expect(decodeReplayEnd(payload(encodeReplayEnd(12)))).toBe(12)
    expect(decodeAck(payload(encodeAck(2 ** 40)))).toBe(2 ** 40)
    expect(parseState(payload(encodeJson('state', state)))).toEqual(state)
    expect(parseInfo(payload(encodeJson('infoResp', info)))).toEqual(info)
    expect(parseErrorMessage(payload(encodeJson('error', { code: 'A', message: 'b' })))).toEqual({
      code: 'A',
      message: 'b',
    })
    expect(() => decodeAck(Buffer.alloc(8, 0xff))).toThrow(/beyond 2\^53/)
  })

  test('a screen larger than a frame is several snapshots, the last one marked', () => {
    const bytes = Buffer.alloc(FRAME_PAYLOAD_BYTES_MAX + 5, 'x')
    const frames = [...encodeSnapshot({ offset: 1, size: { cols: 1, rows: 2 }, isWhole: false, bytes })]
    const parts = frames.map((frame) => decodeSnapshot(frame.subarray(5)))
    expect(parts.map(({ isLast }) => isLast)).toEqual([false, true])
    expect(Buffer.concat(parts.map((part) => part.bytes)).equals(bytes)).toBe(true)
    const empty = [...encodeSnapshot({ offset: 1, size: { cols: 1, rows: 2 }, isWhole: true, bytes: Buffer.alloc(0) })]
    expect(empty).toHaveLength(1)
  })

  test('large bytes go out as views, not copies', () => {
    const bytes = Buffer.alloc(2 * FRAME_PAYLOAD_BYTES_MAX + 1)
    const parts = [...encodeBytes('input', bytes)]
    expect(parts.map((part) => part.length)).toEqual([5, 1 << 20, 5, 1 << 20, 5, 1])
    expect(parts[1]?.buffer).toBe(bytes.buffer)
  })
})

describe('reader', () => {
  test('any frames in any chunking come out the same, never holding more than twice what arrived', () => {
    const supervisorNames = (Object.keys(FRAMES) as FrameName[]).filter(
      (name) => FRAMES[name].sender === 'supervisor' && FRAMES[name].size === 'any',
    )
    const frame = fc.oneof(
      fc
        .tuple(fc.constantFrom(...supervisorNames), fc.uint8Array({ maxLength: 3_000 }))
        .map(([name, payload]) => encodeFrame(name, payload)),
      fc.constantFrom(...GOLDEN.filter(([name]) => FRAMES[name].sender === 'supervisor').map(([, encoded]) => encoded)),
      fc.uint8Array({ maxLength: 300 }).map((payload) => Buffer.concat([fromHex('f0'), u32(payload.length), payload])),
    )
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 700 })), (frames, cuts) => {
        const wire = Buffer.concat([Buffer.from([0]), ...frames])
        const whole = read('supervisor', [wire]).seen
        let arrived = 0
        const { seen } = (() => {
          const collected: Seen[] = []
          const reader = new FrameReader('supervisor', {
            frame: (name, payload) => collected.push({ name, hex: payload.toString('hex') }),
            unknown: (tag) => collected.push({ name: tag, hex: '' }),
          })
          for (const chunk of chunked(wire, cuts)) {
            reader.push(chunk)
            arrived += chunk.length
            if (reader.heldBytes > Math.max(1 << 10, 2 * arrived)) throw new Error(`holds ${reader.heldBytes}`)
          }
          expect(reader.isBetweenFrames).toBe(true)
          return { seen: collected }
        })()
        expect(seen).toEqual(whole)
        expect(whole).toHaveLength(frames.length)
      }),
      { numRuns: scaled(100, 20_000) },
    )
  })

  test('arbitrary bytes never throw anything but a wire error, and never take more than the cap', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Sender>('client', 'supervisor'),
        fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 20 }),
        (sender, chunks) => {
          const reader = new FrameReader(sender, { frame: () => undefined })
          for (const chunk of chunks) {
            try {
              reader.push(Buffer.from(chunk))
            } catch (error) {
              expect(error).toBeInstanceOf(HeimdallError)
            }
            expect(reader.heldBytes).toBeLessThanOrEqual(1 << 11)
          }
        },
      ),
      { numRuns: scaled(300, 100_000) },
    )
  })

  test('a payload of exactly the cap, one byte at a time at both ends, holds at most the cap', () => {
    const payload = Buffer.alloc(FRAME_PAYLOAD_BYTES_MAX, 'a')
    let heldMax = 0
    const seen: number[] = []
    const reader = new FrameReader('client', { frame: (_, bytes) => seen.push(bytes.length) })
    const push = (chunk: Buffer): void => {
      reader.push(chunk)
      heldMax = Math.max(heldMax, reader.heldBytes)
    }
    push(encodeHeader('input', payload.length))
    for (const chunk of bytesOf(payload.subarray(0, 2_000))) push(chunk)
    for (let at = 2_000; at < payload.length; at += 50_000) push(payload.subarray(at, at + 50_000))
    expect(seen).toEqual([FRAME_PAYLOAD_BYTES_MAX])
    expect(heldMax).toBeLessThanOrEqual(FRAME_PAYLOAD_BYTES_MAX)
    expect(reader.heldBytes).toBe(0)
  })

  test.each([
    ['4 GiB of input', 'client', '01 ffffffff', 'WIRE_FRAME_TOO_LARGE'],
    ['one byte over the cap', 'client', '01 00100001', 'WIRE_FRAME_TOO_LARGE'],
    ['an unknown frame over the cap', 'client', '7f 00100001', 'WIRE_FRAME_TOO_LARGE'],
    ['RESIZE of 3 bytes', 'client', '04 00000003', 'WIRE_PAYLOAD_SIZE'],
    ['RESIZE of 5 bytes', 'client', '04 00000005', 'WIRE_PAYLOAD_SIZE'],
    ['REPORT without a payload', 'client', '41 00000000', 'WIRE_PAYLOAD_SIZE'],
    ['STATUS_RESP of 14 bytes', 'supervisor', '00 82 0000000e', 'WIRE_PAYLOAD_SIZE'],
    ['EXIT of 8 bytes', 'supervisor', '00 83 00000008', 'WIRE_PAYLOAD_SIZE'],
    ['SNAPSHOT of 12 bytes', 'supervisor', '00 87 0000000c', 'WIRE_PAYLOAD_SIZE'],
    ['text mode', 'supervisor', '01', 'WIRE_MODE_UNKNOWN'],
  ] as const)('%s is refused on the header, and stays refused', (_, sender, hex, code) => {
    const reader = new FrameReader(sender, { frame: () => undefined })
    expect(() => reader.push(fromHex(hex))).toThrow(expect.objectContaining({ code }) as Error)
    expect(() => reader.push(Buffer.from([0]))).toThrow(expect.objectContaining({ code }) as Error)
    expect(reader.heldBytes).toBe(0)
  })

  test('unknown tags, and known ones from the wrong side, are skipped with their payload (seed 001)', () => {
    const wire = fromHex('60 00000003 010203  81 00000001 41  01 00000001 42')
    const { seen } = read('client', bytesOf(wire))
    expect(seen).toEqual([
      { name: 0x60, hex: '' },
      { name: 0x81, hex: '' },
      { name: 'input', hex: '42' },
    ])
  })

  test('a payload on STATUS, KILL or INFO is ignored, and a large unknown one is never kept', () => {
    const { seen, reader } = read('client', bytesOf(fromHex('03 00000002 aaaa 05 00000001 bb 40 00000001 cc')))
    expect(seen).toEqual([
      { name: 'status', hex: '' },
      { name: 'kill', hex: '' },
      { name: 'info', hex: '' },
    ])
    reader.push(fromHex('70 00100000'))
    for (let left = 1 << 20; left > 0; left -= 1 << 16) {
      reader.push(Buffer.alloc(1 << 16))
      expect(reader.heldBytes).toBe(0)
    }
    expect(reader.isBetweenFrames).toBe(true)
  })

  test('a frame that was cut off is known to be cut off', () => {
    const { reader } = read('client', [fromHex('01 00000005 616263')])
    expect(reader.isBetweenFrames).toBe(false)
    expect(read('supervisor', []).reader.isBetweenFrames).toBe(false)
  })
})

describe('payloads from clients', () => {
  const parse = (text: string): ReturnType<typeof parseSubscribe> => parseSubscribe(Buffer.from(text))

  test('SUBSCRIBE: empty is plain, options are checked, unknown options are ignored', () => {
    expect(parse('')).toEqual(PLAIN_SUBSCRIBE)
    expect(parse('{}')).toEqual(PLAIN_SUBSCRIBE)
    expect(parse('{"from":"snapshot","gaps":true,"later":1}')).toEqual({
      ...PLAIN_SUBSCRIBE,
      from: 'snapshot',
      gaps: true,
    })
    expect(parse('{"from":4096}').from).toBe(4096)
  })

  test.each(['x', '[]', 'null', '1', '{"from":-1}', '{"from":1.5}', '{"from":"end"}', '{"readOnly":"yes"}', '\u0000'])(
    'SUBSCRIBE %j is refused',
    (text) => expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'WIRE_PAYLOAD_INVALID' }) as Error),
  )

  test('SUBSCRIBE reads own properties only', () => {
    expect(parse('{"__proto__":{"readOnly":true}}').readOnly).toBe(false)
  })

  test('REPORT is from a hook, with a boolean', () => {
    const report = (text: string): unknown => parseReport(Buffer.from(text))
    expect(report('{"source":"hook","needs_input":false,"evidence":"Stop"}')).toEqual({
      source: 'hook',
      needs_input: false,
      evidence: 'Stop',
    })
    for (const bad of ['{}', '{"source":"hook"}', '{"source":"me","needs_input":true}'])
      expect(() => report(bad)).toThrow(/REPORT/)
    expect(() => report('{"source":"hook","needs_input":true,"evidence":1}')).toThrow(/evidence/)
    const back = { source: 'hook', needs_input: false, evidence: 'May it?', takes_back: true }
    expect(report(JSON.stringify(back))).toEqual(back)
    expect(() => report('{"source":"hook","needs_input":false,"takes_back":1}')).toThrow(/takes_back/)
  })

  test('an INFO without a field that we show is refused by name', () => {
    const { command: _, ...rest } = info
    expect(() => parseInfo(Buffer.from(JSON.stringify(rest)))).toThrow(/command/)
    expect(() => parseInfo(Buffer.from(JSON.stringify({ ...info, needs_input: null })))).toThrow(/needs_input/)
  })
})

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function* chunked(wire: Buffer, cuts: readonly number[]): Generator<Buffer> {
  let at = 0
  for (let i = 0; at < wire.length; i += 1) {
    const end = at + (cuts[i % Math.max(1, cuts.length)] ?? 1)
    yield wire.subarray(at, end)
    at = end
  }
}
