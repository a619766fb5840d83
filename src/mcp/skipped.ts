// A message that is too long to keep: its first and last bytes, in which the id to answer with can mostly be found.
import { MCP_SKIPPED_HEAD_BYTES, MCP_SKIPPED_TAIL_BYTES } from '../limits.ts'

export class Skipped {
  readonly reason: string
  #head = Buffer.alloc(0)
  #tail = Buffer.alloc(0)

  constructor(reason: string) {
    this.reason = reason
  }

  push(bytes: Buffer): void {
    const room = MCP_SKIPPED_HEAD_BYTES - this.#head.length
    if (room > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, room)])
    const last = bytes.subarray(-MCP_SKIPPED_TAIL_BYTES)
    this.#tail = Buffer.concat([this.#tail, last]).subarray(-MCP_SKIPPED_TAIL_BYTES)
  }

  /** Clients write the id before what is long, or at the very end. */
  get id(): string | number | null {
    return idAtTop(this.#head.toString('utf8')) ?? idAtEnd(this.#tail.toString('utf8')) ?? null
  }
}

const ID = String.raw`("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)`
const VALUE = new RegExp(String.raw`^\s*:\s*${ID}\s*[,}]`)
/** One closing brace only: a second one would close something inside. */
const AT_END = new RegExp(String.raw`"id"\s*:\s*${ID}\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*$`)

function idAtTop(text: string): string | number | undefined {
  let depth = 0
  for (let at = 0; at < text.length;) {
    const char = text[at] ?? ''
    if (char !== '"') {
      if (char === '{' || char === '[') depth += 1
      if (char === '}' || char === ']') depth -= 1
      at += 1
      continue
    }
    const end = endOfString(text, at)
    if (end === undefined) return undefined
    const value = depth === 1 && text.slice(at, end) === '"id"' ? VALUE.exec(text.slice(end, end + 1_000)) : null
    if (value !== null) return parsed(value[1])
    at = end
  }
  return undefined
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at + 1
  }
  return undefined
}

function idAtEnd(text: string): string | number | undefined {
  return parsed(AT_END.exec(text)?.[1])
}

function parsed(text: string | undefined): string | number | undefined {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as string | number
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
