// The mark of a member in its store, and what this machine is and was called: none of it is in an entry.
import { HeimdallError } from '../../errors.ts'
import { FLEET_NAMES_KEPT } from '../../limits.ts'
import type { CarriedText } from '../annex.ts'
import { FLEET_SETTING, FORMER_NAMES_SETTING, type Membership } from '../membership.ts'
import type { Moment } from '../moment.ts'
import type { EntryPlace } from '../shared-log.ts'
import { placeOf } from './apply.ts'
import { layLocally } from './local-annex.ts'
import { pendingIn } from './pending.ts'
import { noteHeard } from './signs.ts'
import { Statements } from './statements.ts'
import { inDatabase } from './store-file.ts'

/** Refuses while an entry is in doubt. `host`: what a machine that becomes a member was called alone. */
export function setMembership(path: string, membership: Membership | undefined, host?: string): EntryPlace {
  return inDatabase(path, (db) =>
    db.transaction(() => {
      const sql = new Statements(db)
      const name = membership === undefined ? marked(sql)?.machine : host
      putLocally(sql, FORMER_NAMES_SETTING, JSON.stringify(namesIn(sql, name)))
      if (membership !== undefined) mark(sql, membership)
      else {
        const [pending] = pendingIn(sql)
        if (pending !== undefined)
          throw new HeimdallError('OUTCOME_UNKNOWN', `what became of entry ${pending.id} is not known yet`, {
            hint: 'run any command when the engine is back: that settles it',
            details: { entry: pending.id },
          })
        sql.run(`DELETE FROM local_settings WHERE key = ? OR key GLOB ?`, FLEET_SETTING, `${FLEET_SETTING}:*`)
      }
      return placeOf(sql)
    }),
  )
}

/** Not one of the fleet's own settings: it outlives the mark of a create that has failed. */
const UNFINISHED_SETTING = 'unfinished-fleet'

/** The project that a create has begun on an engine, until it is finished there or gone. */
export function unfinishedFleet(path: string): string | undefined {
  const row = inDatabase(path, (db) =>
    new Statements(db).one('SELECT value FROM local_settings WHERE key = ?', UNFINISHED_SETTING),
  )
  return row === undefined ? undefined : String(row['value'])
}

export function setUnfinishedFleet(path: string, project: string | undefined): void {
  inDatabase(path, (db) => {
    const sql = new Statements(db)
    if (project === undefined) sql.run('DELETE FROM local_settings WHERE key = ?', UNFINISHED_SETTING)
    else sql.run('INSERT OR REPLACE INTO local_settings (key, value) VALUES (?, ?)', UNFINISHED_SETTING, project)
  })
}

/** The engine has all of it: texts beside the log too, and it was heard. */
export function finishFleet(path: string, now: Moment): void {
  inDatabase(path, (db) =>
    db.transaction(() => {
      const sql = new Statements(db)
      sql.run('DELETE FROM local_settings WHERE key = ?', UNFINISHED_SETTING)
      sql.run('DELETE FROM local_annex')
      noteHeard(sql, now)
    }),
  )
}

/** Texts beside the log of a machine alone, all of them at once; whoever is in a fleet has none here. */
export function setLocalAnnex(path: string, texts: readonly CarriedText[], wallMs: number): void {
  inDatabase(path, (db) =>
    db.transaction(() => {
      const sql = new Statements(db)
      sql.run('DELETE FROM local_annex')
      for (const text of texts) layLocally(sql, text, wallMs)
    }),
  )
}

export function mark(sql: Statements, membership: Membership): void {
  putLocally(sql, FLEET_SETTING, JSON.stringify(membership))
}

export function putLocally(sql: Statements, key: string, value: string): void {
  sql.run(
    'INSERT INTO local_settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2',
    key,
    value,
  )
}

function localIn(sql: Statements, key: string): unknown {
  const row = sql.one('SELECT value FROM local_settings WHERE key = ?', key)
  return row === undefined ? undefined : JSON.parse(String(row['value']))
}

export const marked = (sql: Statements): Membership | undefined => localIn(sql, FLEET_SETTING) as Membership | undefined

/** A copy that was brought here from another member: what is local in it is none of this machine's. */
export function isForeign(sql: Statements, own: Membership | undefined): boolean {
  const member = marked(sql)?.member
  return member !== undefined && member !== own?.member
}

/** What this machine has been called until now, the name that it gives up first. */
export function namesIn(sql: Statements, givenUp: string | undefined): string[] {
  const names = [givenUp ?? [], (localIn(sql, FORMER_NAMES_SETTING) as string[] | undefined) ?? []].flat()
  return [...new Set(names)].slice(0, FLEET_NAMES_KEPT)
}
