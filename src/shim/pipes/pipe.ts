// The ends of pipes without the costs of a stream: read into memory of our own, written at once while nothing waits. The
// only file of the shim that knows a socket's handle.
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { isSystemError } from '../../errors.ts'
import { WRITE_NOW_BYTES_MAX } from '../../limits.ts'
import type { ReadRoom } from './read-room.ts'

/** What Node has on every socket, says nowhere, and goes without only after the end. */
interface Handled {
  _handle?: { readonly fd?: number; readStart?(): unknown } | null
}

/** The same pipe, read into `room`; its chunks are told as those of any stream. Only before anything was read of it. */
export function readInto(room: ReadRoom, stream: Readable): Readable {
  const from = stream as unknown as Handled
  const handle = from._handle
  if (handle === null || handle === undefined) return stream
  const socket = new Socket({
    handle,
    readable: true,
    writable: false,
    pauseOnCreate: true,
    onread: {
      buffer: () => room.next(),
      callback: (bytes: number) => {
        socket.emit('data', room.take(bytes))
        return true
      },
    },
  } as ConstructorParameters<typeof Socket>[0])
  // Without its handle nothing of it is left.
  from._handle = null
  stream.destroy()
  return socket
}

/** Writes as the stream does; what the kernel takes at once goes past it, because a few bytes cost the stream more than the kernel. */
export function writerTo(stream: Writable): (bytes: Buffer, onTaken?: () => void) => boolean {
  const at = stream as unknown as Handled
  return (bytes, onTaken) => {
    const fd = bytes.length > WRITE_NOW_BYTES_MAX || stream.writableLength > 0 ? -1 : (at._handle?.fd ?? -1)
    const sent = fd < 0 || !stream.writable ? 0 : taken(fd, bytes)
    if (sent < bytes.length) return stream.write(sent === 0 ? bytes : bytes.subarray(sent), onTaken)
    onTaken?.()
    return true
  }
}

function taken(fd: number, bytes: Buffer): number {
  try {
    return writeSync(fd, bytes)
  } catch (error) {
    // A full pipe, or one whose reader left: the stream meets the same and knows what follows.
    if (isSystemError(error)) return 0
    throw error
  }
}

/**
 * Node reads nothing from a child's input, and so learns only at the next write that nobody has it any more. Calls that
 * lie in it unread when the server closes it would wait for ever: read, the socket fails with ECONNRESET at that moment,
 * and ends quietly where the server has read all.
 */
export function hearHangup(stdin: Writable): void {
  ;(stdin as unknown as Handled)._handle?.readStart?.()
}
