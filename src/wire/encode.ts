// Frames to bytes. Headers can be written on their own, so that a large payload is never copied to be sent.
import { HeimdallError } from '../errors.ts'
import { FRAME_PAYLOAD_BYTES_MAX } from '../limits.ts'
import { FRAMES, type FrameName, HEADER_BYTES } from './frames.ts'
import type {
  CalledAs,
  TerminalColors,
  ErrorMessage,
  Gap,
  Info,
  Report,
  Size,
  SnapshotPart,
  StateEvent,
  Status,
  SubscribeOptions,
} from './payloads.ts'

const EMPTY = Buffer.alloc(0)

/** The five bytes before a payload, for `cork`/`writev`: header and payload go out without being joined. */
export function encodeHeader(name: FrameName, length: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  writeHeader(header, 0, name, length)
  return header
}

/** Writes a header into a buffer that the caller gathers frames in. */
export function writeHeader(target: Buffer, at: number, name: FrameName, length: number): void {
  if (length > FRAME_PAYLOAD_BYTES_MAX)
    throw new HeimdallError('WIRE_FRAME_TOO_LARGE', `frame of ${length} bytes, limit ${FRAME_PAYLOAD_BYTES_MAX}`)
  target[at] = FRAMES[name].tag
  target.writeUInt32BE(length, at + 1)
}

/** Header and payload in one buffer; for small frames. */
export function encodeFrame(name: FrameName, payload: Uint8Array = EMPTY): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length)
  writeHeader(frame, 0, name, payload.length)
  frame.set(payload, HEADER_BYTES)
  return frame
}

/** Bytes of any length as frames within the cap: header, payload, header, payload … with no byte copied. */
export function* encodeBytes(name: 'input' | 'output', bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += FRAME_PAYLOAD_BYTES_MAX) {
    const part = bytes.subarray(at, at + FRAME_PAYLOAD_BYTES_MAX)
    yield encodeHeader(name, part.length)
    yield part
  }
}

export const encodeResize = ({ cols, rows }: Size): Buffer =>
  fixed('resize', (payload) => {
    payload.writeUInt16BE(cols, 0)
    payload.writeUInt16BE(rows, 2)
  })

const U32_MAX = 0xffff_ffff

/** Durations past 49 days stay at the largest value instead of starting again at 0. */
export const encodeStatusResp = ({ pid, idleMs, alive, state, stateMs }: Status): Buffer =>
  fixed('statusResp', (payload) => {
    payload.writeUInt32BE(pid, 0)
    payload.writeUInt32BE(clampU32(idleMs), 4)
    payload.writeUInt8(alive ? 1 : 0, 8)
    payload.writeUInt8(state, 9)
    payload.writeUInt32BE(clampU32(stateMs), 10)
    payload.writeUInt8(0, 14)
  })

const clampU32 = (ms: number): number => Math.min(U32_MAX, Math.max(0, Math.floor(ms)))

export const encodeExit = (code: number): Buffer => fixed('exit', (payload) => payload.writeInt32BE(code, 0))

export const encodeGap = ({ droppedBytes, nextOffset }: Gap): Buffer =>
  fixed('gap', (payload) => {
    writeU64(payload, 0, droppedBytes)
    writeU64(payload, 8, nextOffset)
  })

export const encodeReplayEnd = (nextOffset: number): Buffer =>
  fixed('replayEnd', (payload) => writeU64(payload, 0, nextOffset))

export const encodeAck = (writtenBytes: number): Buffer => fixed('ack', (payload) => writeU64(payload, 0, writtenBytes))

const SNAPSHOT_HEAD_BYTES = FRAMES.snapshot.size.min

/** One SNAPSHOT frame, or several where the drawing is larger than a frame; the last carries the flag. */
export function* encodeSnapshot({ offset, size, bytes, isWhole }: Omit<SnapshotPart, 'isLast'>): Generator<Buffer> {
  const partBytesMax = FRAME_PAYLOAD_BYTES_MAX - SNAPSHOT_HEAD_BYTES
  let at = 0
  do {
    const part = bytes.subarray(at, at + partBytesMax)
    at += part.length
    const frame = Buffer.allocUnsafe(HEADER_BYTES + SNAPSHOT_HEAD_BYTES + part.length)
    writeHeader(frame, 0, 'snapshot', SNAPSHOT_HEAD_BYTES + part.length)
    frame.writeUInt8((at >= bytes.length ? 1 : 0) | (isWhole ? 0 : 2), 5)
    writeU64(frame, 6, offset)
    frame.writeUInt16BE(size.cols, 14)
    frame.writeUInt16BE(size.rows, 16)
    frame.set(part, HEADER_BYTES + SNAPSHOT_HEAD_BYTES)
    yield frame
  } while (at < bytes.length)
}

/** Payloads that are JSON, each with the type of its frame. */
interface JsonPayloads {
  readonly subscribe: Partial<SubscribeOptions>
  readonly report: Report
  readonly colors: TerminalColors
  readonly secrets: { readonly values: readonly string[] }
  readonly caller: CalledAs
  readonly state: StateEvent
  readonly error: ErrorMessage
  readonly infoResp: Info
}

export function encodeJson<N extends keyof JsonPayloads>(name: N, value: JsonPayloads[N]): Buffer {
  return encodeFrame(name, Buffer.from(JSON.stringify(value)))
}

function fixed(name: FrameName, fill: (payload: Buffer) => void): Buffer {
  const { size } = FRAMES[name]
  if (typeof size !== 'number') throw new HeimdallError('INTERNAL', `${name} has no fixed size`)
  const frame = Buffer.allocUnsafe(HEADER_BYTES + size)
  writeHeader(frame, 0, name, size)
  fill(frame.subarray(HEADER_BYTES))
  return frame
}

/** Offsets are counted as numbers: 2^53 bytes are some 3,000 years of a busy terminal. */
function writeU64(target: Buffer, at: number, value: number): void {
  target.writeUInt32BE(Math.floor(value / 0x1_0000_0000), at)
  target.writeUInt32BE(value % 0x1_0000_0000, at + 4)
}
