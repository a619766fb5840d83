// A client's socket without the costs of a stream per key: read into memory that all clients share, written at once while
// nothing waits. The only file that knows a socket's handle.
import { writeSync, writevSync } from 'node:fs'
import { Socket } from 'node:net'
import { isSystemError } from '../../errors.ts'

/** What Node has on every socket, says nowhere, and goes without only after the end. */
interface Handle {
  readonly fd?: number
}

interface Handled {
  _handle?: Handle | null
}

/** One read of a client at most. Nobody keeps a view of it: the next read of any client is into the same memory. */
const room = Buffer.allocUnsafeSlow(64 << 10)

/**
 * The connection that was accepted paused, to be read by `take`: a stream would allocate for each read. `take` copies
 * what it keeps. Paused, until it is resumed.
 */
export function readShared(accepted: Socket, take: (chunk: Buffer) => void): Socket {
  const from = accepted as unknown as Handled
  const handle = from._handle
  if (handle === null || handle === undefined) return accepted.on('data', take)
  const socket = new Socket({
    handle,
    pauseOnCreate: true,
    highWaterMark: accepted.writableHighWaterMark,
    onread: {
      buffer: room,
      callback: (bytes: number) => {
        take(room.subarray(0, bytes))
        return true
      },
    },
  } as ConstructorParameters<typeof Socket>[0])
  // Without its handle nothing of it is left but its place in the server's count.
  from._handle = null
  accepted.destroy()
  return socket
}

/** Gives the kernel what it takes now and returns the rest. Only while nothing waits in the socket's stream. */
export function writeNow(socket: Socket, parts: readonly Buffer[]): readonly Buffer[] {
  const fd = (socket as unknown as Handled)._handle?.fd ?? -1
  return fd < 0 ? parts : behind(parts, taken(fd, parts))
}

function taken(fd: number, parts: readonly Buffer[]): number {
  try {
    const [only] = parts
    return parts.length === 1 && only !== undefined ? writeSync(fd, only) : writevSync(fd, parts)
  } catch (error) {
    // A full socket, or one whose peer left: the stream meets the same and knows what follows.
    if (isSystemError(error)) return 0
    throw error
  }
}

function behind(parts: readonly Buffer[], bytes: number): readonly Buffer[] {
  let left = bytes
  const first = parts.findIndex((part) => {
    if (left < part.length) return true
    left -= part.length
    return false
  })
  return first < 0 ? [] : parts.slice(first).map((part, n) => (n === 0 ? part.subarray(left) : part))
}
