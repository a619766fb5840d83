// One page of a server's list of tools, as it was sent: the only reading of it, for whoever wants to know what a server says of its tools.
import { createHash } from 'node:crypto'
import { canonicalBytes } from '../../canonical/canonical.ts'
import { childrenOf } from '../../canonical/children.ts'
import { HeimdallError } from '../../errors.ts'
import { SCAN_TOKEN_BYTES_MAX } from '../../limits.ts'
import { fold } from '../../policy/bundle/likeness.ts'
import { isObject } from '../../plain-object.ts'

/** A tool as its server defines it: all that it says, known members and others, because a host may show any of it to a model. */
export interface ToolDefinition {
  readonly name: string
  readonly value: Readonly<Record<string, unknown>>
  /** In canonical JSON; as it was sent where it has no such form. */
  readonly text: string
  /** SHA-256 of the canonical text; of what has none, of the bytes, with a word before it. */
  readonly hash: string
}

export interface ToolList {
  readonly tools: readonly ToolDefinition[]
  /** Where the next page begins; null on the last. */
  readonly nextCursor: string | null
}

/** Null where `result` has no tools; a word where it is no JSON: what comes from a server was looked at less closely than that. */
export function readToolList(result: Buffer): ToolList | 'unreadable' | null {
  const whole = parsed(result)
  if (whole === undefined) return 'unreadable'
  if (!isObject(whole)) return null
  // Every member that some reader takes for the list: named twice, or in other letters.
  const lists = childrenOf(result)
    .filter(({ name }) => fold(name) === 'tools')
    .map(({ from, to }) => result.subarray(from, to))
    .filter((bytes) => bytes[0] === 0x5b)
  if (lists.length === 0) return null
  const cursor = whole['nextCursor']
  return {
    tools: lists.flatMap((bytes) =>
      childrenOf(bytes).flatMap(({ from, to }) => definitionOf(bytes.subarray(from, to))),
    ),
    nextCursor: typeof cursor === 'string' ? cursor : null,
  }
}

/** Nothing of what has no name, or one that no call can have. */
function definitionOf(bytes: Buffer): ToolDefinition[] {
  const value = parsed(bytes)
  const name = isObject(value) ? value['name'] : undefined
  if (!isObject(value) || typeof name !== 'string' || name.length > SCAN_TOKEN_BYTES_MAX) return []
  return [{ name, value, ...formOf(bytes) }]
}

/** A key twice, half a surrogate pair, a number beyond doubles: what readers may understand differently goes by its bytes. */
function formOf(bytes: Buffer): Pick<ToolDefinition, 'text' | 'hash'> {
  try {
    const canonical = canonicalBytes(bytes)
    return { text: canonical.toString(), hash: sha256(canonical) }
  } catch (error) {
    if (!(error instanceof HeimdallError && error.code.startsWith('JSON_'))) throw error
    const text = bytes.toString().trim()
    return { text, hash: `bytes-${sha256(text)}` }
  }
}

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** Null where it is none. */
export function readObject(bytes: Buffer): Readonly<Record<string, unknown>> | null {
  const value = parsed(bytes)
  return isObject(value) ? value : null
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}
