// Fixed-size payloads to values. The reader has checked the length already.
import { HeimdallError } from '../errors.ts'
import { FRAMES } from './frames.ts'
import type { Gap, Size, SnapshotPart, Status } from './payloads.ts'

export function decodeResize(payload: Buffer): Size {
  return { cols: payload.readUInt16BE(0), rows: payload.readUInt16BE(2) }
}

export function decodeStatusResp(payload: Buffer): Status {
  return {
    pid: payload.readUInt32BE(0),
    idleMs: payload.readUInt32BE(4),
    alive: payload.readUInt8(8) !== 0,
    state: payload.readUInt8(9),
    stateMs: payload.readUInt32BE(10),
  }
}

export function decodeExit(payload: Buffer): number {
  return payload.readInt32BE(0)
}

export function decodeGap(payload: Buffer): Gap {
  return { droppedBytes: readU64('GAP', payload, 0), nextOffset: readU64('GAP', payload, 8) }
}

export function decodeReplayEnd(payload: Buffer): number {
  return readU64('REPLAY_END', payload, 0)
}

export function decodeAck(payload: Buffer): number {
  return readU64('ACK', payload, 0)
}

export function decodeSnapshot(payload: Buffer): SnapshotPart {
  return {
    isLast: (payload.readUInt8(0) & 1) === 1,
    isWhole: (payload.readUInt8(0) & 2) === 0,
    offset: readU64('SNAPSHOT', payload, 1),
    size: { cols: payload.readUInt16BE(9), rows: payload.readUInt16BE(11) },
    bytes: payload.subarray(FRAMES.snapshot.size.min),
  }
}

function readU64(label: string, payload: Buffer, at: number): number {
  const value = payload.readUInt32BE(at) * 0x1_0000_0000 + payload.readUInt32BE(at + 4)
  if (Number.isSafeInteger(value)) return value
  throw new HeimdallError('WIRE_PAYLOAD_INVALID', `${label}: an offset beyond 2^53`)
}
