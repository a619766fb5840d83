// One connection to the engine: made on first use, with a deadline for every question, and thrown away when it is in doubt.
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type postgres from 'postgres'
import type { Clock } from '../clock.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import { printable } from '../ids.ts'
import { ENGINE_ANSWER_MS, ENGINE_CONNECT_MS } from '../limits.ts'
import { failureOf, isHungUpOn, isOfServer, isShutOut, refusedAtDoor, withoutTls } from './failures.ts'
import { saysNoToTls } from './tls-answer.ts'

export type Sql = postgres.Sql

export interface EngineAddress {
  readonly url: string
  /** Behind a pooler that gives every transaction another connection: nothing is prepared, and nobody listens. */
  readonly isPooled: boolean
}

export interface HeldConnection {
  ask<T>(question: (sql: Sql) => Promise<T>): Promise<T>
  release(): void
}

/** One question to the engine, answered in time. */
export type AskEngine = Connection['ask']

export class Connection {
  readonly #address: EngineAddress
  readonly #clock: Clock
  readonly #answerMs: number
  #sql: Promise<Sql> | undefined
  #isMade = false
  /** Of any connection since the last one was thrown away: before that no question was sent. */
  #wasLetIn = false
  #mayHold = true

  constructor(address: EngineAddress, clock: Clock, answerMs = ENGINE_ANSWER_MS) {
    this.#address = address
    this.#clock = clock
    this.#answerMs = answerMs
  }

  /** Asks once. Where the server says that two got in each other's way, again. */
  async ask<T>(question: (sql: Sql) => Promise<T>): Promise<T> {
    for (;;) {
      const asked = await this.#askOnce(question)
      if (asked !== undefined) return asked.answer
    }
  }

  /** For several questions with nobody's in between. Whoever has it gives it back, or drops all where something failed. Nothing where a pooler is in the way. */
  async hold(): Promise<HeldConnection | undefined> {
    if (!this.#mayHold) return undefined
    // The driver never gives away a connection that it has yet to make.
    if (!this.#isMade) await this.ask((sql) => sql`SELECT`.execute())
    const held = await this.ask((sql) => sql.reserve())
    let isOver = false
    return {
      ask: async (question) => {
        // The driver would write to a connection that the server has closed. Nothing was sent.
        if (!this.#isMade) throw turnLost()
        try {
          const asked = await this.#askOnce(() => question(held))
          if (asked !== undefined) return asked.answer
        } catch (error) {
          if (!isUnprepared(error)) throw error
          this.#mayHold = false
          await this.drop()
        }
        throw turnLost()
      },
      release: () => {
        // Nor does the driver notice that what it is given back is closed.
        if (!isOver && this.#isMade) held.release()
        else if (!isOver) void this.drop()
        isOver = true
      },
    }
  }

  /** All of it or nothing. Not by the driver's own transactions: those write their end to a connection that is closed, and nobody can catch that. */
  async transact<T>(act: (ask: HeldConnection['ask']) => Promise<T>): Promise<T> {
    const held = await this.hold()
    if (held === undefined) throw turnLost()
    try {
      await held.ask((sql) => sql.unsafe('BEGIN').execute())
      const answer = await act((question) => held.ask(question))
      await held.ask((sql) => sql.unsafe('COMMIT').execute())
      held.release()
      return answer
    } catch (error) {
      // The server undoes what was not committed.
      await this.drop()
      throw error
    }
  }

  /** Nothing when the server asks to be asked again. */
  async #askOnce<T>(question: (sql: Sql) => Promise<T>): Promise<{ readonly answer: T } | undefined> {
    try {
      return { answer: await this.#within(question) }
    } catch (error) {
      if (error instanceof HeimdallError) throw error
      const failure = failureOf(error)
      if (!failure.again) throw failure.error
      return undefined
    }
  }

  async #within<T>(question: (sql: Sql) => Promise<T>): Promise<T> {
    this.#sql ??= this.#open()
    const opened = await this.#opened(this.#sql)
    const late = new AbortController()
    const timer = this.#clock.after(this.#answerMs, () => {
      late.abort()
      // Whatever is under way fails with it.
      void this.drop()
    })
    try {
      const answer = await question(opened)
      this.#isMade = true
      return answer
    } catch (error) {
      // From here on nothing is waited for that could be late.
      timer.cancel()
      const isAtDoor = !this.#wasLetIn
      if (!isOfServer(error) || isShutOut(error)) await this.drop()
      if (isAtDoor) await this.#refuseAtDoor(error)
      if (late.signal.aborted)
        throw new HeimdallError('OUTCOME_UNKNOWN', `the fleet's engine did not answer within ${this.#answerMs} ms`, {
          hint: 'the next command settles what became of it',
          cause: error,
        })
      throw error
    } finally {
      timer.cancel()
    }
  }

  /** One that did not come about is none: what it lacked may be there for the next question. */
  async #opened(sql: Promise<Sql>): Promise<Sql> {
    try {
      return await sql
    } catch (error) {
      if (this.#sql === sql) this.#sql = undefined
      throw error
    }
  }

  #open(): Promise<Sql> {
    this.#wasLetIn = false
    // Read here, where what it throws is no connection.
    const { url, isPooled } = this.#address
    return connect(
      { url, isPooled },
      {
        onclose: () => (this.#isMade = false),
        // The first that a server says to whom it has let in.
        onparameter: () => (this.#wasLetIn = true),
      },
    )
  }

  /** What no error of the driver says, and what is only said at the door. */
  async #refuseAtDoor(error: unknown): Promise<void> {
    if (isOfServer(error)) throw refusedAtDoor(error) ?? error
    // Who is not there, or says nothing, is not asked again: whoever waits is told at once that nothing was sent.
    if (!isHungUpOn(error)) return
    const { ssl, host, port } = readAddress(this.#address.url)
    if (ssl !== undefined && (await saysNoToTls(host, port))) throw withoutTls(`${host}:${port}`, error)
  }

  /** The next question makes a new one. Never fails: of one that did not come about whoever asked for it is told. */
  async drop(): Promise<void> {
    const sql = this.#sql
    this.#sql = undefined
    this.#isMade = false
    const [opened] = await Promise.allSettled([sql])
    if (opened.status === 'fulfilled') await opened.value?.end({ timeout: 0 })
  }
}

const turnLost = (): HeimdallError =>
  new HeimdallError('STORE_BUSY', 'the fleet’s engine has ended this machine’s turn, and undone it', {
    hint: 'run the command again',
  })

/** A pooler that nobody has named has another connection for this transaction. Alone, a statement is prepared again by the driver; in a transaction it is too late for that. */
const isUnprepared = (error: unknown): boolean =>
  error instanceof HeimdallError && ['26000', '42P05'].includes(String((error.cause as { code?: unknown }).code))

/** Loaded with the first connection: whoever has no fleet never reads it. */
export async function connect({ url, isPooled }: EngineAddress, more: postgres.Options<never> = {}): Promise<Sql> {
  const { default: make } = await import('postgres')
  const address = readAddress(url)
  return make(address.url, {
    max: 1,
    // A session holds none while it does nothing: engines have few.
    idle_timeout: 20,
    connect_timeout: ENGINE_CONNECT_MS / 1_000,
    // A round trip less at the start, and no array of ours needs it.
    fetch_types: false,
    prepare: !isPooled,
    onnotice: () => undefined,
    connection: { application_name: 'heimdall' },
    ...(address.ssl === undefined ? {} : { ssl: address.ssl }),
    host: address.host,
    database: address.database,
    ...more,
  })
}

interface Address {
  readonly url: string
  /** As it is, without the brackets and the signs that a URL needs. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly ssl: { ca?: string; rejectUnauthorized: true; servername: string; host?: string } | undefined
}

/** Past this machine every connection is encrypted and the server proved; a weaker `sslmode` in the URL is refused, not obeyed. */
export function readAddress(text: string): Address {
  const url = parseUrl(text)
  const mode = url.searchParams.get('sslmode')
  const rootCert = url.searchParams.get('sslrootcert')
  for (const name of ['sslmode', 'sslrootcert']) url.searchParams.delete(name)
  const isHere = ['localhost', '127.0.0.1', '[::1]', ''].includes(url.hostname)
  if (!isHere && mode !== null && mode !== 'verify-full')
    throw new HeimdallError('CONFIG_INVALID', `sslmode=${mode}: a fleet's engine on another machine is proved`, {
      hint: 'leave sslmode out or say verify-full; sslrootcert=FILE names a CA of your own',
    })
  const wantsTls = mode === null ? !isHere : mode !== 'disable'
  const ca = rootCert === null ? {} : { ca: readRoot(rootCert) }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return {
    url: url.href,
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    database: decodeURIComponent(url.pathname.slice(1)),
    // What the certificate has to name. An address is none that a server may be asked for by name.
    ssl: wantsTls
      ? { ...ca, rejectUnauthorized: true, ...(isIP(host) === 0 ? { servername: host } : { servername: '', host }) }
      : undefined,
  }
}

function readRoot(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new HeimdallError('CONFIG_INVALID', `sslrootcert=${printable(path)} cannot be read: ${error.code ?? ''}`, {
      hint: 'it is the path of a file with the certificate of the CA, on this machine',
    })
  }
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text).length >= 0
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

function parseUrl(text: string): URL {
  try {
    const url = new URL(text)
    // The driver would decode them later, and fail with words of its own.
    if ([url.username, url.password, url.pathname].some((part) => !isDecodable(part))) throw new TypeError()
    const isElsewhere = ['host', 'port'].some((name) => url.searchParams.has(name))
    if (isElsewhere)
      throw new HeimdallError('CONFIG_INVALID', 'host and port stand behind the @ of a URL, not in its parameters', {
        hint: 'it looks like postgres://role:password@host:5432/database; a socket of this machine is 127.0.0.1',
      })
    if (['postgres:', 'postgresql:'].includes(url.protocol)) return url
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  // Never the text itself: it may have a password in it.
  throw new HeimdallError('CONFIG_INVALID', 'this is not the URL of a PostgreSQL database', {
    hint: 'it looks like postgres://role:password@host:5432/database; in a password % is written %25, @ is %40',
  })
}
