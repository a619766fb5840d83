// The file of a store, opened for one act by whoever has no room of it. Light: every room loads it.
import { HeimdallError } from '../../errors.ts'
import { type Database, openDatabase } from '../../storage/sqlite.ts'
import { MIGRATIONS } from './schema.ts'

export function inDatabase<T>(path: string, act: (db: Database) => T): T {
  const db = openDatabase(path, { migrations: MIGRATIONS })
  try {
    return act(db)
  } finally {
    db.close()
  }
}

/** A copy of what is there, for whoever wants it back. */
export function copyAside(path: string, as: string): void {
  inDatabase(path, (db) => db.prepare('VACUUM INTO ?').run(as))
}

/** What is wrong with the file that is there, as a database; nothing where it is a sound one. */
export function brokenness(path: string): string | undefined {
  try {
    return inDatabase(path, (db) => db.problems()[0])
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'STORE_CORRUPT') return error.message
    throw error
  }
}
