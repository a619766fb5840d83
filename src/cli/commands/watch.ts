// heimdall watch: entries of the coordination log and changes of sessions as they happen, one line each.
import { type Coordination, type CoordinationOptions, openCoordinationToRead } from '../../coordination/coordination.ts'
import { type Entry, SHARED_TABLES } from '../../coordination/log-entry.ts'
import { iso } from '../../coordination/moment.ts'
import { NO_TASK, toEnvelope } from '../../coordination/protocol.ts'
import { keepLinked } from '../../coordination/linked.ts'
import { type Clock, pause } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { FOLLOW_LOOK_MS } from '../../limits.ts'
import { type Answer, command, type Command, type Context } from '../command.ts'
import { inlineText } from '../../cells/plain-text.ts'
import { changingOptions } from '../coordination-store.ts'
import { roomOptions } from '../../coordination/room-options.ts'
import { type SessionChange, watchSessions } from '../../sessions/changes.ts'
import { noticeReaderGone } from '../output-reader.ts'
import { socketDir, socketDirOf } from '../session-flags.ts'
import { TextOut } from '../text-out.ts'

export const commands: readonly Command[] = [
  command({
    names: ['heimdall watch'],
    hidden: true,
    summary: 'Print the entries of the coordination log, and changes of sessions, as they happen',
    about:
      'One line for each event, and for each session that appears, changes its state or ends; with --json one object ' +
      'per line. Runs until Ctrl-C, or until its reader is gone. Active sessions come first. In a repository without a ' +
      'coordination log it waits for one.',
    flags: {
      after: { type: 'integer', value: 'SEQ', help: 'start after this entry; default: entries from now on' },
      'socket-dir': socketDir,
    },
    examples: {
      'heimdall watch': 'prints claims, notes and sessions as they happen',
      'heimdall watch --json --after 120': 'prints entries from number 121 on, one JSON object per line',
    },
    json: 'print one JSON object a line on stdout, for each thing that happens',
    output:
      'type (following, entry or session), after (following: the last entry before), seq, id, at, author (haid where proved, session_id, run_id), events (as claim history has them), rows (table and key of each changed row), change (session: appeared, state or ended), state, needs_input, exit_code',
    run: async (context, { flags }) => {
      const over = new AbortController()
      const printer = new Printer(context, over)
      const stopOnFailure = (error: unknown): never => {
        over.abort()
        throw error
      }
      // First: a reader that wants one line is gone once it is printed.
      const noticed = noticeReaderGone(context.clock, over.signal, () => over.abort()).catch(stopOnFailure)
      await Promise.all([
        followCoordination(context, flags.after, printer, over.signal).catch(stopOnFailure),
        keepLinked(await changingOptions(context), over.signal).catch(stopOnFailure),
        watchSessions({
          dir: await socketDirOf(context, flags),
          clock: context.clock,
          signal: over.signal,
          onChange: (change) => printer.session(change),
        }).catch(stopOnFailure),
        noticed,
      ])
      await printer.finished()
      return { data: null, text: '', streamed: true } satisfies Answer
    },
  }),
]

async function followCoordination(
  context: Context,
  after: number | undefined,
  printer: Printer,
  signal: AbortSignal,
): Promise<void> {
  const options = await roomOptions(context)
  // All entries of a store that replaced another are new.
  for (let start = after; !signal.aborted; start = 0) {
    const there = openCoordinationToRead(options)
    const from = start ?? there?.store.read((rows) => rows.head()) ?? 0
    printer.following(from)
    const db = there ?? (await openWhenThere(options, context.clock, signal))
    if (db === undefined) return
    try {
      for await (const entry of db.store.follow(from, signal)) await printer.entry(db, entry)
    } catch (error) {
      if (!(error instanceof HeimdallError) || error.code !== 'STORE_REPLACED') throw error
      context.note('the coordination store was removed or replaced; following the new one')
    } finally {
      db.store.close()
    }
  }
}

async function openWhenThere(
  options: CoordinationOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<Coordination | undefined> {
  for (;;) {
    await pause(clock, FOLLOW_LOOK_MS, signal)
    const db = openCoordinationToRead(options)
    if (db !== undefined || signal.aborted) return db
  }
}

/** Prints lines in order; stops when the reader is gone. */
class Printer {
  readonly #context: Context
  readonly #out: TextOut
  readonly #over: AbortController
  #printed: Promise<void> = Promise.resolve()

  constructor(context: Context, over: AbortController) {
    this.#context = context
    this.#out = new TextOut(context.stdout)
    this.#over = over
  }

  following(seq: number): void {
    if (this.#context.json) void this.#print({ type: 'following', after: seq }, [])
    else this.#context.note(`following from entry ${seq} on; Ctrl-C to stop`)
  }

  entry({ project }: Coordination, entry: Entry): Promise<void> {
    const { seq, id, wallMs, author, puts, events } = entry
    const value = {
      type: 'entry',
      seq,
      id,
      at: iso(wallMs),
      author: { haid: author.haid, session_id: author.sessionId, run_id: author.runId },
      events: events.map((event) => toEnvelope(event, project.root)),
      rows: puts.map((put) => ({
        table: put.table,
        key: 'removed' in put ? put.removed : put.row[SHARED_TABLES[put.table]],
        removed: 'removed' in put,
      })),
    }
    return this.#print(value, linesOf(entry))
  }

  session(change: SessionChange): void {
    const { id, state, needs_input: needs, exit_code: code } = change
    const more = code !== null ? `exit ${code}` : needs?.value === true ? 'needs input' : ''
    void this.#print({ type: 'session', ...change }, [['session', id, change.change, state, more].join('  ')])
  }

  #print(value: unknown, lines: readonly string[]): Promise<void> {
    this.#printed = this.#printed.then(async () => {
      const isTaken = this.#context.json
        ? await this.#out.writeLine(value)
        : await this.#out.write(lines.map((line) => `${inlineText(line).trimEnd()}\n`).join(''))
      if (!isTaken) this.#over.abort()
    })
    // The error reaches the caller through the returned promise and `finished`.
    this.#printed.catch(() => this.#over.abort())
    return this.#printed
  }

  finished(): Promise<void> {
    return this.#printed
  }
}

/** One line for each event; for an entry without events, the tables that it changed. */
function linesOf({ seq, wallMs, puts, events }: Entry): string[] {
  const head = `${seq}  ${iso(wallMs)}`
  if (events.length === 0) return [`${head}  ${[...new Set(puts.map(({ table }) => table))].join(' ')}`]
  return events.map(({ type, actor, actorKind, to, scope, task }) =>
    [head, type, actor ?? actorKind, to === null || to === actor ? '' : `to ${to}`, scope ?? '', task ?? NO_TASK]
      .filter((part) => part !== '')
      .join('  '),
  )
}
