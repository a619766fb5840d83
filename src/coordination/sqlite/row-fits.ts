// Values of rows that mean more than their column's type says: text that is read as JSON, as a number or as part of a path, spans that are added to a time. Whoever reads them reads those of all machines, so what means nothing must not get that far.
import { ORCHESTRATOR_SETTING } from '../dispatched.ts'
import { isId } from '../../ids.ts'
import { type Row, SHARED_TABLES, type SharedTable } from '../log-entry.ts'
import { isStaleMinutes, STALE_SETTING } from '../who/alive.ts'
import { readHaid } from '../who/haid.ts'
import { isSecretHash } from '../who/secret-hash.ts'
import { isObject } from '../../plain-object.ts'

type Value = Row[string] | undefined
type Fits = (value: Value) => boolean

/** No number of ours comes near: whoever counted on from a larger one could not count at all. */
const COUNT_MAX = 2 ** 50

export const isCountable = (value: number): boolean => Math.abs(value) <= COUNT_MAX

/** Longer than any that is allowed, and short enough to be added to a time. */
const SPAN_MAX = 2 ** 31

const isSpan: Fits = (value) => typeof value === 'number' && value >= 0 && value <= SPAN_MAX

const matching =
  (pattern: RegExp): Fits =>
  (value) =>
    typeof value === 'string' && pattern.test(value)

const isHaid: Fits = (value) => typeof value === 'string' && readHaid(value) !== undefined

/** It is named where people read, in marks that end with a bracket. */
const isEventId = matching(/^[A-Za-z0-9._:-]{1,100}$/)

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one: unknown) => typeof one === 'string')

/** Text that is JSON of this form. */
const json =
  (fits: (value: unknown) => boolean): Fits =>
  (value) => {
    try {
      return fits(JSON.parse(String(value)))
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return false
    }
  }

const orNull =
  (fits: Fits): Fits =>
  (value) =>
    value === null || value === undefined || fits(value)

const anObject = json(isObject)
const scopes = json(
  (value) =>
    Array.isArray(value) &&
    value.every(
      (one: unknown) =>
        isObject(one) &&
        [one['raw'], one['canonical'], one['kind'], one['base']].every((part) => typeof part === 'string') &&
        isTexts(one['patterns']),
    ),
)

const FITS: Readonly<Partial<Record<SharedTable | 'events', Readonly<Record<string, Fits>>>>> = {
  agents: {
    haid: isHaid,
    agent_id: matching(/^[a-z0-9-]{1,64}$/),
    session_secret_hash: orNull((value) => typeof value === 'string' && isSecretHash(value)),
  },
  claims: { scopes, ttl_minutes: isSpan },
  tickets: { scopes },
  events: { id: isEventId, payload: anObject },
  tasks: {
    needs: orNull(json((value) => isObject(value) && ['mcp', 'tools', 'not'].every((list) => isTexts(value[list])))),
    reason: orNull(json((value) => isObject(value) && typeof value['why'] === 'string')),
  },
  contracts: { contract: anObject },
  workers: { profile: anObject, ttl_s: isSpan },
  attempts: { result: orNull(anObject) },
  assignments: {
    // The folder of its task is called so.
    assignment_id: (value) => typeof value === 'string' && isId(value),
    contract: anObject,
    result: orNull(anObject),
    asks: orNull(json((value) => isObject(value) && typeof value['question'] === 'string')),
  },
}

const aLease = json((held) => isObject(held) && isTexts([held['holder'], held['machine']]))

/** By key. One that is not known here is a later version's. */
const SETTINGS: ReadonlyMap<string, Fits> = new Map([
  [STALE_SETTING, (value) => isStaleMinutes(Number(value))],
  [ORCHESTRATOR_SETTING, (value) => value === '' || aLease(value)],
])

/** Whatever was read from JSON: values that a database can have, the key among them, and something besides. */
export function isRow(table: string, row: unknown): row is Row {
  if (!isObject(row)) return false
  const values = Object.values(row)
  const key = Object.hasOwn(SHARED_TABLES, table) ? SHARED_TABLES[table as SharedTable] : 'seq'
  return values.length > 1 && values.every(isValue) && row[key] !== undefined && row[key] !== null
}

export const isValue = (value: unknown): value is Row[string] =>
  value === null || typeof value === 'string' || (typeof value === 'number' && isCountable(value))

/** Of a row that another machine has made. */
export function fitsTable(table: SharedTable | 'events', row: Row): boolean {
  if (table === 'settings') return SETTINGS.get(String(row['key']))?.(row['value']) ?? true
  for (const [column, fits] of Object.entries(FITS[table] ?? {})) if (!fits(row[column])) return false
  return true
}
