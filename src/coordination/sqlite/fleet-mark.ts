// The mark of a member in its store, and what this machine is and was called: none of it is in an entry.
import { HeimdallError } from '../../errors.ts'
import { FLEET_NAMES_KEPT } from '../../limits.ts'
import type { CarriedText } from '../annex.ts'
import {
  FLEET_SETTING,
  FORMER_NAMES_SETTING,
  MAKING_SETTING,
  type Membership,
  UNFINISHED_SETTING,
} from '../membership.ts'
import type { Moment } from '../moment.ts'
import type { EntryPlace } from '../shared-log.ts'
import { placeOf } from './apply.ts'
import { finishMaking } from './fleet-in-making.ts'
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

/** What a create has begun on an engine. One of an earlier version says nothing of its member. */
export interface UnfinishedFleet {
  readonly project: string
  readonly member: string | undefined
}

export const unfinishedFleet = (path: string): UnfinishedFleet | undefined =>
  inDatabase(path, (db) => unfinishedIn(new Statements(db)))

function unfinishedIn(sql: Statements): UnfinishedFleet | undefined {
  const text = localText(sql, UNFINISHED_SETTING)
  if (text === undefined) return undefined
  const [project = '', member] = text.split(' ')
  return { project, member }
}

export type BegunFleet =
  | { readonly kind: 'joined'; readonly project: string }
  /** By another process, which lives. */
  | { readonly kind: 'making' }
  | {
      readonly kind: 'begun'
      readonly membership: Membership
      /** A create before this one has begun it, and something of it may be on the engine. */
      readonly isTakenUp: boolean
      /** Where the log begins. */
      readonly at: EntryPlace
      readonly beside: readonly CarriedText[]
    }

/**
 * From here on nobody changes this store: where the log begins stands still while the engine is told of it. `membership`
 * is that of a new project; `host` is what the machine was called alone, `seat` that of this process.
 */
export function beginFleet(path: string, membership: Membership, own: { host: string; seat: number }): BegunFleet {
  return inDatabase(path, (db) =>
    db.transaction((): BegunFleet => {
      const sql = new Statements(db)
      const known = marked(sql)
      if (known !== undefined)
        return localText(sql, MAKING_SETTING) === undefined
          ? { kind: 'joined', project: known.project }
          : { kind: 'making' }
      const unfinished = unfinishedIn(sql)
      const { project, member = membership.member } = unfinished ?? membership
      const begun = { ...membership, project, member }
      putLocally(sql, UNFINISHED_SETTING, `${project} ${member}`)
      putLocally(sql, FORMER_NAMES_SETTING, JSON.stringify(namesIn(sql, own.host)))
      mark(sql, begun)
      putLocally(sql, MAKING_SETTING, String(own.seat))
      return {
        kind: 'begun',
        membership: begun,
        isTakenUp: unfinished !== undefined,
        at: placeOf(sql),
        beside: sql
          .all('SELECT name, text FROM local_annex ORDER BY name')
          .map(({ name, text }) => ({ name: String(name), text: String(text) })),
      }
    }),
  )
}

/** Nothing of it is on the engine, or what is there is others' by now. */
export function forgetUnfinished(path: string): void {
  inDatabase(path, (db) => db.prepare('DELETE FROM local_settings WHERE key = ?').run(UNFINISHED_SETTING))
}

export function finishFleet(path: string, now: Moment): void {
  inDatabase(path, (db) =>
    db.transaction(() => {
      const sql = new Statements(db)
      finishMaking(sql)
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

function localText(sql: Statements, key: string): string | undefined {
  const row = sql.one('SELECT value FROM local_settings WHERE key = ?', key)
  return row === undefined ? undefined : String(row['value'])
}

function localIn(sql: Statements, key: string): unknown {
  const text = localText(sql, key)
  return text === undefined ? undefined : JSON.parse(text)
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
