// Number literals to their one canonical spelling (decision 0020): integers exactly, everything else as ECMAScript prints the double.
import { HeimdallError } from '../errors.ts'

/** 1 for bytes that a number literal is made of. */
export const NUMERIC = new Uint8Array(256)
for (const byte of Buffer.from('0123456789+-.eE')) NUMERIC[byte] = 1

/** What a JSON number looks like; the scanner collects anything made of these characters and asks here. */
const LITERAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/** The canonical text of a JSON number literal. `-0`, `0.0` and `0e9` are all `0`. */
export function numberText(literal: string): string {
  const parts = LITERAL.exec(literal)
  if (parts === null) throw new HeimdallError('JSON_MALFORMED', `${clip(literal)} is not a number`)
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const double = Number(literal)
  if (!Number.isFinite(double))
    throw new HeimdallError('JSON_NUMBER_RANGE', `${clip(literal)} is larger than a double can hold (about 1.8e308)`)
  if (Number.isSafeInteger(double) && fraction === '' && exponent === '0') return String(double === 0 ? 0 : double)
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  // The value is 0.SIGNIFICANT times ten to this power. A finite double keeps it small unless every digit is zero.
  const power = digits.length - fraction.length + Number(exponent)
  if (significant === '') return '0'
  if (significant.length > power) return String(double === 0 ? 0 : double)
  return sign + integerText(significant, power)
}

/** The layout of ECMAScript's Number::toString for an integer, with all its digits instead of the nearest double's. */
function integerText(significant: string, power: number): string {
  if (power <= 21) return significant.padEnd(power, '0')
  const rest = significant.slice(1)
  return `${significant.slice(0, 1)}${rest === '' ? '' : `.${rest}`}e+${power - 1}`
}

function clip(literal: string): string {
  return literal.length > 40 ? `${literal.slice(0, 40)}…` : literal
}

/**
 * Most numbers are as they should be. An integer of up to 21 digits is its own text; so is a decimal of at most 15
 * significant digits that does not end in 0 and is not below 1e-6, because no two of those share a double.
 */
export function isCanonicalNumber(text: Uint8Array, start: number, end: number): boolean {
  let at = text[start] === 0x2d ? start + 1 : start
  const first = at
  const lead = text[at] as number
  while (at < end && isDigit(text[at] as number)) at += 1
  if (at === first || (lead === 0x30 && at - first > 1)) return false
  if (at === end) return at - first <= 21 && (lead !== 0x30 || first === start)
  if (text[at] !== 0x2e || end - first > 16) return false
  const fraction = at + 1
  at = fraction
  while (at < end && isDigit(text[at] as number)) at += 1
  if (at < end || at === fraction || text[end - 1] === 0x30) return false
  return lead !== 0x30 || end - fraction <= 6
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
