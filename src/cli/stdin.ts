// Standard input of a command: all of it, its lines, or one typed line, each with a bound.
import { takeInput } from '../user-terminal.ts'

/** All of it. Past `bytesMax` reading stops, and what is returned is longer than that, so that the caller can tell. */
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
 * Each line without its newline; a last line without one counts. Of a line longer than `bytesMax` the rest is read
 * past, and what is given out is longer than that, so that the caller can tell.
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
 * One line as the terminal hands it over; nothing at the end of input, or when `signal` aborts. Not by readline, which
 * keeps what comes after it.
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
