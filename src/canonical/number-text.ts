// Number literals to their one canonical spelling (decision 0020): integers exactly, everything else as ECMAScript prints the double.
import { HeimdallError } from '../errors.ts'

const LITERAL = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/** The canonical text of a JSON number literal, which must be valid. `-0`, `0.0` and `0e9` are all `0`. */
export function numberText(literal: string): string {
  const double = Number(literal)
  if (!Number.isFinite(double)) {
    const shown = literal.length > 40 ? `${literal.slice(0, 40)}…` : literal
    throw new HeimdallError('JSON_NUMBER_RANGE', `${shown} is larger than a double can hold (about 1.8e308)`)
  }
  const printed = String(double === 0 ? 0 : double)
  if (printed === literal) return literal
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = LITERAL.exec(literal) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  // The value is 0.SIGNIFICANT times ten to this power. A finite double keeps it small unless every digit is zero.
  const power = digits.length - fraction.length + Number(exponent)
  if (significant === '' || significant.length > power) return significant === '' ? '0' : printed
  return sign + integerText(significant, power)
}

/** The layout of ECMAScript's Number::toString for an integer, with all its digits instead of the nearest double's. */
function integerText(significant: string, power: number): string {
  if (power <= 21) return significant.padEnd(power, '0')
  const rest = significant.slice(1)
  return `${significant.slice(0, 1)}${rest === '' ? '' : `.${rest}`}e+${power - 1}`
}
