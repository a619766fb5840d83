// What a machine alone knows, carried over to a copy that is made anew: processes and work trees are in no entry, and without them whoever runs here would be a stranger to what it holds; and how far its files are, or it would write all of them again.
import type { Row } from '../log-entry.ts'
import { FLEET_SETTING, type Membership } from '../membership.ts'
import { isForeign } from './fleet-mark.ts'
import { Statements } from './statements.ts'
import { inDatabase } from './store-file.ts'

export interface CarriedOver {
  readonly agents: readonly Row[]
  readonly claims: readonly Row[]
  /** How far the ledger's files are, each with the event that is the last in them. */
  readonly exports: readonly Row[]
}

/** Laid down in the transaction that makes the new copy: whoever is killed before it is up to date has lost nothing. */
export const CARRIED_SETTING = `${FLEET_SETTING}:carried`

const NOTHING: CarriedOver = { agents: [], claims: [], exports: [] }

/** Nothing of a copy that is another member's. What was to be carried into this one and was not goes along. */
export function knownHereAlone(path: string, own: Membership | undefined): CarriedOver {
  return inStore(path, (sql) => {
    if (isForeign(sql, own)) return NOTHING
    const before = laidDown(sql)
    return {
      agents: [
        ...before.agents,
        ...sql.all(`SELECT a.haid, a.session_epoch, a.session_secret_hash, l.session_process, l.session_tree
          FROM agents a JOIN local_agents l ON l.haid = a.haid AND l.process_epoch = a.session_epoch
          WHERE l.session_process IS NOT NULL OR l.session_tree IS NOT NULL`),
      ],
      claims: [
        ...before.claims,
        ...sql.all(`SELECT c.claim_id, l.worktree, l.tree FROM claims c JOIN local_claims l ON l.epoch = c.epoch
          WHERE c.state = 'active' AND l.worktree <> ''`),
      ],
      exports: [
        ...before.exports,
        ...sql.all(`SELECT l.key, l.value, e.seq, e.id FROM local_settings l
          JOIN events e ON e.seq = CAST(l.value AS INTEGER) WHERE l.key GLOB 'exported:*'`),
      ],
    }
  })
}

/** Once the copy is up to date. Of a session that another has replaced since, of a claim and of an event that it does not have, nothing is. */
export function carryOver(path: string): void {
  inStore(path, (sql) => {
    const { agents, claims, exports } = laidDown(sql)
    for (const row of agents)
      sql.run(
        `UPDATE local_agents SET process_epoch = ?2, session_process = ?4, session_tree = ?5 WHERE haid = ?1
           AND EXISTS (SELECT 1 FROM agents WHERE haid = ?1 AND session_epoch = ?2 AND session_secret_hash = ?3)`,
        ...Object.values(row),
      )
    for (const row of claims)
      sql.run(
        `UPDATE local_claims SET worktree = ?2, tree = ?3
         WHERE epoch = (SELECT epoch FROM claims WHERE claim_id = ?1 AND state = 'active')`,
        ...Object.values(row),
      )
    // Where another event has its number, what is before it may be others too.
    for (const row of exports)
      sql.run(
        `INSERT OR IGNORE INTO local_settings (key, value)
         SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM events WHERE seq = ?3 AND id = ?4)`,
        ...Object.values(row),
      )
    sql.run('DELETE FROM local_settings WHERE key = ?', CARRIED_SETTING)
  })
}

function laidDown(sql: Statements): CarriedOver {
  const row = sql.one('SELECT value FROM local_settings WHERE key = ?', CARRIED_SETTING)
  return row === undefined ? NOTHING : (JSON.parse(String(row['value'])) as CarriedOver)
}

const inStore = <T>(path: string, act: (sql: Statements) => T): T =>
  inDatabase(path, (db) => db.transaction(() => act(new Statements(db))))
