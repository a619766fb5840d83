// Where a copy stands in the log of its fleet, asked of its file.
import { FLEET_PLACES_COMPARED } from '../../limits.ts'
import type { EntryPlace } from '../shared-log.ts'
import { placeOf } from './apply.ts'
import { pendingIn } from './pending.ts'
import { Statements } from './statements.ts'
import { inDatabase } from './store-file.ts'

/** For people: where this copy stands, and what of it is on its way. */
export function placeIn(path: string): { readonly at: EntryPlace; readonly pending: string | undefined } {
  return inDatabase(path, (db) => {
    const sql = new Statements(db)
    return { at: placeOf(sql), pending: pendingIn(sql)[0]?.id }
  })
}

/** The newest of this machine's entries, oldest first: to find out which of them an engine has lost. */
export function lastPlaces(path: string): (EntryPlace & { readonly by: string | null })[] {
  return inDatabase(path, (db) =>
    new Statements(db)
      .all('SELECT seq, id, haid FROM entries ORDER BY seq DESC LIMIT ?', FLEET_PLACES_COMPARED)
      .map(({ seq, id, haid }) => ({ seq: Number(seq), id: String(id), by: haid === null ? null : String(haid) }))
      .toReversed(),
  )
}
