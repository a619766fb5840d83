// `WHERE a = ? AND b = ?` of the values that are given, and of further conditions that need none.
import type { Value } from './statements.ts'

export function conditions(
  wanted: Readonly<Record<string, string | undefined>>,
  further: readonly string[] = [],
): { sql: string; values: Value[] } {
  const given = Object.entries(wanted).flatMap(([column, value]) =>
    value === undefined ? [] : [[column, value] as const],
  )
  const parts = [...given.map(([column]) => `${column} = ?`), ...further]
  return {
    sql: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`,
    values: given.map(([, value]) => value),
  }
}
