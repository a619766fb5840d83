// The log of one project in PostgreSQL: the port of `coordination/shared-log.ts`, one call of the engine each.
import type { Clock } from '../clock.ts'
import type { Membership } from '../coordination/membership.ts'
import type {
  Append,
  Appended,
  LoggedEntry,
  News,
  EntryPlace,
  SharedLog,
  Sign,
  LogTurn,
} from '../coordination/shared-log.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_BATCH, FLEET_ENTRY_BYTES_MAX, FLEET_TURN_MS, FLEET_TURN_WAIT_MS } from '../limits.ts'
import { Connection, type EngineAddress, type Sql } from './engine-connection.ts'
import { createEngineAnnex } from './engine-annex.ts'
import { listen } from './listening.ts'
import { FORMAT, RULES } from './log-version.ts'
import { SnapshotWatch, type KeptCopy } from './snapshot-watch.ts'

/** A project, and one of its members. */
type Speaker = Pick<Membership, 'project' | 'member'>

export interface EngineOptions extends EngineAddress, Speaker {
  readonly clock: Clock
  readonly answerMs?: number
  /** Path of this machine's copy, where whoever follows keeps snapshots of it. */
  readonly copy?: string
  /** Entries between two of them. */
  readonly every?: number
  /** The longest that is waited before one is looked for. */
  readonly pauseMs?: number
}

interface Answer {
  readonly kind: string
  readonly seq: string | null
  readonly id: string | null
  readonly format: number
  readonly body: string | null
}

export function openEngineLog(options: EngineOptions): SharedLog {
  const { project, member, clock } = options
  const engine = new Connection(options, clock, options.answerMs)
  /** By the engine's clock: signs of others are asked for from here on. */
  let heardAt: string | null = null
  let snapshots: SnapshotWatch | undefined
  return {
    append: (entry, waits) =>
      waitingInLine(() => engine.ask((sql) => askAppend(sql, options, entry, waits ? FLEET_TURN_WAIT_MS : 0))),
    takeTurn: (at) => takeTurn(engine, options, at),
    async hear(at, signs) {
      const rows = await engine.ask(
        (sql) =>
          sql<Answer[]>`SELECT * FROM heimdall.hear(${project}, ${member}, ${at.seq}, ${at.id},
            ${listOf(signs)}::text::text[], ${heardAt}::text::timestamptz, ${FLEET_BATCH})`,
      )
      const news = newsOf(rows, at)
      heardAt = rows.find(({ kind }) => kind === 'clock')?.body ?? heardAt
      if (news.entries.length === 0) snapshots?.standsAt(at.seq)
      return news
    },
    annex: createEngineAnnex(engine, project),
    listen(listener, signal) {
      if (hasCopy(options)) snapshots = new SnapshotWatch(options, listener.onFailure, signal)
      listen(options, clock, listener, signal)
    },
    close: () => engine.drop(),
  }
}

const hasCopy = (options: EngineOptions): options is EngineOptions & KeptCopy => options.copy !== undefined

/** The lock on the head is the turn, and the transaction its length: two round trips, with the decision between them. */
async function takeTurn(engine: Connection, options: Speaker, at: EntryPlace): Promise<LogTurn | undefined> {
  const held = await engine.hold()
  if (held === undefined) return undefined
  let isOver = false
  const over = async <T>(last: () => Promise<T>): Promise<T> => {
    isOver = true
    try {
      const answer = await last()
      held.release()
      return answer
    } catch (error) {
      // Whatever state it was left in: the server undoes what was not committed.
      await engine.drop()
      throw error
    }
  }
  try {
    const [, rows] = await held.ask((sql) => bothOf(sql.unsafe('BEGIN').execute(), askTurn(sql, options, at)))
    return {
      entries: newsOf(rows, at).entries,
      append: (entry) =>
        over(() =>
          waitingInLine(async () => {
            const [answer] = await held.ask((sql) =>
              bothOf(askAppend(sql, options, entry, FLEET_TURN_WAIT_MS), sql.unsafe('COMMIT').execute()),
            )
            return answer
          }),
        ),
      end: async () => {
        if (!isOver) await over(() => held.ask((sql) => sql.unsafe('ROLLBACK').execute()))
      },
    }
  } catch (error) {
    await engine.drop()
    if (error instanceof HeimdallError && error.code === 'STORE_BUSY') return undefined
    throw error
  }
}

/** Sent together. Both are waited for, for the connection is in use until then; one that failed is told. */
async function bothOf<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second])
  return Promise.all([first, second])
}

async function waitingInLine(ask: () => Promise<readonly Answer[]>): Promise<Appended> {
  try {
    return appended(await ask())
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'STORE_BUSY') return { kind: 'wait' }
    throw error
  }
}

function askTurn(sql: Sql, { project, member }: Speaker, at: EntryPlace): Promise<Answer[]> {
  return sql<Answer[]>`SELECT * FROM heimdall.take_turn(${project}, ${member}, ${at.seq}, ${at.id}, ${FLEET_BATCH},
    ${FLEET_TURN_MS}, ${FLEET_TURN_WAIT_MS})`.execute()
}

function askAppend(
  sql: Sql,
  { project, member }: Speaker,
  { at, id, body, signs, silent }: Append,
  waitMs: number,
): Promise<Answer[]> {
  if (body.length > FLEET_ENTRY_BYTES_MAX)
    throw new HeimdallError('INVALID_ARGS', `a change of ${body.length} bytes, limit ${FLEET_ENTRY_BYTES_MAX}`)
  const [whos, counts] = [silent.map(({ who }) => who), silent.map(({ count }) => String(count))]
  return sql<
    Answer[]
  >`SELECT * FROM heimdall.append(${project}, ${member}, ${at.seq}, ${at.id}, ${id}, ${body}, ${FORMAT}, ${RULES},
    ${listOf(signs)}::text::text[], ${listOf(whos)}::text::text[], ${listOf(counts)}::text::bigint[], ${FLEET_BATCH},
    ${waitMs})`.execute()
}

/** As PostgreSQL writes an array. */
const listOf = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`

function appended(rows: readonly Answer[]): Appended {
  const first = firstOf(rows)
  switch (first.kind) {
    case 'accepted':
      return { kind: 'accepted' }
    case 'wait':
      return { kind: 'wait' }
    case 'alive':
      return { kind: 'alive', signs: rows.map(signOf) }
    case 'gone':
      throw expelled()
    case 'newer':
      throw newer(first.id ?? '')
    default:
      return { kind: 'behind', entries: entriesOf(rows) }
  }
}

function firstOf(rows: readonly Answer[]): Answer {
  const [first] = rows
  if (first === undefined) throw new HeimdallError('INTERNAL', 'the engine answered without a row')
  return first
}

function newsOf(rows: readonly Answer[], at: EntryPlace): News {
  if (rows.some(({ kind }) => kind === 'gone')) throw expelled()
  const head = rows.find(({ kind }) => kind === 'clock')
  if (head !== undefined && head.format > FORMAT && Number(head.seq) > at.seq) throw newer(`${head.format}`)
  return {
    entries: entriesOf(rows.filter(({ kind }) => kind !== 'clock' && kind !== 'alive')),
    signs: rows.filter(({ kind }) => kind === 'alive').map(signOf),
  }
}

function entriesOf(rows: readonly Answer[]): LoggedEntry[] {
  const [first] = rows
  if (first?.kind === 'forked')
    throw new HeimdallError(
      'STORE_FORKED',
      `the fleet's engine has lost entries: it stands at ${first.seq}, with others`,
      {
        hint: 'heimdall fleet status lists what was lost; heimdall fleet join --rebuild takes the engine’s state',
        details: { seq: Number(first.seq) },
      },
    )
  if (first?.kind === 'old')
    throw new HeimdallError('FOLLOW_TOO_OLD', 'the entries that this machine lacks are no longer kept', {
      hint: 'heimdall fleet join --rebuild takes the state as it is',
      details: { seq: Number(first.seq) },
    })
  return rows.map(({ seq, id, format, body }) => {
    // A replica stops at what it does not know and never skips it.
    if (format > FORMAT) throw newer(String(format))
    return { seq: Number(seq), id: id ?? '', format, body: body ?? '' }
  })
}

const signOf = ({ id, seq, body }: Answer): Sign => ({
  who: id ?? '',
  count: Number(seq),
  silentMs: Number(body),
})

function expelled(): HeimdallError {
  return new HeimdallError('FLEET_EXPELLED', 'this machine was taken out of its fleet: it changes nothing there', {
    hint: 'heimdall fleet join with the join line takes it in again; heimdall fleet leave goes on alone',
  })
}

function newer(asked: string): HeimdallError {
  return new HeimdallError(
    'FLEET_NEWER',
    `the fleet asks for format and rules ${asked}, this program has ${FORMAT} ${RULES}`,
    {
      hint: 'update Heimdall on this machine',
    },
  )
}
