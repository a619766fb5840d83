// A store whose log is a fleet's: decided here on the copy, appended there by compare-and-set, applied when it is accepted.
import { pause, systemClock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { ENGINE_SETTLE_MS, FLEET_CHANGE_MS, FLEET_DECISIONS_MAX, SQLITE_CHECKPOINT_PAGES } from '../../limits.ts'
import type { Seats } from '../../storage/seats.ts'
import type { Database } from '../../storage/sqlite.ts'
import type { Annex } from '../annex.ts'
import type { Author } from '../log-entry.ts'
import { FLEET_SETTING } from '../membership.ts'
import type { Moment } from '../moment.ts'
import type { Appended, LoggedEntry, OpenLog, SharedLog, LogTurn } from '../shared-log.ts'
import type { Writer } from '../store.ts'
import { applyEntries, bodyOf, placeOf } from './apply.ts'
import type { EntryDraft, LocalWrite } from './entry-draft.ts'
import { seatsOf } from './fleet-in-making.ts'
import { followLog } from './followed-log.ts'
import { noteHeard, putSigns, silentIn } from './signs.ts'
import { leavePending, type Pending, pendingIn, putPending, removePending, unknownOutcome } from './pending.ts'
import type { Statements } from './statements.ts'

/** What a store needs to be a member, besides its mark. */
export interface MemberOptions {
  readonly openLog: OpenLog
  readonly now: () => Moment
}

export interface MemberStore extends MemberOptions {
  readonly path: string
  readonly db: Database
  readonly sql: Statements
  readonly newId: () => string
  readonly wallMs: () => number
  /** Runs an act on the rows, in a transaction of the caller's; the draft is what it has put. */
  readonly run: <T>(act: (rows: Writer) => T) => { readonly result: T; readonly draft: EntryDraft }
  /** Rows have changed: what was read before is old, and whoever follows is told. */
  readonly changed: () => void
}

interface Decided<T> {
  readonly outcome: { readonly result: T } | { readonly error: unknown }
  /** Nothing when no shared row was put: then the answer alone has to be true at the head. */
  readonly entry: Pending | undefined
  readonly local: readonly LocalWrite[]
  readonly signs: readonly string[]
}

const OFFLINE: ReadonlySet<string> = new Set(['ENGINE_UNREACHABLE', 'OUTCOME_UNKNOWN'])

/** Answers that stay the same however often it is asked. */
const FINAL: ReadonlySet<string> = new Set(['STORE_FORKED', 'FLEET_NEWER', 'FLEET_EXPELLED'])

/** Waits for the network are real time, whatever clock the store is given. */
const wait = (ms: number): Promise<void> => pause(systemClock, ms)

export class Member {
  readonly #store: MemberStore
  readonly #seats: Seats
  #log: Promise<SharedLog> | undefined
  #before: Promise<unknown> = Promise.resolve()
  /** Others have written since this process last did. */
  #isContended = false
  /** The last that this process has written. */
  #written: string | undefined
  readonly #closed = new AbortController()

  constructor(store: MemberStore) {
    this.#store = store
    this.#seats = seatsOf(store.path)
    // What the log has accepted it has on its disk. Here it is enough that a commit outlives this process: after a power
    // cut the copy is behind at most, and the next command catches up.
    store.db.exec('PRAGMA synchronous = NORMAL')
  }

  /**
   * Nothing, and nothing was done, when the machine has left its fleet meanwhile.
   *
   * Processes of one machine stand in line at the engine like everybody else: it alone knows who came first, and hands
   * on at once. SQLite's own lock is never held while the network answers.
   */
  change<T>(act: (rows: Writer) => T, by: Omit<Author, 'haid'>): Promise<{ readonly result: T } | undefined> {
    return this.#inOrder(async (log) => {
      await this.#settle(log)
      return this.#decideAndSend(log, act, by)
    })
  }

  async #decideAndSend<T>(
    log: SharedLog,
    act: (rows: Writer) => T,
    by: Omit<Author, 'haid'>,
  ): Promise<{ readonly result: T } | undefined> {
    const startMs = systemClock.monoMs()
    for (let decisions = 0; decisions < FLEET_DECISIONS_MAX; decisions += 1) {
      if (systemClock.monoMs() - startMs > FLEET_CHANGE_MS)
        throw new HeimdallError('STORE_BUSY', `it was others' turn for ${FLEET_CHANGE_MS / 1_000} seconds`, {
          hint: 'somebody may hold the line; run the command again',
        })
      const turn = this.#isContended ? await this.#takeTurn(log) : undefined
      try {
        const decided =
          turn === undefined
            ? this.#decide(act, by, [])
            : this.#withoutCheckpoint(() => this.#decide(act, by, turn.entries))
        if (decided === undefined) return undefined
        const { outcome, entry } = decided
        if (entry === undefined) {
          // Whoever has the turn stands at the head.
          if (turn === undefined && !(await this.#isAtHead(log, decided))) continue
          if ('error' in outcome) throw outcome.error
          this.#write(() => this.#runLocal(decided.local))
          return outcome
        }
        if ('error' in outcome) throw outcome.error
        const answer = await this.#send(log, entry, turn)
        if (answer.kind === 'accepted') return outcome
        if (answer.kind === 'behind' || answer.kind === 'wait') this.#isContended = true
      } finally {
        if (turn !== undefined) await giveBack(turn)
      }
    }
    throw new HeimdallError('STORE_BUSY', `others were faster ${FLEET_DECISIONS_MAX} times`, {
      hint: 'run the command again',
    })
  }

  /**
   * Whoever was too late has decided for nothing, and would be again where others write all the time: it stands in line
   * before it decides, until nobody has written between two of its changes.
   */
  async #takeTurn(log: SharedLog): Promise<LogTurn | undefined> {
    try {
      const at = placeOf(this.#store.sql)
      const turn = await log.takeTurn(at)
      const { id } = turn?.entries.at(-1) ?? at
      this.#isContended = turn === undefined || id !== this.#written
      return turn
    } catch (error) {
      // Without a turn it is sent all the same, and says what is wrong.
      if (error instanceof HeimdallError && OFFLINE.has(error.code)) return undefined
      throw error
    }
  }

  /** Everything that the log has and this machine lacks. What is in doubt is settled first. */
  catchUp(): Promise<void> {
    return this.#inOrder(async (log) => {
      await this.#settle(log)
      while (!(await this.#hear(log, [])));
    })
  }

  /** Follows the log until the signal, or until the copy is closed. A log that cannot be reached is followed again when it can. */
  link(signal: AbortSignal, onFailure: (error: HeimdallError) => void = () => undefined): Promise<void> {
    const follower = { path: this.#store.path, open: () => this.#open(), hear: (log: SharedLog) => this.#hear(log, []) }
    return followLog(follower, AbortSignal.any([signal, this.#closed.signal]), onFailure)
  }

  /** Whoever lays or fetches a text takes no turn: nothing is decided by it. */
  async annex(): Promise<Annex> {
    return (await this.#open()).annex
  }

  /** Never fails: of a log that could not be opened whoever asked for it is told. */
  async close(): Promise<void> {
    this.#closed.abort()
    const log = this.#log
    this.#log = undefined
    const [opened] = await Promise.allSettled([log])
    if (opened.status === 'fulfilled') await opened.value?.close()
    this.#seats.leave()
  }

  /** One after the other in this process, with one connection for all. */
  #inOrder<T>(act: (log: SharedLog) => Promise<T>): Promise<T> {
    const done = this.#before.then(async () => act(await this.#open()))
    this.#before = done.catch(() => undefined)
    return done
  }

  async #open(): Promise<SharedLog> {
    this.#log ??= this.#store.openLog()
    try {
      return await this.#log
    } catch (error) {
      // What was missing may be there for the next one.
      this.#log = undefined
      throw error
    }
  }

  /**
   * What the act would put on the present state; nothing of it has happened. What was missing is applied before it, and
   * the entry is on disk with that: one commit for all of it. Nothing at all where there is no fleet any more.
   */
  #decide<T>(
    act: (rows: Writer) => T,
    by: Omit<Author, 'haid'>,
    missing: readonly LoggedEntry[],
  ): Decided<T> | undefined {
    const { db, sql, changed } = this.#store
    const decided = this.#transaction(() => {
      if (!isMarked(sql)) return undefined
      this.#apply(missing)
      const made = db.rehearseWithin(() => this.#rehearse(act, by))
      if (made.entry !== undefined) putPending(sql, made.entry)
      return made
    }, missing)
    if (missing.length > 0) changed()
    return decided
  }

  /** In a turn all others wait: SQLite copies its log, and flushes, with the next commit. */
  #withoutCheckpoint<T>(act: () => T): T {
    const { db } = this.#store
    db.exec('PRAGMA wal_autocheckpoint = 0')
    try {
      return act()
    } finally {
      db.exec(`PRAGMA wal_autocheckpoint = ${SQLITE_CHECKPOINT_PAGES}`)
    }
  }

  #rehearse<T>(act: (rows: Writer) => T, by: Omit<Author, 'haid'>): Decided<T> {
    const { sql, run, newId, wallMs } = this.#store
    let ran: ReturnType<typeof run<T>>
    try {
      ran = run(act)
    } catch (error) {
      return { outcome: { error }, entry: undefined, local: [], signs: [] }
    }
    const { result, draft } = ran
    const [local, signs] = [draft.local, [...draft.signs]]
    if (draft.isEmpty) return { outcome: { result }, entry: undefined, local, signs }
    const body = bodyOf(sql, draft, { wallMs: wallMs(), by })
    const seat = this.#seats.take()
    const entry = { at: placeOf(sql), id: newId(), body, signs, silent: silentIn(sql, draft), local, seat }
    return { outcome: { result }, entry, local, signs }
  }

  /** Refusals and answers without a change are true at the head or are decided again. */
  async #isAtHead<T>(log: SharedLog, { outcome, signs }: Decided<T>): Promise<boolean> {
    try {
      return await this.#hear(log, signs)
    } catch (error) {
      const isOffline = error instanceof HeimdallError && OFFLINE.has(error.code)
      // Nothing is granted and nothing released: a sign of life is noted here, and the answer is as old as the copy.
      if (isOffline && 'result' in outcome) return true
      if (isOffline) throw unreachable(error)
      throw error
    }
  }

  /** True when nothing was missing. */
  async #hear(log: SharedLog, signs: readonly string[]): Promise<boolean> {
    const { sql, now } = this.#store
    const { entries, signs: others } = await log.hear(placeOf(sql), signs)
    // Whoever followed has left meanwhile, and the copy is closed: the next one hears it again.
    if (this.#closed.signal.aborted) return true
    this.#write(() => {
      this.#apply(entries)
      putSigns(sql, others, now())
      noteHeard(sql, now())
    }, entries)
    return entries.length === 0
  }

  /** What an earlier command, or one that was killed, has left in doubt. What a living process has under way is its own. */
  async #settle(log: SharedLog): Promise<void> {
    for (const pending of pendingIn(this.#store.sql))
      if (pending.seat === this.#seats.take() || !this.#seats.isTaken(pending.seat))
        await this.#send(log, pending, undefined, true)
  }

  /**
   * Sends the entry until it is known what became of it: its place is taken, by itself or by another. Looking it up
   * would be no answer, for a server that was stopped in between may go on and commit it.
   */
  async #send(log: SharedLog, entry: Pending, turn: LogTurn | undefined, wasSent = false): Promise<Appended> {
    const { sql, db } = this.#store
    let isInDoubt = wasSent
    let first = turn
    const deadlineMs = systemClock.monoMs() + ENGINE_SETTLE_MS
    for (;;) {
      let answer: Appended
      try {
        // A turn is over with its first answer, or without one.
        const mine = first
        first = undefined
        // Who has not met others yet does not wait for them: behind their turn it would be too late.
        answer = await (mine?.append(entry) ?? log.append(entry, isInDoubt || this.#isContended))
      } catch (error) {
        if (!(error instanceof HeimdallError)) throw error
        if (!isInDoubt && error.code !== 'OUTCOME_UNKNOWN') {
          db.transaction(() => removePending(sql, entry.id))
          throw error
        }
        isInDoubt = true
        if (FINAL.has(error.code)) throw this.#leftInDoubt(entry, error)
        if (systemClock.monoMs() >= deadlineMs) throw this.#leftInDoubt(entry, unknownOutcome(entry.id, error))
        await wait(50 * (0.5 + Math.random()))
        continue
      }
      // Still others' turns, and the place may be free all the same: the same entry may be right afterwards.
      if (answer.kind === 'wait' && (isInDoubt || this.#isContended)) {
        if (systemClock.monoMs() < deadlineMs) continue
        if (isInDoubt) throw this.#leftInDoubt(entry, unknownOutcome(entry.id, undefined))
      }
      this.#conclude(entry, answer)
      return answer
    }
  }

  #leftInDoubt(entry: Pending, error: HeimdallError): HeimdallError {
    const { db, sql } = this.#store
    db.transaction(() => leavePending(sql, entry))
    return error
  }

  #conclude(entry: Pending, answer: Appended): void {
    const { sql, now } = this.#store
    this.#write(() => {
      if (answer.kind === 'accepted') {
        this.#apply([{ ...entry, seq: entry.at.seq + 1, format: 0 }])
        noteHeard(sql, now())
        this.#written = entry.id
        return
      }
      removePending(sql, entry.id)
      if (answer.kind === 'alive') putSigns(sql, answer.signs, now())
    })
    // Afterwards: what became of the entry is known, whatever is wrong with those of others.
    if (answer.kind === 'behind') this.#write(() => this.#apply(answer.entries), answer.entries)
  }

  #apply(entries: readonly LoggedEntry[]): void {
    const { sql, now } = this.#store
    if (entries.length > 0) applyEntries(sql, entries, now())
  }

  #runLocal(local: readonly LocalWrite[]): void {
    for (const write of local) this.#store.sql.run(...write)
  }

  /** `entries`: what `act` applies. */
  #write(act: () => void, entries: readonly LoggedEntry[] = []): void {
    this.#transaction(act, entries)
    this.#store.changed()
  }

  /** Where one of the entries is none, those before it are applied all the same. */
  #transaction<T>(act: () => T, entries: readonly LoggedEntry[]): T {
    const { db, changed } = this.#store
    try {
      return db.transaction(act)
    } catch (error) {
      const bad = error instanceof HeimdallError && error.code === 'STORE_CORRUPT' ? error.details?.['seq'] : undefined
      const good = entries.filter(({ seq }) => typeof bad === 'number' && seq < bad)
      if (good.length > 0) {
        db.transaction(() => this.#apply(good))
        changed()
      }
      throw error
    }
  }
}

/** An engine that cannot be reached now gives the turn to the next one by itself. */
async function giveBack(turn: LogTurn): Promise<void> {
  try {
    await turn.end()
  } catch (error) {
    if (!(error instanceof HeimdallError) || !OFFLINE.has(error.code)) throw error
  }
}

const isMarked = (sql: Statements): boolean =>
  sql.one('SELECT 1 AS found FROM local_settings WHERE key = ?', FLEET_SETTING) !== undefined

function unreachable(cause: HeimdallError): HeimdallError {
  return cause.code === 'ENGINE_UNREACHABLE'
    ? cause
    : new HeimdallError('ENGINE_UNREACHABLE', cause.message, {
        hint: 'nothing was changed; run the command again',
        cause,
      })
}
