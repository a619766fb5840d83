// A fleet that is being made of a store. What a create that was killed has left in here is settled by whoever opens it next. Light: every room looks.
import { dirname, join } from 'node:path'
import { Seats } from '../../storage/seats.ts'
import { FLEET_SETTING, MAKING_SETTING, UNFINISHED_SETTING } from '../membership.ts'
import { Statements } from './statements.ts'
import { inDatabase } from './store-file.ts'

/** Of the processes that have something under way in the fleet of this store. */
export const seatsOf = (path: string): Seats => new Seats(join(dirname(path), 'fleet'))

/**
 * `isMade`: the way to the engine is written down, which is the last but one step: then all that is left is to say so.
 * Before it, a maker that is dead has made nothing that anybody knows of. The machine goes on alone, and the next create
 * takes up what may be on the engine.
 */
export function settleMaking(path: string, seat: string, isMade: boolean): void {
  if (!isMade && isThere(path, Number(seat))) return
  inDatabase(path, (db) =>
    db.transaction(() => {
      const sql = new Statements(db)
      // Somebody else may have settled it, or begun anew.
      if (sql.one('SELECT value FROM local_settings WHERE key = ?', MAKING_SETTING)?.['value'] !== seat) return
      if (isMade) finishMaking(sql)
      else sql.run('DELETE FROM local_settings WHERE key IN (?, ?)', FLEET_SETTING, MAKING_SETTING)
    }),
  )
}

function isThere(path: string, seat: number): boolean {
  const seats = seatsOf(path)
  try {
    return seats.isTaken(seat)
  } finally {
    seats.leave()
  }
}

/** The engine has all of it, texts beside the log too. In a transaction of the caller's. */
export function finishMaking(sql: Statements): void {
  sql.run('DELETE FROM local_settings WHERE key IN (?, ?)', UNFINISHED_SETTING, MAKING_SETTING)
  sql.run('DELETE FROM local_annex')
}
