// What a member can say of its fleet: how far its copy is, who else there is, and what an answer of the engine is worth.
import type { Sql } from './engine-connection.ts'

export interface EngineFacts {
  /** Of the project, for people. */
  readonly name: string
  readonly seq: number
  readonly id: string
  readonly format: number
  readonly rules: number
  readonly server: string
  readonly settings: Readonly<Record<string, string>>
  readonly isStandby: boolean
  /** The engine's clock, in milliseconds since 1970. */
  readonly wallMs: number
}

export interface MemberFacts {
  readonly machine: string
  readonly version: string
  readonly format: number
  readonly rules: number
  readonly heard_ms_ago: number
  readonly is_gone: boolean
}

const SETTINGS = ['fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names'] as const

export async function engineFacts(sql: Sql, project: string): Promise<EngineFacts> {
  const [head] = await sql<{ name: string; seq: string; entry_id: string; format: number; rules: number }[]>`
    SELECT name, seq, entry_id, format, rules FROM heimdall.projects WHERE id = ${project}`
  const [server] = await sql<Record<string, string | boolean | number>[]>`
    SELECT current_setting('server_version') AS server, pg_is_in_recovery() AS standby,
      (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS wall,
      current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
      current_setting('synchronous_commit') AS synchronous_commit,
      current_setting('synchronous_standby_names') AS synchronous_standby_names`
  const text = (name: string): string => String(server?.[name] ?? '')
  return {
    name: head?.name ?? '',
    seq: Number(head?.seq ?? 0),
    id: head?.entry_id ?? '',
    format: head?.format ?? 0,
    rules: head?.rules ?? 0,
    server: text('server'),
    settings: Object.fromEntries(SETTINGS.map((name) => [name, text(name)])),
    isStandby: server?.['standby'] === true,
    wallMs: Number(server?.['wall'] ?? 0),
  }
}

export async function memberFacts(sql: Sql, project: string): Promise<MemberFacts[]> {
  const rows = await sql<(Omit<MemberFacts, 'heard_ms_ago'> & { heard_ms_ago: number })[]>`
    SELECT machine, version, format, rules, gone IS NOT NULL AS is_gone,
      (extract(epoch FROM clock_timestamp() - heard) * 1000)::float8 AS heard_ms_ago
    FROM heimdall.members WHERE project = ${project} ORDER BY machine`
  return rows.map((row) => ({ ...row }))
}

/** Who lives on another machine than this one, by the signs that members have given. */
export async function signedElsewhere(sql: Sql, project: string, machine: string): Promise<ReadonlySet<string>> {
  const rows = await sql<{ who: string }[]>`SELECT s.who FROM heimdall.signs s
    JOIN heimdall.members m ON m.project = s.project AND m.member = s.member
    WHERE s.project = ${project} AND m.gone IS NULL AND m.machine <> ${machine}`
  return new Set(rows.map(({ who }) => who))
}

/** Words for people, worst first. */
export function durabilityOf({ settings, isStandby }: Pick<EngineFacts, 'settings' | 'isStandby'>): {
  readonly isSafe: boolean
  readonly words: string
} {
  if (isStandby) return { isSafe: false, words: 'a standby: it can be read and never written' }
  if (settings['fsync'] === 'off')
    return { isSafe: false, words: 'fsync is off: a power cut loses what was acknowledged, or all of it' }
  if (settings['full_page_writes'] === 'off')
    return { isSafe: false, words: 'full_page_writes is off: a power cut can tear pages' }
  if (settings['synchronous_standby_names'] === '')
    return {
      isSafe: true,
      words:
        'on the disk of one server before it answers; a failover to an asynchronous standby can lose acknowledged grants, and is told',
    }
  return {
    isSafe: true,
    words: `on the disk of this server and of its synchronous standbys (${settings['synchronous_standby_names']}) before it answers`,
  }
}

/** Host and database, without role and password. */
export function engineName(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}${port === '' ? '' : `:${port}`}${pathname}`
}

/** Entries of this machine that the engine does not have, or has others in the place of. */
export async function lostAmong<T extends { readonly seq: number; readonly id: string }>(
  sql: Sql,
  project: string,
  places: readonly T[],
): Promise<T[]> {
  const [first, last] = [places[0]?.seq ?? 0, places.at(-1)?.seq ?? 0]
  const rows = await sql<{ seq: string; id: string }[]>`SELECT seq, id FROM heimdall.entries
    WHERE project = ${project} AND seq BETWEEN ${first} AND ${last}`
  const there = new Map(rows.map(({ seq, id }) => [Number(seq), id]))
  const [oldest] = [...there.keys()].sort((a, b) => a - b)
  // What is older than all that the engine keeps says nothing.
  return places.filter(({ seq, id }) => (oldest === undefined || seq >= oldest) && there.get(seq) !== id)
}
