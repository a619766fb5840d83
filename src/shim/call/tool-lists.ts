// Lists of tools on their way: which answers they are, which pages belong together, and who hears of them.
import { CALLS_IN_FLIGHT_MAX, TOOL_LIST_WALKS_MAX } from '../../limits.ts'
import { isObject } from '../../plain-object.ts'
import type { IdKey } from '../messages/message-id.ts'
import type { Scanned, Whole } from '../messages/scanned.ts'
import type { ToolAnnotations } from './tool-annotations.ts'
import { readToolList, type ToolDefinition } from './tool-list.ts'

export const LIST_METHOD = 'tools/list'

/** One reading of the whole list, page by page. */
export interface Walk {
  readonly names: Set<string>
  /** It began when nothing was known of the server. */
  isFirstSight: boolean
}

export interface ToolPage {
  readonly tools: readonly ToolDefinition[]
  /** What it is a page of; null where nobody knows. */
  readonly walk: Walk | null
  readonly isFirst: boolean
  /** With it all tools of the walk have been listed. */
  readonly isLast: boolean
}

/** Whoever wants to know what a client was shown, whoever sent it and however often. */
export interface ListListener {
  shown(page: ToolPage): void
  /** The client may have been shown a list that nobody could read. */
  unread(why: string): void
}

interface Asked {
  /** Null for the first page, undefined where it is not known. */
  readonly cursor: string | null | undefined
  /** Nothing else is in flight under the id, so that an answer is surely the list. */
  isSure: boolean
}

export class ToolLists {
  /** By the id under which a list was asked for. */
  readonly #asked = new Map<IdKey, Asked>()
  /** By the cursor of the next page. */
  readonly #walks = new Map<string, Walk>()
  readonly #annotations: ToolAnnotations
  readonly #listener: ListListener

  constructor(annotations: ToolAnnotations, listener: ListListener) {
    this.#annotations = annotations
    this.#listener = listener
  }

  /** An answer may be a list; where it is not, nobody has to look. */
  get isAwaited(): boolean {
    return this.#asked.size > 0
  }

  /** A request has gone to the server. `params` are there where they could be kept. */
  requested(key: IdKey, method: string, isInUse: boolean, params: Buffer | null): void {
    if (method !== LIST_METHOD) {
      const asked = this.#asked.size === 0 ? undefined : this.#asked.get(key)
      if (asked !== undefined) asked.isSure = false
      return
    }
    if (this.#asked.size < CALLS_IN_FLIGHT_MAX)
      this.#asked.set(key, { cursor: cursorIn(params), isSure: !isInUse && !this.#asked.has(key) })
    else this.#listener.unread('too many lists are asked for at once')
  }

  /**
   * A message of the server while a list is awaited. Clients do not agree on what an answer is: some take `"1"` for `1`,
   * or what has a method too, or what comes on another stream than the one on which it was asked for. Whatever one of
   * them may take for the list is read as one. `isStray` says that the message answers nothing that is known.
   */
  heard(scanned: Scanned, whole: Whole | null, keys: readonly IdKey[], isStray: boolean): void {
    if (!scanned.valid) {
      if (whole === null || isLikeMessage(whole)) this.#listener.unread('it is no JSON')
      return
    }
    if (scanned.top === 'array' && whole === null) this.#listener.unread('it is too large')
    const key = keys.find((one) => this.#asked.has(one))
    const asked = key === undefined ? undefined : this.#asked.get(key)
    if (asked === undefined && !(isStray && scanned.result.kind === 'object')) return
    if (scanned.ambiguous !== null) this.#listener.unread('it can be read in two ways')
    if (whole === null) this.#listener.unread('it is too large')
    // Under another form of the id it is the answer to some clients only; the others wait on.
    const isExact = asked !== undefined && key === keys[0] && scanned.method.kind === 'none'
    const list = whole === null || scanned.result.kind !== 'object' ? null : readToolList(resultIn(scanned, whole))
    if (isExact && (asked.isSure || list !== null)) this.#asked.delete(keys[0] as IdKey)
    if (list === 'unreadable') this.#listener.unread('it is no JSON')
    if (list === null || list === 'unreadable') return
    if (isExact && asked.isSure && !isError(scanned)) for (const tool of list.tools) this.#annotations.learn(tool)
    const walk = this.#walkAt(asked?.cursor)
    if (walk !== null && list.nextCursor !== null) this.#remember(list.nextCursor, walk)
    this.#listener.shown({ tools: list.tools, walk, isFirst: asked?.cursor === null, isLast: list.nextCursor === null })
  }

  /** What the server said is lost to us, and perhaps not to the client. */
  lost(why: string): void {
    if (this.isAwaited) this.#listener.unread(why)
  }

  #walkAt(cursor: string | null | undefined): Walk | null {
    if (cursor === null) return { names: new Set(), isFirstSight: false }
    return cursor === undefined ? null : (this.#walks.get(cursor) ?? null)
  }

  #remember(cursor: string, walk: Walk): void {
    if (this.#walks.size >= TOOL_LIST_WALKS_MAX) this.#walks.delete(this.#walks.keys().next().value ?? '')
    this.#walks.set(cursor, walk)
  }
}

function resultIn({ result }: Scanned, { buffer, from }: Whole): Buffer {
  return buffer.subarray(from + result.from, from + result.to)
}

function isError({ error, isError: said }: Scanned): boolean {
  return (error.kind !== 'none' && error.kind !== 'null') || said.kind === 'true'
}

/** Not a banner that a server prints, nor a line of a log: some reader may find a message in it. */
function isLikeMessage({ buffer, from }: Whole): boolean {
  return /^\s*(\[\s*)*\{\s*"/.test(buffer.toString('latin1', from, from + 256))
}

/** The scan has found valid JSON there. */
function cursorIn(params: Buffer | null): string | null | undefined {
  if (params === null) return undefined
  if (params.length === 0) return null
  const value: unknown = JSON.parse(params.toString())
  const cursor = isObject(value) ? value['cursor'] : undefined
  return typeof cursor === 'string' ? cursor : null
}
