// Signs of life of those on other machines, as the engine tells of them, and which decisions rest on somebody's silence.
import { FLEET_HEARD_MS } from '../../limits.ts'
import type { Row } from '../log-entry.ts'
import { workerSign } from '../dispatched.ts'
import { HEARD_SETTING } from '../membership.ts'
import type { Moment } from '../moment.ts'
import type { Sign } from '../shared-log.ts'
import type { EntryDraft } from './entry-draft.ts'
import type { Statements } from './statements.ts'

const TICKET = 'ticket:'

/**
 * Silence is what the engine has counted, and goes on by this machine's monotonic clock from here. An agent that was
 * last active here keeps its own beats unless it has been seen elsewhere since.
 */
export function putSigns(sql: Statements, signs: readonly Sign[], now: Moment): void {
  for (const { who, count, silentMs } of signs) {
    if (who.startsWith(TICKET)) {
      sql.run(
        'UPDATE local_tickets SET refreshed_boot = ?, refreshed_mono_ms = ?, refreshed_wall_ms = ? WHERE ticket = ? AND process IS NULL',
        now.boot,
        now.monoMs - silentMs,
        Math.round(now.wallMs - silentMs),
        Number(who.slice(TICKET.length)),
      )
      continue
    }
    sql.run(
      `INSERT INTO local_agents
         (haid, beat_count, beat_boot, beat_mono_ms, beat_wall_ms, seen_boot, seen_count, seen_mono_ms, seen_age_ms)
       VALUES (?1, ?2, '', 0, ?3, ?4, ?2, ?5, ?6)
       ON CONFLICT (haid) DO UPDATE SET beat_count = ?2, beat_boot = '', beat_mono_ms = 0, beat_wall_ms = ?3,
         seen_boot = ?4, seen_count = ?2, seen_mono_ms = ?5, seen_age_ms = ?6
       WHERE coalesce(beat_boot, '') <> ?4 OR ?5 - beat_mono_ms > ?6`,
      who,
      count,
      Math.round(now.wallMs - silentMs),
      now.boot,
      now.monoMs,
      silentMs,
    )
  }
}

/** Owners and agents elsewhere whom the change treats as silent: it may not be accepted once they have spoken. */
export function silentIn(sql: Statements, draft: EntryDraft): Pick<Sign, 'who' | 'count'>[] {
  const named = draft.puts.flatMap((put) => ('removed' in put ? [] : (displaced(put.table, put.row) ?? [])))
  return [...new Set(named)]
    .filter((who) => who !== draft.haid)
    .flatMap((who) => {
      const row = sql.one(`SELECT beat_count FROM local_agents WHERE haid = ? AND beat_boot = ''`, who)
      return row === undefined ? [] : [{ who, count: Number(row['beat_count']) }]
    })
}

function displaced(table: string, row: Row): string | undefined {
  if (table === 'claims' && row['state'] !== 'active') return String(row['holder'])
  if (table === 'workers' && row['state'] === 'gone') return workerSign(String(row['worker_id']))
  return table === 'agents' ? String(row['haid']) : undefined
}

/** Not at every call: it is for people and for bounds of seconds. */
export function noteHeard(sql: Statements, now: Moment): void {
  const row = sql.one('SELECT value FROM local_settings WHERE key = ?', HEARD_SETTING)
  const last = row === undefined ? undefined : (JSON.parse(String(row['value'])) as Moment)
  if (last !== undefined && last.boot === now.boot && now.monoMs - last.monoMs < FLEET_HEARD_MS) return
  sql.run(
    'INSERT INTO local_settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2',
    HEARD_SETTING,
    JSON.stringify(now),
  )
}
