// Texts beside the log of a machine alone: rows of its own store. It has some when it comes back from a fleet with tasks that are still open.
import type { Annex, CarriedText } from '../annex.ts'
import type { Database } from '../../storage/sqlite.ts'
import type { Statements } from './statements.ts'

export function createLocalAnnex(db: Database, sql: Statements, wallMs: () => number): Annex {
  return {
    async lay(name, text) {
      db.transaction(() => layLocally(sql, { name, text }, wallMs()))
    },
    async fetch(name) {
      const row = sql.one('SELECT text FROM local_annex WHERE name = ?', name)
      return row === undefined ? undefined : String(row['text'])
    },
    list: async () =>
      sql
        .all('SELECT name, laid_ms FROM local_annex ORDER BY name')
        .map((row) => ({ name: String(row['name']), ageMs: Math.max(0, wallMs() - Number(row['laid_ms'])) })),
    async clear(names) {
      db.transaction(() => {
        for (const name of names) sql.run('DELETE FROM local_annex WHERE name = ?', name)
      })
    },
  }
}

/** In a transaction of the caller's. */
export function layLocally(sql: Statements, { name, text }: CarriedText, wallMs: number): void {
  sql.run(
    `INSERT INTO local_annex (name, laid_ms, text) VALUES (?1, ?2, ?3)
     ON CONFLICT (name) DO UPDATE SET laid_ms = ?2, text = ?3`,
    name,
    wallMs,
    text,
  )
}
