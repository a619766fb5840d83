// Is the fleet fit to be relied on: the connection, the role, the engine's durability, versions, clocks, and whether the copy here is of the same log.
import type { EntryPlace } from '../coordination/shared-log.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_CLOCK_MS } from '../limits.ts'
import { readAddress, type Sql } from './engine-connection.ts'
import type { FleetFile } from './fleet-file.ts'
import { onEngine } from './membership.ts'
import { durabilityOf, engineFacts } from './fleet-status.ts'
import { FORMAT, RULES } from './log-version.ts'

export interface FleetCheck {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly fix: string | null
}

export async function fleetChecks(file: FleetFile, at: EntryPlace, wallMs: () => number): Promise<FleetCheck[]> {
  const { ssl } = readAddress(file.url)
  const tls = ok('encryption', ssl === undefined ? 'none, on this machine' : 'TLS, the server is proved')
  try {
    return [tls, ...(await onEngine(file, (ask) => ask((sql) => lookAt(sql, file, at, wallMs))))]
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return [tls, { check: 'engine', state: 'fail', found: error.message, fix: error.hint ?? null }]
  }
}

async function lookAt(
  sql: Sql,
  { project, isPooled }: FleetFile,
  at: EntryPlace,
  wallMs: () => number,
): Promise<FleetCheck[]> {
  const before = wallMs()
  const facts = await engineFacts(sql, project)
  const apartMs = Math.abs(facts.wallMs - (before + wallMs()) / 2)
  const durability = durabilityOf(facts)
  const fits = facts.format <= FORMAT && facts.rules <= RULES
  return [
    ok('engine', `PostgreSQL ${facts.server}`),
    durability.isSafe
      ? ok('durability', durability.words)
      : { check: 'durability', state: 'fail', found: durability.words, fix: 'ask whoever runs it to turn it on' },
    await roleCheck(sql),
    await writableCheck(sql),
    fits
      ? ok('versions', `format ${facts.format}, rules ${facts.rules}`)
      : {
          check: 'versions',
          state: 'fail',
          found: `the fleet has format ${facts.format} and rules ${facts.rules}`,
          fix: 'update Heimdall on this machine',
        },
    await placeCheck(sql, project, at, facts.seq),
    apartMs < FLEET_CLOCK_MS
      ? ok('clocks', `${Math.round(apartMs)} ms apart; nothing depends on it`)
      : {
          check: 'clocks',
          state: 'warn',
          found: `${Math.round(apartMs / 1_000)} s apart; nothing but what is shown depends on it`,
          fix: 'set this machine’s clock',
        },
    ok('bell', isPooled ? 'none behind a pooler: the copy looks every two seconds' : 'LISTEN'),
  ]
}

/** A member calls functions; who can write to the tables can forge everybody's claims. */
async function roleCheck(sql: Sql): Promise<FleetCheck> {
  const [row] = await sql<{ may: boolean; super: boolean }[]>`
    SELECT has_table_privilege('heimdall.entries', 'INSERT') OR has_table_privilege('heimdall.projects', 'UPDATE') AS may,
      (SELECT rolsuper FROM pg_roles WHERE rolname = session_user) AS super`
  if (row?.may === false && !row.super) return ok('role', 'functions and reading, nothing else')
  return {
    check: 'role',
    state: 'warn',
    found: 'this role may write to the tables themselves',
    fix: 'join with the line that heimdall fleet create printed',
  }
}

/** A standby, or an engine that was told to take no changes, answers everything else as usual. */
async function writableCheck(sql: Sql): Promise<FleetCheck> {
  const [row] = await sql<{ closed: boolean; standby: boolean }[]>`
    SELECT current_setting('transaction_read_only') = 'on' AS closed, pg_is_in_recovery() AS standby`
  if (row?.closed === false) return ok('changes', 'taken')
  return {
    check: 'changes',
    state: 'fail',
    found: row?.standby === true ? 'not taken: this is a standby' : 'not taken: transactions are read-only',
    fix:
      row?.standby === true
        ? 'use the URL of the primary'
        : 'ask whoever runs it for default_transaction_read_only = off',
  }
}

async function placeCheck(sql: Sql, project: string, at: EntryPlace, head: number): Promise<FleetCheck> {
  if (at.seq === 0) return ok('copy', `empty; the log stands at ${head}`)
  const [row] = await sql<
    { id: string }[]
  >`SELECT id FROM heimdall.entries WHERE project = ${project} AND seq = ${at.seq}`
  if (row !== undefined && row.id === at.id) return ok('copy', `at entry ${at.seq}, the log at ${head}`)
  return {
    check: 'copy',
    state: 'fail',
    found:
      at.seq > head
        ? `at entry ${at.seq}, and the log stands at ${head}: the engine has lost entries`
        : `entry ${at.seq} is another one in the log, or no longer kept`,
    fix: 'heimdall fleet join --rebuild takes the engine’s state and keeps the old copy beside it',
  }
}

const ok = (check: string, found: string): FleetCheck => ({ check, state: 'ok', found, fix: null })
