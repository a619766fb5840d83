// Everything that is read of the store, as SQL: shared rows, and beside them what this machine alone knows.
import { PARSED_CLAIMS_KEPT } from '../../limits.ts'
import { baseQuery } from '../../scopes/base.ts'
import type { Scope } from '../../scopes/scope.ts'
import type { Row } from '../log-entry.ts'
import type { Claim, Reader } from '../store.ts'
import { agentFrom, claimFrom, eventFrom, incursionFrom, noteFrom, taskFrom, ticketFrom } from './rows.ts'
import { conditions } from './conditions.ts'
import { createDispatchReader } from './dispatch-rows.ts'
import type { Statements } from './statements.ts'

const AGENTS = 'SELECT * FROM agents LEFT JOIN local_agents USING (haid)'
const CLAIMS = 'SELECT * FROM claims LEFT JOIN local_claims USING (epoch)'

export function createReader(sql: Statements): Reader {
  const scopesOf = createScopeCache()
  const claimOf = (row: Row): Claim => claimFrom(row, scopesOf(row))
  return {
    agent: (haid) => map(sql.one(`${AGENTS} WHERE haid = ?`, haid), agentFrom),
    agentById: (agentId) => map(sql.one(`${AGENTS} WHERE agent_id = ?`, agentId), agentFrom),
    agents: () => sql.all(`${AGENTS} ORDER BY agent_id`).map(agentFrom),
    revokedAgents: () => sql.all(`${AGENTS} WHERE revoked_ms IS NOT NULL ORDER BY agent_id`).map(agentFrom),
    agentsUnseen: (boot) =>
      sql
        .all(
          `SELECT * FROM local_agents JOIN agents USING (haid)
           WHERE (beat_boot < ?1 OR beat_boot > ?1) AND (seen_boot IS NOT ?1 OR seen_count IS NOT beat_count)`,
          boot,
        )
        .map(agentFrom),
    agentsOfTree: (tree) =>
      sql
        .all(
          `SELECT * FROM local_agents JOIN agents USING (haid)
           WHERE session_tree = ? AND process_epoch = session_epoch ORDER BY agent_id`,
          tree,
        )
        .map(agentFrom),
    claim: (claimId) => map(sql.one(`${CLAIMS} WHERE claim_id = ?`, claimId), claimOf),
    claims({ holder, state, task }) {
      const where = conditions({ holder, state, task })
      return sql.all(`${CLAIMS} ${where.sql} ORDER BY epoch`, ...where.values).map(claimOf)
    },
    candidates(bases) {
      const queries = bases.map(baseQuery)
      // One statement however many bases: a commit asks for a thousand.
      return sql
        .all(
          `${CLAIMS} WHERE epoch IN (
             SELECT epoch FROM bases WHERE base IN (SELECT value FROM json_each(?))
             UNION
             SELECT epoch FROM json_each(?) AS below CROSS JOIN bases
             WHERE base >= below.value ->> 0 AND base < below.value ->> 1
           ) ORDER BY epoch`,
          JSON.stringify([...new Set(queries.flatMap(({ atOrAbove }) => atOrAbove))]),
          JSON.stringify(queries.map(({ from, to }) => [from, to])),
        )
        .map(claimOf)
    },
    events({ afterSeq, types, claimId, agent, task, first = -1, last }) {
      const where = conditions({ claim_id: claimId, task })
      const extra: string[] = []
      const values = [...where.values]
      if (afterSeq !== undefined) {
        extra.push('seq > ?')
        values.push(afterSeq)
      }
      if (types !== undefined) {
        extra.push('type IN (SELECT value FROM json_each(?))')
        values.push(JSON.stringify(types))
      }
      if (agent !== undefined) {
        extra.push('(actor = ? OR to_agent = ?)')
        values.push(agent, agent)
      }
      const joined = [where.sql, ...extra].filter((part) => part !== '').join(' AND ')
      const whereSql = joined === '' || joined.startsWith('WHERE') ? joined : `WHERE ${joined}`
      if (last === undefined)
        return sql.all(`SELECT * FROM events ${whereSql} ORDER BY seq LIMIT ?`, ...values, first).map(eventFrom)
      return sql
        .all(`SELECT * FROM events ${whereSql} ORDER BY seq DESC LIMIT ?`, ...values, last)
        .map(eventFrom)
        .toReversed()
    },
    knownEvents: (ids) =>
      new Set(
        sql
          .all('SELECT id FROM events WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids))
          .map((row) => String(row['id'])),
      ),
    lastSeq: () => Number(sql.one('SELECT coalesce(max(seq), 0) AS seq FROM events')?.['seq']),
    note: (messageId) => map(sql.one('SELECT * FROM notes WHERE message_id = ?', messageId), noteFrom),
    notes({ to, state, task, unackedOnly, limit }) {
      const where = conditions({ to_agent: to, state, task })
      const unacked =
        unackedOnly === true ? `${where.sql === '' ? 'WHERE' : 'AND'} requires_ack = 1 AND state <> 'acked'` : ''
      return sql
        .all(`SELECT * FROM notes ${where.sql} ${unacked} ORDER BY number DESC LIMIT ?`, ...where.values, limit ?? -1)
        .map(noteFrom)
    },
    incursion: (pair) =>
      map(
        sql.one('SELECT * FROM incursions LEFT JOIN local_incursions USING (pair) WHERE pair = ?', pair),
        incursionFrom,
      ),
    incursionCounts: (eventIds) =>
      new Map(
        sql
          .all(
            'SELECT event_id, count FROM incursions WHERE event_id IN (SELECT value FROM json_each(?))',
            JSON.stringify(eventIds),
          )
          .map((row) => [String(row['event_id']), Number(row['count'])]),
      ),
    tickets: () =>
      sql.all('SELECT * FROM tickets LEFT JOIN local_tickets USING (ticket) ORDER BY ticket').map(ticketFrom),
    task: (taskId) => map(sql.one('SELECT * FROM tasks WHERE task_id = ?', taskId), taskFrom),
    tasks({ owner, state, dispatched }) {
      const where = conditions({ owner, state }, dispatched === true ? ['needs IS NOT NULL'] : [])
      return sql.all(`SELECT * FROM tasks ${where.sql} ORDER BY started_ms, task_id`, ...where.values).map(taskFrom)
    },
    setting: (key) => map(sql.one('SELECT value FROM settings WHERE key = ?', key), valueOf),
    localSetting: (key) => map(sql.one('SELECT value FROM local_settings WHERE key = ?', key), valueOf),
    head: () => headOf(sql),
    ...createDispatchReader(sql),
  }
}

export function headOf(sql: Statements): number {
  return Number(sql.one('SELECT coalesce(max(seq), 0) AS seq FROM entries')?.['seq'])
}

const valueOf = (row: Row): string => String(row['value'])

function map<T>(row: Row | undefined, make: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : make(row)
}

/** Scopes of a claim never change, and comparing them compiles them: a long-lived process keeps the parsed ones, oldest out first. */
function createScopeCache(): (row: Row) => readonly Scope[] {
  const known = new Map<string, readonly Scope[]>()
  return (row) => {
    // By id and not by epoch: an epoch that was rolled back is given out again.
    const claimId = String(row['claim_id'])
    const cached = known.get(claimId)
    if (cached !== undefined) return cached
    const scopes = JSON.parse(String(row['scopes'])) as Scope[]
    if (known.size >= PARSED_CLAIMS_KEPT) known.delete(known.keys().next().value ?? claimId)
    known.set(claimId, scopes)
    return scopes
  }
}
