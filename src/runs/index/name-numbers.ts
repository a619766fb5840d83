// Names as numbers: runs have few names of servers, tools, rules and agents, and many calls.
import { INDEX_WORDS_KEPT } from '../../limits.ts'
import type { Database, Statement } from '../../storage/sqlite.ts'

export class Words {
  readonly #numbers = new Map<string, number>()
  readonly #texts = new Map<number, string>()
  readonly #find: Statement
  readonly #text: Statement
  readonly #matching: Statement
  readonly #db: Database
  #add: Statement | undefined

  constructor(db: Database) {
    this.#db = db
    this.#find = db.prepare('SELECT id FROM words WHERE text = ?')
    this.#text = db.prepare('SELECT text FROM words WHERE id = ?')
    this.#matching = db.prepare('SELECT id FROM words WHERE text = ? OR text GLOB ?')
  }

  /** The number of a word, which gets one if it is new. */
  numberOf(text: string): number {
    const known = this.#numbers.get(text) ?? this.find(text)
    if (known !== undefined) return known
    this.#add ??= this.#db.prepare('INSERT INTO words (text) VALUES (?)')
    const id = Number(this.#add.run(text).lastInsertRowid)
    this.#remember(id, text)
    return id
  }

  find(text: string): number | undefined {
    const row = this.#find.get(text) as { id: number } | undefined
    if (row !== undefined) this.#remember(row.id, text)
    return row?.id
  }

  /** The words that a pattern with `*`, `?` or `[…]` means, and the one that is spelt so. */
  matching(pattern: string): readonly number[] {
    return (this.#matching.all(pattern, pattern) as { id: number }[]).map(({ id }) => id)
  }

  textOf(id: number | null): string | null {
    if (id === null) return null
    const known = this.#texts.get(id)
    if (known !== undefined) return known
    const row = this.#text.get(id) as { text: string } | undefined
    if (row !== undefined) this.#remember(id, row.text)
    return row?.text ?? null
  }

  /** After a rollback: what was added is gone. */
  forget(): void {
    this.#numbers.clear()
    this.#texts.clear()
  }

  #remember(id: number, text: string): void {
    // An agent may invent names; those that are used come back by themselves.
    if (this.#numbers.size >= INDEX_WORDS_KEPT) this.forget()
    this.#numbers.set(text, id)
    this.#texts.set(id, text)
  }
}
