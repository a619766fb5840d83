// `match.time.utc_hours`: hours of the day in UTC, written as 9, "9-17" or {start, end}.
import type { Fields } from '../bundle/fields.ts'
import type { HourRange } from '../types.ts'
import { isObject } from '../../plain-object.ts'

export function readHours(fields: Fields, name: string): HourRange[] {
  const value = fields.raw(name)
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  const ranges = items.map((item) => rangeOf(item))
  if (ranges.length === 0 || ranges.includes(undefined))
    fields.problem(name, 'takes hours from 0 to 24: 9, "9-17" (until before 17) or {start: 9, end: 17}')
  return ranges.filter((range) => range !== undefined)
}

function rangeOf(item: unknown): HourRange | undefined {
  if (typeof item === 'number') return valid(item, item + 1)
  if (typeof item === 'string') {
    const [, start, end] = /^(\d{1,2})\s*-\s*(\d{1,2})$/.exec(item) ?? []
    return start === undefined ? undefined : valid(Number(start), Number(end))
  }
  if (isObject(item) && Object.keys(item).every((key) => key === 'start' || key === 'end'))
    return valid(item['start'], item['end'])
  return undefined
}

function valid(start: unknown, end: unknown): HourRange | undefined {
  const isHour = (hour: unknown, max: number): hour is number =>
    Number.isInteger(hour) && Number(hour) >= 0 && Number(hour) <= max
  return isHour(start, 23) && isHour(end, 24) && start !== end ? { start, end } : undefined
}

/** Whether the moment is in one of the ranges. A range whose end comes first goes over midnight. */
export function isInHours(ranges: readonly HourRange[], wallMs: number): boolean {
  const hour = Math.floor(wallMs / 3_600_000) % 24
  return ranges.some(({ start, end }) => (start < end ? hour >= start && hour < end : hour >= start || hour < end))
}
