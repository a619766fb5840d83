// Which index of the entries a question is answered by. What SQLite guesses from averages may pass over all that the index has of a name.
import { INDEX_COUNTED_MAX } from '../../limits.ts'
import type { RunIndex } from './run-index.ts'
import { CALL_TYPE, COMMON } from './index-schema.ts'

/** Columns that have an index of their own, those first under which few entries stand as a rule. */
const LED_BY = ['run', 'type', 'rule', 'decision', 'reason', 'status', 'tool', 'agent', 'server'] as const

export type Named = (typeof LED_BY)[number]

/** Said in the question, so that the index without the common ones can be used. */
const UNCOMMON: Readonly<Partial<Record<Named, string>>> = {
  type: `type <> ${CALL_TYPE.id}`,
  rule: 'rule IS NOT NULL',
  decision: `decision <> ${COMMON.decision.id}`,
  reason: `reason <> ${COMMON.reason.id}`,
  status: `status <> ${COMMON.status.id}`,
}

const COMMON_IDS: Readonly<Partial<Record<Named, number>>> = {
  type: CALL_TYPE.id,
  decision: COMMON.decision.id,
  reason: COMMON.reason.id,
  status: COMMON.status.id,
}

/** What an entry must have: one of these numbers in each of the columns. */
export type WantedIds = ReadonlyMap<Named, readonly number[]>

interface Option {
  readonly index: string
  readonly columns: readonly Named[]
  /** In the order of time without sorting. */
  readonly isOrdered: boolean
}

export interface Terms {
  readonly terms: readonly string[]
  readonly values: readonly (string | number)[]
}

export function termsOf(wanted: WantedIds, columns: Iterable<Named> = wanted.keys()): Terms {
  const terms: string[] = []
  const values: (string | number)[] = []
  for (const column of columns) {
    const ids = wanted.get(column) ?? []
    const uncommon = UNCOMMON[column]
    if (uncommon !== undefined && !hasCommon(column, ids)) terms.push(`e.${uncommon}`)
    terms.push(ids.length === 1 ? `e.${column} = ?` : `e.${column} IN (SELECT value FROM json_each(?))`)
    values.push(ids.length === 1 ? Number(ids[0]) : JSON.stringify(ids))
  }
  return { terms, values }
}

/** The index to read; nothing where no name is given, so that SQLite reads by time. */
export function leadOf(index: RunIndex, wanted: WantedIds, time: Terms): string | undefined {
  const options = optionsOf(wanted)
  const [only] = options
  if (only === undefined) return undefined
  if (options.length === 1 && only.isOrdered) return only.index
  const counted = options.map((option) => ({ ...option, count: countOf(index, wanted, option, time) }))
  const least = Math.min(...counted.map(({ count }) => count))
  const best = counted.filter(({ count }) => count === least)
  // Where all have many, the first; but many that have to be sorted are worse than a walk through time.
  return best.find(({ isOrdered }) => isOrdered || least < INDEX_COUNTED_MAX)?.index ?? 'entries_by_time'
}

/** Of one run together with what few entries have, then each alone. */
function optionsOf(wanted: WantedIds): Option[] {
  const named = LED_BY.filter((column) => wanted.has(column) && !hasCommon(column, wanted.get(column) ?? []))
  const isOne = (column: Named): boolean => wanted.get(column)?.length === 1
  const pairs = named
    .filter((column) => wanted.has('run') && UNCOMMON[column] !== undefined)
    .map((column) => ({
      index: `entries_by_run_and_${column}`,
      columns: ['run', column] as const,
      isOrdered: isOne('run') && isOne(column),
    }))
  const alone = named.map((column) => ({
    index: `entries_by_${column}`,
    columns: [column],
    isOrdered: isOne(column),
  }))
  // Never more than under either name.
  return [
    ...pairs,
    ...alone.filter(({ columns }) => !pairs.some((pair) => columns.every((one) => pair.columns.includes(one)))),
  ]
}

/** No further than it matters: each costs a step in the index. */
function countOf(index: RunIndex, wanted: WantedIds, option: Option, time: Terms): number {
  const { terms, values } = termsOf(wanted, option.columns)
  const where = [...terms, ...time.terms].join(' AND ')
  const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM entries e INDEXED BY ${option.index} WHERE ${where} LIMIT ${INDEX_COUNTED_MAX})`
  return (index.db.prepare(sql).get(...values, ...time.values) as { count: number }).count
}

function hasCommon(column: Named, ids: readonly number[]): boolean {
  const common = COMMON_IDS[column]
  return common !== undefined && ids.includes(common)
}
