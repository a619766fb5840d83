// Output that has left the process when its promise resolves.
import { fstatSync, statSync, writeSync } from 'node:fs'
import type { Streams } from './main.ts'

/** An exit right after a large write to a pipe would cut it off; so would not waiting for a slow reader. */
export function print(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return send(stream, Buffer.from(`${text}\n`))
}

/**
 * The streams of this process, made when they are asked for: stdin alone costs a short command several milliseconds.
 * `print` writes to the descriptor itself as long as nobody has asked for stdout as a stream; what a full pipe does
 * not take at once goes through the stream.
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
      const rest = isStreamInUse ? bytes : await writeNow(1, bytes)
      if (rest.byteLength === 0) return
      isStreamInUse = true
      await send(process.stdout, rest)
    },
  }
}

/** `false` is no promise of a terminal: the stream is asked then. */
function leadsToNoTerminal(): boolean {
  try {
    const stats = fstatSync(1)
    return !stats.isCharacterDevice() || stats.rdev === statSync('/dev/null').rdev
  } catch (error) {
    // Closed, or a system without that device.
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}

async function send(stream: NodeJS.WriteStream, bytes: Buffer): Promise<void> {
  // The write itself tells of its failure; an event without a listener would end the process instead.
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined)
  const error = await new Promise<Error | null | undefined>((resolve) => {
    stream.write(bytes, resolve)
  })
  // The reader has gone (`heimdall … | head -1`): nobody is left to tell.
  if (error === null || error === undefined || ('code' in error && error.code === 'EPIPE')) return
  throw await unwritable(error)
}

/** Writes what the descriptor takes without waiting and returns the rest. */
async function writeNow(fd: number, bytes: Buffer): Promise<Buffer> {
  let sent = 0
  try {
    while (sent < bytes.byteLength) sent += writeSync(fd, bytes, sent)
  } catch (error) {
    // Not `isErrno`: the table of errors would be loaded to print a version.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EPIPE') return Buffer.alloc(0)
    if (code !== 'EAGAIN') throw await unwritable(error)
  }
  return bytes.subarray(sent)
}

/** Loaded when it is needed, as above. */
async function unwritable(error: unknown): Promise<Error> {
  const { outputUnwritable } = await import('../errors.ts')
  return outputUnwritable(error)
}
