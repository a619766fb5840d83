// Canonical JSON of values already in memory, such as a policy snapshot. Text from outside goes through the writer instead.
import { HeimdallError } from '../errors.ts'
import { JSON_DEPTH_MAX } from '../limits.ts'

/** Only plain data is taken: what JSON.stringify would drop or convert (undefined, dates, NaN) is refused. */
export function canonicalJson(value: unknown): string {
  return textOf(value, 0)
}

function textOf(value: unknown, depth: number): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return stringText(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new HeimdallError('JSON_NUMBER_RANGE', `${value} is not a JSON number`)
    return String(value === 0 ? 0 : value)
  }
  if (typeof value !== 'object') throw new HeimdallError('JSON_MALFORMED', `${typeof value} is not a JSON value`)
  if (depth >= JSON_DEPTH_MAX) throw new HeimdallError('JSON_TOO_DEEP', `nested deeper than ${JSON_DEPTH_MAX} levels`)
  if (Array.isArray(value)) return `[${value.map((item: unknown) => textOf(item, depth + 1)).join(',')}]`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw new HeimdallError('JSON_MALFORMED', 'an object with a class is not a JSON value')
  const members = value as Readonly<Record<string, unknown>>
  const keys = Object.keys(members).sort(byCodePoint)
  return `{${keys.map((key) => `${stringText(key)}:${textOf(members[key], depth + 1)}`).join(',')}}`
}

/** Since ES2019 JSON.stringify escapes exactly what must be; half a surrogate pair, which it would escape too, is refused. */
function stringText(text: string): string {
  refuseLoneSurrogates(text)
  return JSON.stringify(text)
}

export function refuseLoneSurrogates(text: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw new HeimdallError('JSON_LONE_SURROGATE', 'a string holds half of a surrogate pair')
}

/**
 * UTF-16 order differs from code point order only between a surrogate and U+E000 to U+FFFF; moving the surrogates above
 * those mends it.
 */
function byCodePoint(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i += 1) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return lifted(x) - lifted(y)
  }
  return a.length - b.length
}

function lifted(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
