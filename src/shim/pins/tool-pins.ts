// Tools of a server as a person knows them: pinned at first sight, told of when they change, and asked about before each call.
import { HeimdallError, isSystemError } from '../../errors.ts'
import { PIN_NEWS_MAX, PIN_PAGES_UNKEPT_MAX, PIN_TOOLS_MAX, PIN_UNAPPROVED_MAX } from '../../limits.ts'
import type { ListListener, ToolPage } from '../call/tool-lists.ts'
import type { PinRefusal } from './pin-decisions.ts'
import { changePins, type PinsPlace, pinsStamp, type Reached, readPins, type ServerPins } from '../../pins/pins-file.ts'
import { type ToolChange, type SeenTools, sighted } from './sight.ts'

export interface ToolPinsOptions {
  /** Where the pins lie; asked when they are first needed, and may throw. */
  readonly place: () => PinsPlace
  readonly reached: Reached
  readonly nowIso: () => string
  /** Takes out the server's secrets, and nothing else: a pin has to show what a model is shown. */
  readonly withoutSecrets: (text: string) => string
  readonly news: PinNews
  readonly note: (line: string) => void
}

/** Who is told. */
export interface PinNews {
  seen(seen: SeenTools, reached: Reached): void
  /** A person has approved what was refused. */
  approved(name: string, pins: ServerPins): void
  /** A call was refused, for the first time since somebody looked; or none is any more. */
  waiting(isWaiting: boolean): void
}

/** `error`: nobody can tell, and the reason. */
export type PinAnswer = PinRefusal | { readonly error: string } | null

/**
 * What a client was shown in the life of a shim stays shown: a server that goes back to what was pinned has still had
 * its other words read, so the tool is refused until a person has approved every definition that was seen.
 */
export class ToolPins implements ListListener {
  readonly #options: ToolPinsOptions
  /** Tools that need no second look. All that a call usually meets. */
  readonly #passing = new Set<string>()
  /** By tool: what was shown here and nobody has approved. */
  readonly #unapproved = new Map<string, Set<string>>()
  /** Tools that were listed here, so that what was shown elsewhere does not matter. */
  readonly #listed = new Set<string>()
  readonly #refused = new Set<string>()
  #place: PinsPlace | null = null
  #pins: ServerPins | undefined
  #stamp: string | null = null
  /** Why a list could not be read. */
  #unread: string | null = null
  /** Pages that have not been compared, oldest first. */
  #unkept: readonly ToolPage[] = []
  #newsLeft = PIN_NEWS_MAX
  /** By tool: what was last said of it. */
  readonly #told = new Map<string, string>()

  constructor(options: ToolPinsOptions) {
    this.#options = options
  }

  unread(why: string): void {
    if (this.#unread === null)
      this.#options.note(`a list of tools could not be read: ${why}; its tools are not compared`)
    this.#unread ??= why
    this.#passing.clear()
  }

  shown(page: ToolPage): void {
    this.#passing.clear()
    const { tools, walk } = page
    for (const { name } of tools) if (walk !== null && walk.names.size < PIN_TOOLS_MAX) walk.names.add(name)
    this.#unkept = [...this.#unkept, page].slice(-PIN_PAGES_UNKEPT_MAX)
    const problem = this.#keep()
    if (problem !== null) this.#options.note(`tools cannot be pinned: ${problem}`)
  }

  /** Compares what has not been compared yet, because the disk did not let us. */
  #keep(): string | null {
    return this.#tried(() => {
      for (let page = this.#unkept[0]; page !== undefined; page = this.#unkept[0]) {
        this.#compare(page)
        this.#unkept = this.#unkept.slice(1)
      }
    })
  }

  #compare(page: ToolPage): void {
    const { reached, nowIso, news, withoutSecrets, note } = this.#options
    const place = (this.#place ??= this.#options.place())
    this.#stamp = pinsStamp(place)
    const clean = { ...page, tools: page.tools.map((tool) => ({ ...tool, text: withoutSecrets(tool.text) })) }
    const compare = (before: ServerPins | undefined): SeenTools => {
      if (page.isFirst && page.walk !== null) page.walk.isFirstSight = before === undefined
      const isFirstSight = page.walk?.isFirstSight === true
      return sighted(before, clean, { place, reached, at: nowIso(), isFirstSight })
    }
    let seen = compare(readPins(place))
    // Before anything is written, which may fail: what was shown was shown.
    this.#sawHere(seen.pins, page)
    const changes = seen.changes.filter((change) => this.#isUntold(change))
    if ((!seen.isNews && changes.length === 0) || this.#newsLeft === 0) return
    this.#newsLeft -= 1
    if (seen.isNews) {
      // Once more under the lock: another shim may have been first.
      changePins(place, (before) => {
        seen = compare(before)
        return seen.isNews ? seen.pins : undefined
      })
      this.#sawHere(seen.pins, page)
      this.#stamp = pinsStamp(place)
    }
    news.seen({ ...seen, changes: seen.changes.filter((change) => this.#isUntold(change)) }, reached)
    for (const { name, shown } of seen.changes) this.#told.set(name, shown?.hash ?? '')
    if (seen.tooMany > 0) note(`${seen.tooMany} tools are too many to be pinned`)
  }

  /** In the record of this run; that another run has been told is no help to who reads this one. */
  #isUntold({ name, shown }: ToolChange): boolean {
    return this.#told.get(name) !== (shown?.hash ?? '')
  }

  #sawHere(pins: ServerPins, { tools }: ToolPage): void {
    this.#pins = pins
    for (const { name, hash } of tools) {
      const record = pins.tools.get(name)
      // Refused as it is: there was no room for it.
      if (record === undefined) continue
      this.#listed.add(name)
      if (record.pinned.some((pin) => pin.hash === hash)) continue
      const hashes = this.#unapproved.get(name) ?? new Set()
      this.#unapproved.set(name, hashes)
      if (hashes.size < PIN_UNAPPROVED_MAX) hashes.add(hash)
    }
  }

  /** Why a tool may not be called, where policy goes by pins; null where nothing speaks against it. */
  refusal(name: string): PinAnswer {
    if (this.#passing.has(name)) return null
    if (this.#unread !== null) return { error: `a list of its tools could not be read: ${this.#unread}` }
    const problem = this.#keep() ?? this.#tried(() => this.#look())
    if (problem !== null) return { error: `its tools cannot be compared with what is pinned: ${problem}` }
    const why = this.#why(name)
    if (why === null) this.#passes(name)
    else {
      if (this.#refused.size === 0) this.#options.news.waiting(true)
      if (this.#refused.size < PIN_TOOLS_MAX) this.#refused.add(name)
    }
    return why
  }

  #why(name: string): PinRefusal | null {
    // Nobody has listed its tools yet, so nothing was read that could be an attack; or a person wants to begin anew.
    if (this.#pins === undefined) return null
    const record = this.#pins.tools.get(name)
    // Also what was never listed: else a server had only to send its list so that we cannot read it.
    if (record === undefined || record.pinned.length === 0) return 'unpinned'
    const hashes = this.#unapproved.get(name)
    // A client may remember a list from an earlier time.
    if (hashes === undefined) return !this.#listed.has(name) && record.shown.length > 0 ? 'changed' : null
    for (const { hash } of record.pinned) hashes.delete(hash)
    if (hashes.size > 0) return 'changed'
    this.#unapproved.delete(name)
    return null
  }

  #passes(name: string): void {
    if (this.#passing.size < PIN_TOOLS_MAX) this.#passing.add(name)
    if (!this.#refused.delete(name)) return
    if (this.#pins !== undefined) this.#options.news.approved(name, this.#pins)
    if (this.#refused.size === 0) this.#options.news.waiting(false)
  }

  /** Nobody waits for a person any more. */
  close(): void {
    if (this.#refused.size > 0) this.#options.news.waiting(false)
  }

  /** Whether a person has changed something since; a look at the file's name as long as nobody has. */
  #look(): void {
    const place = (this.#place ??= this.#options.place())
    const stamp = pinsStamp(place)
    if (stamp === this.#stamp) return
    this.#pins = readPins(place)
    this.#stamp = stamp
  }

  /** What went wrong; a disk that fails is no reason to end the shim. */
  #tried(act: () => void): string | null {
    try {
      act()
      return null
    } catch (error) {
      if (!(error instanceof HeimdallError || isSystemError(error))) throw error
      return error.message
    }
  }
}
