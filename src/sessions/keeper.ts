// Looking after a session from a process of one's own: hearing that it is active, what state it is in, and how it ended.
import { openConnection, type SessionConnection } from '../client/connection.ts'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { KEEPER_LOOK_MS, KILL_GRACE_MS } from '../limits.ts'
import type { ExitRecord } from '../wire/exit-record.ts'
import type { StateEvent } from '../wire/payloads.ts'
import { sessionPaths } from '../wire/session-paths.ts'
import { readExitRecord, readHolder } from './session-files.ts'
import { settle } from './settle.ts'

export type { ExitRecord, StateEvent }

/**
 * Each is called when the one before has been dealt with; meanwhile the newest of a kind waits. However long that takes,
 * the session does not. What one of them throws ends the keeping.
 */
export interface Keeping {
  /** There was output or input since the last call; at most once a second. */
  readonly onActivity?: () => void | Promise<void>
  readonly onState?: (state: StateEvent) => void | Promise<void>
  /** Last, and once. Nothing where no record of it is left. */
  readonly onEnd: (record: ExitRecord | undefined) => void | Promise<void>
}

export interface KeptSession {
  readonly dir: string
  readonly id: string
  /** The process of the session, so that a later one of the id is not taken for it. */
  readonly supervisorPid?: number
  /** Who wants the processes ended that a killed supervisor has left, for the record; without it they are waited for. */
  readonly endsOrphansAs?: string
  readonly orphanGraceMs?: number
}

/**
 * Resolves when the session is over and its end has been told, or the signal aborts. Its supervisor may be killed, and the session renamed:
 * whoever holds this hears of the end all the same.
 */
export async function keepSession(
  kept: KeptSession,
  keeping: Keeping,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  const { dir, supervisorPid: pid, endsOrphansAs: by, orphanGraceMs: graceMs = KILL_GRACE_MS } = kept
  const news = new News(keeping)
  const isStopped = (): boolean => signal?.aborted === true
  for (;;) {
    if (isStopped()) return
    const id = news.id ?? kept.id
    const holder = readHolder(dir, id)
    if (pid !== undefined && holder !== undefined && holder.supervisorPid !== pid) break
    const connection = await connectIfThere(sessionPaths(dir, id).socket)
    if (connection !== undefined && (await follow(connection, news, signal))) break
    if (isStopped()) return
    const settled = await settle(dir, news.id ?? id, { by, clock, graceMs })
    if (settled === 'settled' || settled === 'nothing') break
    await pause(clock, KEEPER_LOOK_MS, signal)
  }
  const record = readExitRecord(dir, news.id ?? kept.id)
  await news.end(pid === undefined || record?.supervisor_pid === pid ? record : undefined)
}

/** True when the session said that it is over, false when the connection broke off before. */
async function follow(connection: SessionConnection, news: News, signal?: AbortSignal): Promise<boolean> {
  const stop = (): void => connection.close()
  news.onFailure = stop
  signal?.addEventListener('abort', stop)
  try {
    for await (const event of connection.keep()) {
      if (event.type === 'state') news.state(event.state)
      if (event.type === 'activity') news.activity()
      if (event.type === 'exit') return true
    }
    return false
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'SESSION_LOST') return false
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
    connection.close()
    news.check()
  }
}

async function connectIfThere(socketPath: string): Promise<SessionConnection | undefined> {
  try {
    return await openConnection(socketPath)
  } catch (error) {
    if (error instanceof HeimdallError && BROKEN.has(error.code)) return undefined
    throw error
  }
}

const BROKEN: ReadonlySet<string> = new Set(['SESSION_NOT_FOUND', 'SESSION_LOST', 'SESSION_SILENT'])

/** What there is to tell, one at a time: read off the connection at once, so that nobody there ever waits. */
class News {
  readonly #keeping: Keeping
  #isActive = false
  #state: StateEvent | undefined
  #telling: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined
  /** The id that the session has now, as far as it has said. */
  id: string | undefined
  onFailure: () => void = () => undefined

  constructor(keeping: Keeping) {
    this.#keeping = keeping
  }

  activity(): void {
    this.#isActive = true
    this.#telling ??= this.#tell()
  }

  state(state: StateEvent): void {
    this.id = state.id
    this.#state = state
    this.#telling ??= this.#tell()
  }

  /** After all that was told before. */
  async end(record: ExitRecord | undefined): Promise<void> {
    await this.#telling
    this.check()
    await this.#keeping.onEnd(record)
  }

  /** Throws what one who was told has thrown. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async #tell(): Promise<void> {
    const { onActivity, onState } = this.#keeping
    try {
      while (this.#isActive || this.#state !== undefined) {
        const [state, isActive] = [this.#state, this.#isActive]
        this.#state = undefined
        this.#isActive = false
        if (state !== undefined) await onState?.(state)
        if (isActive) await onActivity?.()
      }
      this.#telling = undefined
    } catch (error) {
      this.#failure = { error }
      this.onFailure()
    }
  }
}
