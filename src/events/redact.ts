// What looks like a secret is taken out before anything is written.
import { ISSUERS } from './issuers.ts'
import { withoutJsonSecrets } from './json-secrets.ts'
import { withoutCarried } from './secret-carriers.ts'
import { Suspects } from './suspects.ts'

/** Written in place of a secret. */
export const REDACTED = '[REDACTED]'

// Cheap test for most texts: no word that names a secret, no beginning of a token, no address, nothing that hides letters.
const HINT = new RegExp(
  [
    'pass|pwd|secret|token|cred|auth|cookie|key|jwt|otp|pin|dsn|session|conn|bearer|basic|digest',
    String.raw`mysql|mariadb|redis-cli|-u|sig|://|slack|discord|telegram|\\u|\p{Cf}`,
    ...ISSUERS.flatMap(({ begins }) => begins).map((begin) => begin.replaceAll('.', String.raw`\.`)),
  ].join('|'),
  'iu',
)

/** Secrets that show by their shape or by the word before them. */
function clean(text: string): string {
  return withoutCarried(text, REDACTED)
}

export interface Redact {
  (text: string): string
  /** Tells most bytes that hold no secret without making text of them. */
  readonly suspects: Suspects
}

/**
 * Takes out values known by heart, then everything that has the shape of a secret. `values` are what was injected into an
 * upstream; they are replaced in any spelling that `spellings` gives them.
 */
export function createRedact(
  values: readonly string[] = [],
  spellings: (value: string) => readonly string[] = plain,
): Redact {
  const needles = [...new Set(values.flatMap(spellings))]
    .filter((text) => text !== '')
    .sort((a, b) => b.length - a.length)
  const known = needles.length === 0 ? undefined : new RegExp(needles.map(escapeRegExp).join('|'), 'g')
  const redact = (text: string): string => {
    const first = known === undefined ? text : text.replace(known, REDACTED)
    return HINT.test(first) ? clean(withoutJsonSecrets(first, REDACTED, clean)) : first
  }
  return Object.assign(redact, { suspects: new Suspects(needles) })
}

/** A value as it is, and as it stands inside a JSON string, once and twice over. */
function plain(value: string): readonly string[] {
  const once = JSON.stringify(value).slice(1, -1)
  return [value, once, JSON.stringify(once).slice(1, -1)]
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
