// What persons are asked and have answered in one run: a small database in its folder, shared by its shims and by `heimdall approve`.
import { createHash } from 'node:crypto'
import { HeimdallError } from '../errors.ts'
import { ASK_ANSWERED_KEPT, ASK_OPEN_MAX } from '../limits.ts'
import type { Database, Statement } from '../storage/sqlite.ts'

export const APPROVAL_MIGRATIONS = [
  `CREATE TABLE requests (
     id TEXT PRIMARY KEY, run_id TEXT NOT NULL, rule_id TEXT NOT NULL, rule_hash TEXT NOT NULL,
     server_name TEXT NOT NULL, tool_name TEXT NOT NULL, args_hash TEXT NOT NULL, args_preview TEXT NOT NULL,
     question TEXT NOT NULL, agent_id TEXT NOT NULL, asked_at TEXT NOT NULL, times INTEGER NOT NULL,
     answer TEXT, answered_by TEXT, answered_at TEXT, lasts TEXT, of_rule INTEGER, closed_at TEXT,
     is_told INTEGER NOT NULL DEFAULT 0
   ) WITHOUT ROWID;
   CREATE TABLE answers (
     id INTEGER PRIMARY KEY, rule_id TEXT NOT NULL, rule_hash TEXT NOT NULL, call TEXT, answer TEXT NOT NULL,
     message TEXT, is_once INTEGER NOT NULL, boot_id TEXT, until_mono_ms REAL
   );
   CREATE INDEX answers_of_rule ON answers (rule_id)`,
] as const

export type PersonAnswer = 'allow' | 'deny'

/** A rule that asks, as it stands: an answer for another text of it is none for this one. */
export interface AskingRule {
  readonly ruleId: string
  readonly ruleHash: string
}

/** A call as a person answers for it: the tool of a server, with these arguments. */
export interface AskedCall {
  readonly serverName: string
  readonly toolName: string
  /** Of the arguments; empty where nobody has read them whole, and then only the whole rule can be answered for. */
  readonly argsHash: string
}

export interface Question extends AskedCall, AskingRule {
  readonly runId: string
  readonly agentId: string
  readonly question: string
  /** What a human reads of the arguments. */
  readonly argsPreview: string
  readonly askedAt: string
}

/** A row of the table, as commands list it. */
export interface Request {
  readonly id: string
  readonly run_id: string
  readonly rule_id: string
  readonly rule_hash: string
  readonly server_name: string
  readonly tool_name: string
  readonly args_hash: string
  readonly args_preview: string
  readonly question: string
  readonly agent_id: string
  readonly asked_at: string
  readonly times: number
  readonly answer: PersonAnswer | null
  readonly answered_by: string | null
  readonly answered_at: string | null
  readonly lasts: string | null
  readonly of_rule: number | null
  /** When the run ended before there was an answer. */
  readonly closed_at: string | null
}

/** How long an answer holds. */
export type Lasts = { readonly kind: 'once' } | { readonly kind: 'run' } | { readonly kind: 'for'; readonly ms: number }

/** The moment by the clock that all processes of one boot share. */
export interface BootMoment {
  readonly bootId: string
  readonly monoMs: number
}

interface Standing {
  readonly id: number
  readonly rule_id: string
  readonly answer: PersonAnswer
  readonly message: string | null
  readonly is_once: number
}

/** Answers that a call may use, and whether one of them goes with its first use. */
export interface FoundAnswers {
  readonly byRule: ReadonlyMap<string, PersonAnswer | { readonly denial: string }>
  readonly onceIds: ReadonlyMap<string, number>
}

type Asked = { readonly id: string; readonly isNew: boolean } | { readonly isFull: true; readonly open: number }

const IS_OPEN = 'answer IS NULL AND closed_at IS NULL'

export class Approvals {
  readonly #db: Database
  readonly #standing: Statement

  constructor(db: Database) {
    this.#db = db
    this.#standing = db.prepare(
      `SELECT id, rule_id, answer, message, is_once FROM answers
       WHERE rule_id = ? AND rule_hash = ? AND (call IS NULL OR (call = ? AND ? <> ''))
         AND (until_mono_ms IS NULL OR (boot_id = ? AND until_mono_ms > ?)) ORDER BY id DESC LIMIT 1`,
    )
  }

  /** The newest answer for each of the rules; it is read, not used up. */
  find(rules: readonly AskingRule[], call: AskedCall, { bootId, monoMs }: BootMoment): FoundAnswers {
    const byRule = new Map<string, PersonAnswer | { readonly denial: string }>()
    const onceIds = new Map<string, number>()
    for (const { ruleId, ruleHash } of rules) {
      const row = this.#standing.get(ruleId, ruleHash, callKey(call), call.argsHash, bootId, monoMs) as
        | Standing
        | undefined
      if (row === undefined) continue
      byRule.set(ruleId, row.answer === 'deny' && row.message !== null ? { denial: row.message } : row.answer)
      if (row.is_once === 1) onceIds.set(ruleId, row.id)
    }
    return { byRule, onceIds }
  }

  /** Uses up an answer that was for once; false when another shim was quicker. */
  take(id: number): boolean {
    return this.#db.prepare('DELETE FROM answers WHERE id = ?').run(id).changes === 1
  }

  /** Puts a question, unless the same one is open already or there are too many. */
  ask(question: Question): Asked {
    const id = questionId(question.runId, question, question)
    return this.#db.transaction(() => {
      const again = this.#db.prepare(`UPDATE requests SET times = times + 1 WHERE id = ? AND ${IS_OPEN}`).run(id)
      if (again.changes > 0) return { id, isNew: false }
      const open = this.#countOpen()
      if (open >= ASK_OPEN_MAX) return { isFull: true, open }
      const { runId, ruleId, ruleHash, serverName, toolName, argsHash, argsPreview, agentId, askedAt } = question
      this.#db
        .prepare(
          `INSERT OR REPLACE INTO requests
             (id, run_id, rule_id, rule_hash, server_name, tool_name, args_hash, args_preview, question, agent_id, asked_at, times)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`,
        )
        .run(
          id,
          runId,
          ruleId,
          ruleHash,
          serverName,
          toolName,
          argsHash,
          argsPreview,
          question.question,
          agentId,
          askedAt,
        )
      this.#forgetOldest()
      return { id, isNew: true }
    })
  }

  /** The call was cancelled: its question goes, with an answer for once that came meanwhile. */
  withdraw(id: string): void {
    this.#db.transaction(() => {
      const asked = this.#db.prepare('SELECT * FROM requests WHERE id = ?').get(id) as Request | undefined
      if (asked === undefined) return
      this.#db.prepare('DELETE FROM answers WHERE is_once = 1 AND call = ?').run(callKey(askedCall(asked)))
      this.#db.prepare(`DELETE FROM requests WHERE id = ? AND (answer IS NULL OR lasts = 'once')`).run(id)
    })
  }

  /** Of questions that are no longer open the latest are kept, for `list --all`. */
  #forgetOldest(): void {
    this.#db
      .prepare(
        `DELETE FROM requests WHERE id IN (SELECT id FROM requests
           WHERE closed_at IS NOT NULL OR (answer IS NOT NULL AND is_told = 1) ORDER BY asked_at DESC LIMIT -1 OFFSET ?)`,
      )
      .run(ASK_ANSWERED_KEPT)
  }

  #countOpen(): number {
    const { open } = this.#db.prepare(`SELECT count(*) AS open FROM requests WHERE ${IS_OPEN}`).get() as {
      open: number
    }
    return open
  }

  /** The run has ended: its calls do not wait any more. An answer that is given all the same holds if the run goes on. */
  closeOpen(at: string): void {
    this.#db.prepare(`UPDATE requests SET closed_at = ? WHERE ${IS_OPEN}`).run(at)
  }

  list(): Request[] {
    return this.#db.prepare('SELECT * FROM requests ORDER BY asked_at, id').all()
  }

  get hasOpen(): boolean {
    return this.#db.prepare(`SELECT 1 FROM requests WHERE ${IS_OPEN} LIMIT 1`).get() !== undefined
  }

  /** A person answers: for the call that was asked about, or for every call of the rule. Open questions that it settles are closed. */
  answer(
    request: Request,
    answer: PersonAnswer,
    given: {
      readonly by: string
      readonly at: string
      readonly lasts: Lasts
      readonly ofRule: boolean
      readonly now: BootMoment
      /** Why, for the agent. */
      readonly message?: string | null
    },
  ): void {
    const { by, at, lasts, ofRule, now, message = null } = given
    if (!ofRule && request.args_hash === '')
      throw new HeimdallError('USAGE', `the arguments of ${request.id} were too large to be read`, {
        hint: 'look at the call itself; --rule answers for every call of the rule',
      })
    const call = ofRule ? null : callKey(askedCall(request))
    const until = lasts.kind === 'for' ? now.monoMs + lasts.ms : null
    this.#db.transaction(() => {
      const { rule_id: ruleId, rule_hash: ruleHash } = request
      this.#db
        .prepare('DELETE FROM answers WHERE until_mono_ms IS NOT NULL AND (boot_id <> ? OR until_mono_ms <= ?)')
        .run(now.bootId, now.monoMs)
      this.#db
        .prepare(
          'INSERT INTO answers (rule_id, rule_hash, call, answer, message, is_once, boot_id, until_mono_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        )
        .run(ruleId, ruleHash, call, answer, message, lasts.kind === 'once' ? 1 : 0, now.bootId, until)
      const [which, ...whose] =
        ofRule && lasts.kind !== 'once' ? ['rule_id = ? AND rule_hash = ?', ruleId, ruleHash] : ['id = ?', request.id]
      this.#db
        .prepare(
          `UPDATE requests SET answer = ?, answered_by = ?, answered_at = ?, lasts = ?, of_rule = ?
           WHERE answer IS NULL AND ${which}`,
        )
        .run(answer, by, at, lastsText(lasts), ofRule ? 1 : 0, ...whose)
    })
  }

  /** Answers that the record has not heard of; each is returned to one caller alone. */
  takeUntold(): Request[] {
    return this.#db.transaction(() => {
      const untold = this.#db
        .prepare('SELECT * FROM requests WHERE answer IS NOT NULL AND is_told = 0')
        .all() as unknown as Request[]
      for (const { id } of untold) this.#db.prepare('UPDATE requests SET is_told = 1 WHERE id = ?').run(id)
      return untold
    })
  }

  close(): void {
    this.#db.close()
  }
}

function askedCall({ server_name, tool_name, args_hash }: Request): AskedCall {
  return { serverName: server_name, toolName: tool_name, argsHash: args_hash }
}

function lastsText(lasts: Lasts): string {
  return lasts.kind === 'for' ? `${lasts.ms} ms` : lasts.kind
}

function callKey({ serverName, toolName, argsHash }: AskedCall): string {
  return JSON.stringify([serverName, toolName, argsHash])
}

/** Short enough to be typed, the same for the same question. */
export function questionId(runId: string, { ruleId, ruleHash }: AskingRule, call: AskedCall): string {
  return (
    createHash('sha256')
      .update(`${runId}\n${ruleId}\n${ruleHash}\n${callKey(call)}`)
      .digest('hex')
      // An agent chooses the arguments: short enough to type, too long to make two that meet.
      .slice(0, 16)
  )
}
