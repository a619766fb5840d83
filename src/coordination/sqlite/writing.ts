// Everything that a change writes, as SQL. Shared rows go through the draft of the entry, local ones do not.
import { type Row, SHARED_TABLES, type SharedTable } from '../log-entry.ts'
import type { Reader, Writer } from '../store.ts'
import { createDispatchWriter } from './dispatch-rows.ts'
import type { EntryDraft, LocalWrite } from './entry-draft.ts'
import { agentRow, claimChanges, claimRow, eventRow, localAgentRow, localClaimRow, noteRow, taskRow } from './rows.ts'
import type { Statements } from './statements.ts'

/** `draft` is that of the change that runs. */
export function createWriter(sql: Statements, reader: Reader, draft: () => EntryDraft): Writer {
  /** What changes nothing leaves no trace; otherwise the row as it stands, with all that the table has given it. */
  const share = (table: SharedTable, key: string, row: Row): void => {
    const put = sql.one(`${upsert(table, key, row)} RETURNING *`, ...Object.values(row))
    if (put !== undefined) draft().put(table, put)
  }
  const locally = (...write: LocalWrite): void => {
    sql.run(...write)
    draft().local.push(write)
  }
  const keepLocally = (table: string, key: string, row: Row): void =>
    locally(upsert(table, key, row), ...Object.values(row))
  /** A sign of life, which a fleet is told of. */
  const signOf = (who: string): void => void draft().signs.add(who)
  const add = (table: SharedTable, row: Row): Row => {
    const added = sql.one(`${insert(table, row)} RETURNING *`, ...Object.values(row)) ?? {}
    draft().put(table, added)
    return added
  }

  return {
    ...reader,
    signAs(haid) {
      draft().haid = haid
    },
    putAgent(agent) {
      share('agents', 'haid', agentRow(agent))
      keepLocally('local_agents', 'haid', localAgentRow(agent))
    },
    addClaim(claim) {
      const epoch = Number(add('claims', claimRow(claim))[SHARED_TABLES.claims])
      const added = { ...claim, epoch }
      keepLocally('local_claims', 'epoch', localClaimRow(added))
      for (const base of new Set(claim.scopes.map((scope) => scope.base)))
        sql.run('INSERT INTO bases (base, epoch) VALUES (?, ?)', base, epoch)
      return added
    },
    putClaim(claim) {
      const changes = claimChanges(claim)
      const put = sql.one(
        `UPDATE claims SET ${Object.keys(changes)
          .map((column) => `${column} = ?`)
          .join(', ')} WHERE epoch = ? RETURNING *`,
        ...Object.values(changes),
        claim.epoch,
      )
      if (put !== undefined) draft().put('claims', put)
      keepLocally('local_claims', 'epoch', localClaimRow(claim))
      if (claim.state !== 'active') sql.run('DELETE FROM bases WHERE epoch = ?', claim.epoch)
    },
    addEvent(event) {
      const row = eventRow(event)
      const added = sql.one(`${insert('events', row)} ON CONFLICT (id) DO NOTHING RETURNING seq`, ...Object.values(row))
      if (added === undefined) return undefined
      const seq = Number(added['seq'])
      draft().event(seq)
      return seq
    },
    putNote: (note) => share('notes', 'message_id', noteRow(note)),
    putIncursion({ pair, since, count, eventId }) {
      share('incursions', 'pair', { pair, since_wall_ms: since.wallMs, count, event_id: eventId })
      keepLocally('local_incursions', 'pair', {
        pair,
        read_wall_ms: since.wallMs,
        since_boot: since.boot,
        since_mono_ms: since.monoMs,
      })
    },
    addTicket({ holder, scopes, process, refreshed }) {
      const ticket = Number(add('tickets', { holder, scopes: JSON.stringify(scopes) })[SHARED_TABLES.tickets])
      keepLocally('local_tickets', 'ticket', {
        ticket,
        process,
        refreshed_boot: refreshed.boot,
        refreshed_mono_ms: refreshed.monoMs,
        refreshed_wall_ms: refreshed.wallMs,
      })
      signOf(ticketSign(ticket))
      return ticket
    },
    removeTicket(ticket) {
      const removed = sql.one('DELETE FROM tickets WHERE ticket = ? RETURNING ticket', ticket)
      if (removed === undefined) return
      draft().remove('tickets', ticket)
      sql.run('DELETE FROM local_tickets WHERE ticket = ?', ticket)
    },
    ...createDispatchWriter({ share, keepLocally, sign: signOf }),
    putTask: (task) => share('tasks', 'task_id', taskRow(task)),
    putSetting: (key, value) => share('settings', 'key', { key, value }),
    beat(haid, at) {
      signOf(haid)
      locally(
        `INSERT INTO local_agents (haid, beat_count, beat_boot, beat_mono_ms, beat_wall_ms) VALUES (?, 1, ?, ?, ?)
         ON CONFLICT (haid) DO UPDATE SET beat_count = coalesce(beat_count, 0) + 1, beat_boot = excluded.beat_boot,
           beat_mono_ms = excluded.beat_mono_ms, beat_wall_ms = excluded.beat_wall_ms`,
        haid,
        at.boot,
        at.monoMs,
        at.wallMs,
      )
    },
    putBeat(haid, { count, at }) {
      signOf(haid)
      keepLocally('local_agents', 'haid', {
        haid,
        beat_count: count,
        beat_boot: at.boot,
        beat_mono_ms: at.monoMs,
        beat_wall_ms: at.wallMs,
      })
    },
    putSighting: (haid, { boot, count, monoMs, ageMs }) =>
      keepLocally('local_agents', 'haid', {
        haid,
        seen_boot: boot,
        seen_count: count,
        seen_mono_ms: monoMs,
        seen_age_ms: ageMs,
      }),
    refreshTicket(ticket, at) {
      signOf(ticketSign(ticket))
      locally(
        'UPDATE local_tickets SET refreshed_boot = ?, refreshed_mono_ms = ?, refreshed_wall_ms = ? WHERE ticket = ?',
        at.boot,
        at.monoMs,
        at.wallMs,
        ticket,
      )
    },
    putLocalSetting: (key, value) => keepLocally('local_settings', 'key', { key, value }),
  }
}

/** What a waiter's signs are known by. */
export const ticketSign = (ticket: number | string): string => `ticket:${ticket}`

function insert(table: string, row: Row): string {
  const columns = Object.keys(row)
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}

const upserts = new Map<string, string>()

/** Inserts, or changes what has the same key where it differs. A table and one of its columns say which columns the row has. */
function upsert(table: string, key: string, row: Row): string {
  const columns = Object.keys(row)
  const name = `${table} ${columns.at(-1)}`
  const known = upserts.get(name)
  if (known !== undefined) return known
  const others = columns.filter((column) => column !== key)
  const made = `${insert(table, row)} ON CONFLICT (${key}) DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(', ')}
    WHERE (${others.map((column) => `${table}.${column}`).join(', ')}) IS NOT (${others.map((column) => `excluded.${column}`).join(', ')})`
  upserts.set(name, made)
  return made
}
