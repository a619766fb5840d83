// Lines of a runtime's stream, as they come, with a bound on each.
import { FRAME_BYTES_MAX } from '../../limits.ts'

export class FrameLines {
  #rest = Buffer.alloc(0)
  #isSkipping = false

  /** Whole lines that are JSON objects; anything else a runtime writes is passed over, and a line past the bound with it. */
  push(chunk: Buffer): Record<string, unknown>[] {
    const frames: Record<string, unknown>[] = []
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([this.#rest, chunk.subarray(from, end)])
      from = end + 1
      this.#rest = Buffer.alloc(0)
      if (this.#isSkipping) this.#isSkipping = false
      else frames.push(...frameOf(line))
    }
    if (this.#isSkipping) return frames
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(from)])
    if (this.#rest.length > FRAME_BYTES_MAX) {
      this.#isSkipping = true
      this.#rest = Buffer.alloc(0)
    }
    return frames
  }
}

function frameOf(line: Buffer): Record<string, unknown>[] {
  const text = line.toString('utf8').trim()
  if (!text.startsWith('{')) return []
  try {
    return [JSON.parse(text) as Record<string, unknown>]
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

export const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : 0

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
