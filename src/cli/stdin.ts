// Standard input of a command: all of it, its lines, or one typed line, each with a bound.
import { takeInput } from '../user-terminal.ts'

/** Reads to the end. Past `bytesMax` it stops and returns more than `bytesMax` bytes, which the caller checks. */
export async function readAll(stdin: NodeJS.ReadStream, bytesMax = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Buffer[] = []
  let total = 0
  for await (const chunk of stdin) {
    chunks.push(chunk as Buffer)
    total += (chunk as Buffer).byteLength
    if (total > bytesMax) break
  }
  return Buffer.concat(chunks)
}

/**
 * Yields each line without its newline; the last line needs none. A line longer than `bytesMax` is cut to one byte more
 * than that, which the caller checks.
 */
export async function* readLines(stdin: AsyncIterable<Buffer | string>, bytesMax: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  const keep = (part: Buffer): void => {
    if (length <= bytesMax) parts.push(part.subarray(0, bytesMax + 1 - length))
    length += part.byteLength
  }
  for await (const data of stdin) {
    const chunk = Buffer.from(data)
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      keep(chunk.subarray(start, end))
      yield Buffer.concat(parts)
      parts = []
      length = 0
      start = end + 1
    }
    if (start < chunk.byteLength) keep(chunk.subarray(start))
  }
  if (length > 0) yield Buffer.concat(parts)
}

/**
 * One line from a terminal; undefined at the end of input or when `signal` aborts. Not with readline, which buffers the
 * input that follows.
 */
export function readTypedLine(stdin: NodeJS.ReadStream, signal?: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (line: string | undefined): void => {
      release()
      signal?.removeEventListener('abort', onEnd)
      resolve(line)
    }
    const onEnd = (): void => settle(undefined)
    const release = takeInput(stdin, (chunk) => settle(chunk.toString('utf8').trim()), onEnd)
    signal?.addEventListener('abort', onEnd)
    if (signal?.aborted === true) onEnd()
  })
}
