// The live feed of one browser: the state of a project and its changes, and what happened since the id that the browser brings, without gap or repeat.
import type { WebSocket } from 'ws'
import { type Clock, pause } from '../../clock.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { HeimdallError } from '../../errors.ts'
import {
  FOLLOW_LOOK_MS,
  HUB_FEED_ROWS_MAX,
  HUB_OPEN_CALLS_MAX,
  HUB_SCREENS_MS,
  HUB_SCREENS_TOLD_AT_ONCE,
} from '../../limits.ts'
import { callsAfter, callsOf, type IndexEntry, lastEntry } from '../../runs/index/search.ts'
import type { Call, Thumbnail } from '../contract.ts'
import type { CallBook } from '../facts/call-book.ts'
import { screenPlaces } from '../facts/cards.ts'
import { callOf } from '../facts/calls.ts'
import { rowsOf } from '../facts/conversation.ts'
import type { RunsOfProject } from '../facts/run-project.ts'
import type { Screens } from '../terminals/screens.ts'
import { type Cursor, cursorText, parseCursor } from './cursor.ts'
import { FeedStream } from './feed-stream.ts'
import type { Picture } from './picture.ts'
import type { ProjectLive } from './project-live.ts'
import { SeenState } from './state-patch.ts'

export interface FeedOptions {
  readonly live: ProjectLive
  readonly runs: RunsOfProject
  readonly book: CallBook
  readonly screens: Screens
  readonly clock: Clock
  readonly version: string
  readonly onBug: (error: unknown) => void
}

export interface FeedRequest {
  /** The last id that the page received. */
  readonly after: string | undefined
  /** Lines of each thumbnail; 0 for none. */
  readonly screenLines: number
}

export async function serveFeed(socket: WebSocket, wanted: FeedRequest, options: FeedOptions): Promise<void> {
  const stream = new FeedStream(socket, options.clock)
  try {
    await new Feed(stream, wanted, options).run()
  } catch (error) {
    if (!(error instanceof HeimdallError)) options.onBug(error)
  } finally {
    stream.end()
  }
}

class Feed {
  readonly #stream: FeedStream
  readonly #wanted: FeedRequest
  readonly #options: FeedOptions
  readonly #seen = new SeenState()
  #cursor: Cursor = { seq: 0, call: 0, index: '-' }
  readonly #open = new Set<number>()
  #picture: Picture | undefined
  /** Looks for calls follow one another. */
  #calls: Promise<void> = Promise.resolve()

  constructor(stream: FeedStream, wanted: FeedRequest, options: FeedOptions) {
    this.#stream = stream
    this.#wanted = wanted
    this.#options = options
  }

  async run(): Promise<void> {
    await this.#greet()
    const stop = this.#options.live.look({
      onPicture: (picture) => this.#show(picture),
      onFailure: (error) => {
        this.#options.onBug(error)
        this.#stream.end()
      },
    })
    try {
      await Promise.all([this.#followEntries(), this.#showScreens()])
    } finally {
      stop()
      this.#stream.end()
      await this.#calls
    }
  }

  /** Where it goes on. What is not known any more, or is another store's, is asked for anew by the page. */
  async #greet(): Promise<void> {
    const { live, book, clock, version } = this.#options
    const head = this.#head()
    const lastCall = await book.ask(({ index }) => lastEntry(index), 0)
    const { mark } = book
    const given = parseCursor(this.#wanted.after)
    const isKnown =
      given !== undefined && head !== undefined && given.seq <= head && given.index === mark && given.call <= lastCall
    this.#cursor = isKnown ? given : { seq: head ?? 0, call: lastCall, index: mark }
    this.#stream.say(
      'hello',
      {
        at: new Date(clock.wallMs()).toISOString(),
        version,
        project: live.room.id,
        caught_up: isKnown ? head - given.seq + (lastCall - given.call) : null,
        reset: this.#wanted.after !== undefined && !isKnown,
      },
      cursorText(this.#cursor),
    )
  }

  /** Nothing where the store cannot be read; a banner says why. */
  #head(): number | undefined {
    try {
      return this.#options.live.room.read(
        ({ store }) => store.read((rows) => rows.head()),
        () => 0,
      )
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      return undefined
    }
  }

  #show(picture: Picture): void {
    this.#picture = picture
    const patch = this.#seen.next(picture)
    if (patch !== undefined) this.#stream.say('state', patch)
    this.#calls = this.#calls
      .then(() => this.#tellCalls())
      .catch((error: unknown) => {
        // The index is behind, or of no use: the next look tries again.
        if (!(error instanceof HeimdallError)) this.#options.onBug(error)
      })
  }

  /** A store that is not there yet, is locked or was replaced is waited for: the rest of the feed goes on. */
  async #followEntries(): Promise<void> {
    const { live, clock } = this.#options
    const { signal } = this.#stream
    while (!signal.aborted) {
      try {
        const room = live.room.openToFollow()
        if (room !== undefined) await this.#tellEntries(room)
      } catch (error) {
        if (!(error instanceof HeimdallError)) throw error
        // Of another store everything is news, and numbers begin anew.
        if (LOST.has(error.code)) {
          this.#stream.end()
          return
        }
      }
      await pause(clock, FOLLOW_LOOK_MS, signal)
    }
  }

  async #tellEntries(room: Coordination): Promise<void> {
    try {
      for await (const entry of room.store.follow(this.#cursor.seq, this.#stream.signal)) {
        const rows = room.store.read((reader) => rowsOf(reader, entry.events))
        this.#cursor = { ...this.#cursor, seq: entry.seq }
        // An entry without a row moves the place on all the same.
        this.#stream.say('log', { rows, calls: [] }, cursorText(this.#cursor))
      }
    } finally {
      room.store.close()
    }
  }

  async #tellCalls(): Promise<void> {
    const { book, runs } = this.#options
    while (!this.#stream.signal.aborted) {
      const { fresh, again } = await book.ask(
        (open) => {
          const tell = (entries: readonly IndexEntry[]): { entry: IndexEntry; call: Call }[] =>
            entries.filter(({ record }) => runs.has(record)).map((entry) => ({ entry, call: callOf(entry, open) }))
          const after = callsAfter(open.index, this.#cursor.call, HUB_FEED_ROWS_MAX)
          const last = after.at(-1)?.id
          return {
            fresh: { last, count: after.length, calls: tell(after) },
            again: tell(callsOf(open.index, [...this.#open]).filter(({ ended }) => ended !== null)),
          }
        },
        { fresh: { last: undefined, count: 0, calls: [] }, again: [] },
      )
      for (const { entry } of again) this.#open.delete(entry.id)
      for (const { entry } of fresh.calls) if (entry.ended === null) this.#remember(entry.id)
      if (fresh.last !== undefined) this.#cursor = { ...this.#cursor, call: fresh.last }
      const calls = [...again, ...fresh.calls].map(({ call }) => call)
      if (calls.length > 0) this.#stream.say('log', { rows: [], calls }, cursorText(this.#placeOfCalls()))
      if (fresh.count < HUB_FEED_ROWS_MAX) return
    }
  }

  #remember(id: number): void {
    const [oldest] = this.#open
    if (oldest !== undefined && this.#open.size >= HUB_OPEN_CALLS_MAX) this.#open.delete(oldest)
    this.#open.add(id)
  }

  /** Whoever comes back hears again of calls that had not ended, and so of how they did. */
  #placeOfCalls(): Cursor {
    const oldest = Math.min(this.#cursor.call, ...[...this.#open].map((id) => id - 1))
    return { ...this.#cursor, call: Math.max(oldest, this.#cursor.call - HUB_OPEN_CALLS_MAX) }
  }

  async #showScreens(): Promise<void> {
    const { screens, clock, live } = this.#options
    const { signal } = this.#stream
    const lines = this.#wanted.screenLines
    const told = new Map<string, Thumbnail>()
    if (lines === 0) return
    while (!signal.aborted) {
      const fleet = this.#picture?.fleet
      const places = fleet === undefined ? [] : screenPlaces(fleet, live.room.fleetOptions.socketDir)
      // A few at a time: the first are seen while the last are drawn.
      for (let at = 0; at < places.length; at += HUB_SCREENS_TOLD_AT_ONCE) {
        const some = await screens.of(places.slice(at, at + HUB_SCREENS_TOLD_AT_ONCE), lines)
        const changed = some.filter((screen) => told.get(screen.session_id) !== screen)
        for (const screen of changed) told.set(screen.session_id, screen)
        if (changed.length > 0) this.#stream.say('screens', { screens: changed })
      }
      await pause(clock, HUB_SCREENS_MS, signal)
    }
  }
}

/** The place that was given is in no log any more. */
const LOST: ReadonlySet<string> = new Set(['FOLLOW_TOO_OLD', 'FOLLOW_AHEAD', 'STORE_REPLACED'])
