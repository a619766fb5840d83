// A page of a list of tools held against what is pinned: what is new, what has changed, and what is to be kept of it. Pure.
import { PIN_SHOWN_MAX, PIN_TEXT_BYTES_MAX, PIN_TEXTS_BYTES_MAX, PIN_TOOLS_MAX } from '../../limits.ts'
import type { ToolPage } from '../call/tool-lists.ts'
import type { PinsPlace, Reached, ServerPins, Sight, ToolRecord } from '../../pins/pins-file.ts'

export interface ToolChange {
  readonly name: string
  readonly change: 'changed' | 'added' | 'removed'
  /** The newest that is pinned; null of a tool that is not. */
  readonly pinned: Sight | null
  /** What was shown; null of a tool that is gone. */
  readonly shown: Sight | null
}

export interface SeenTools {
  readonly pins: ServerPins
  /** Something in it is to be written down. */
  readonly isNews: boolean
  /** Tools that were pinned because nothing was known before. */
  readonly pinned: readonly { readonly name: string; readonly hash: string }[]
  readonly changes: readonly ToolChange[]
  /** How the server was reached before, where that is not how it is reached now. */
  readonly reachedBefore: Reached | null
  /** Tools for which there was no room. */
  readonly tooMany: number
}

/** `before` is undefined where nothing is known: then what is shown is pinned, and so are the pages that follow. */
export function sighted(
  before: ServerPins | undefined,
  page: ToolPage,
  now: { readonly place: PinsPlace; readonly reached: Reached; readonly at: string; readonly isFirstSight: boolean },
): SeenTools {
  const { place, reached, at, isFirstSight } = now
  const tools = new Map(before?.tools)
  const pinned: { name: string; hash: string }[] = []
  const changes: ToolChange[] = []
  let isNews = before === undefined
  let textBytes = [...tools.values()].reduce((sum, { pinned: a, shown: b }) => sum + bytesOf(a) + bytesOf(b), 0)
  let tooMany = 0
  const put = (record: ToolRecord): void => {
    tools.set(record.name, record)
    isNews = true
  }
  for (const { name, hash, text } of page.tools) {
    const record = tools.get(name) ?? null
    if (record === null && tools.size >= PIN_TOOLS_MAX) {
      tooMany += 1
      continue
    }
    const bytes = Buffer.byteLength(text)
    const isKept = bytes <= PIN_TEXT_BYTES_MAX && textBytes + bytes <= PIN_TEXTS_BYTES_MAX
    const sight: Sight = { hash, text: isKept ? text : null, at }
    const isPinned = record?.pinned.some((pin) => pin.hash === hash) === true
    if (record === null && isFirstSight) {
      put({ name, pinned: [{ ...sight, by: null }], shown: [], gone_at: null })
      pinned.push({ name, hash })
    } else if (isPinned) {
      if (record.gone_at !== null) put({ ...record, gone_at: null })
      continue
    } else {
      changes.push({
        name,
        change: record === null || record.pinned.length === 0 ? 'added' : 'changed',
        pinned: record?.pinned.at(-1) ?? null,
        shown: sight,
      })
      if (record?.shown.at(-1)?.hash === hash && record.gone_at === null) continue
      const others = (record?.shown ?? []).filter((one) => one.hash !== hash)
      put({ name, pinned: record?.pinned ?? [], shown: [...others, sight].slice(-PIN_SHOWN_MAX), gone_at: null })
    }
    if (isKept) textBytes += bytes
  }
  for (const record of gone(tools, page)) {
    put({ ...record, gone_at: at })
    changes.push({ name: record.name, change: 'removed', pinned: record.pinned.at(-1) ?? null, shown: null })
  }
  const reachedBefore = before !== undefined && before.reached.sha256 !== reached.sha256 ? before.reached : null
  const pins: ServerPins = {
    v: 1,
    project: place.project,
    server_name: place.serverName,
    reached,
    first_seen_at: before?.first_seen_at ?? at,
    tools,
  }
  return { pins, isNews: isNews || reachedBefore !== null, pinned, changes, reachedBefore, tooMany }
}

/** Only a walk that was seen from its first page to its last tells what is missing. */
function gone(tools: ReadonlyMap<string, ToolRecord>, { walk, isLast }: ToolPage): ToolRecord[] {
  if (walk === null || !isLast || walk.names.size >= PIN_TOOLS_MAX) return []
  return [...tools.values()].filter(({ name, gone_at: at }) => at === null && !walk.names.has(name))
}

const bytesOf = (sights: readonly Sight[]): number =>
  sights.reduce((sum, { text }) => sum + Buffer.byteLength(text ?? ''), 0)
