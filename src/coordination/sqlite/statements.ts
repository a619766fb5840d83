// Statements of one connection, prepared once each: the driver takes longer to read a text than SQLite to run it.
import type { Database, Statement } from '../../storage/sqlite.ts'
import type { Row } from '../log-entry.ts'

export type Value = string | number | null

export class Statements {
  readonly #db: Database
  readonly #prepared = new Map<string, Statement>()

  constructor(db: Database) {
    this.#db = db
  }

  one(sql: string, ...values: Value[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined
  }

  all(sql: string, ...values: Value[]): Row[] {
    return this.#statement(sql).all(...values) as Row[]
  }

  run(sql: string, ...values: Value[]): void {
    this.#statement(sql).run(...values)
  }

  #statement(sql: string): Statement {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    this.#prepared.set(sql, statement)
    return statement
  }
}
