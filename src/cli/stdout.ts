// Writes to standard output and resolves once the bytes have left the process.
import { fstatSync, statSync, writeSync } from 'node:fs'
import { isErrno, isSystemError, outputUnwritable } from '../errors.ts'
import type { Streams } from './main.ts'

/** An exit right after a large write to a pipe would cut it off; so would not waiting for a slow reader. */
export function print(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return send(stream, Buffer.from(`${text}\n`))
}

/**
 * The streams of this process, created on first use: stdin alone costs a short command several milliseconds. `print`
 * writes to the descriptor until the stream is in use; what a full pipe does not take goes through the stream.
 */
export function processStreams(): Required<Streams> {
  let isStreamInUse = false
  return {
    get stdin() {
      return process.stdin
    },
    get stdout() {
      isStreamInUse = true
      return process.stdout
    },
    get stderr() {
      return process.stderr
    },
    isPiped: leadsToNoTerminal,
    async print(text) {
      const bytes = Buffer.from(`${text}\n`)
      const rest = isStreamInUse ? bytes : writeNow(1, bytes)
      if (rest.byteLength === 0) return
      isStreamInUse = true
      await send(process.stdout, rest)
    },
  }
}

/** False where only the stream can tell. */
function leadsToNoTerminal(): boolean {
  try {
    const stats = fstatSync(1)
    return !stats.isCharacterDevice() || stats.rdev === statSync('/dev/null').rdev
  } catch (error) {
    // Closed, or a system without that device.
    if (isSystemError(error)) return false
    throw error
  }
}

async function send(stream: NodeJS.WriteStream, bytes: Buffer): Promise<void> {
  // The callback of the write reports the failure; an event without a listener would end the process.
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined)
  const error = await new Promise<Error | null | undefined>((resolve) => {
    stream.write(bytes, resolve)
  })
  // The reader has gone (`heimdall … | head -1`).
  if (error === null || error === undefined || isErrno(error, 'EPIPE')) return
  throw outputUnwritable(error)
}

/** Writes what the descriptor takes without waiting and returns the rest. */
function writeNow(fd: number, bytes: Buffer): Buffer {
  let sent = 0
  try {
    while (sent < bytes.byteLength) sent += writeSync(fd, bytes, sent)
  } catch (error) {
    if (isErrno(error, 'EPIPE')) return Buffer.alloc(0)
    if (!isErrno(error, 'EAGAIN')) throw outputUnwritable(error)
  }
  return bytes.subarray(sent)
}
