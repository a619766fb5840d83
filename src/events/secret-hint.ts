// A glance at a text before anybody looks closely: what every text with a secret in it has somewhere. Kept light: starts ask it of a command line before all that looks closely is loaded.
import { ISSUERS } from './issuers.ts'

/** Written in place of a secret. */
export const REDACTED = '[REDACTED]'

/** No word that names a secret, no beginning of a token, no address: as parts of an expression, for any letter case. */
export const SIGNS: readonly string[] = [
  'pass|pwd|secret|token|cred|auth|cookie|key|jwt|otp|pin|dsn|session|conn|bearer|basic|digest',
  String.raw`mysql|mariadb|redis-cli|-u|sig|://|slack|discord|telegram|\\u`,
  ...ISSUERS.flatMap(({ begins }) => begins).map((begin) => begin.replaceAll('.', String.raw`\.`)),
]

let glance: RegExp | undefined

/** False only where nothing would be taken out. Letters past ASCII may hide others, and tables of these cost more than the look. */
export function mayHoldSecret(text: string): boolean {
  glance ??= new RegExp([...SIGNS, String.raw`[^\0-\x7f]`].join('|'), 'i')
  return glance.test(text)
}
