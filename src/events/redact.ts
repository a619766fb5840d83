// What looks like a secret is taken out before anything is written.
import { withoutJsonSecrets } from './json-secrets.ts'
import { SECRET_WORD } from './secret-words.ts'
import { Suspects } from './suspects.ts'

/** Written in place of a secret. */
export const REDACTED = '[REDACTED]'

const WORD = `(?:${SECRET_WORD})`
const IS = String.raw`\s{0,4}[:=]\s{0,4}`

// One expression, so that text without secrets is read once. Tokens of common issuers, bearer headers, private keys,
// passwords in addresses, and values that stand beside a word such as password, also inside JSON where the quotes may be
// escaped. No part of it may go over the same text again and again: the text comes from agents and servers.
const PATTERN = new RegExp(
  [
    String.raw`sk-[A-Za-z0-9_-]{6,}`,
    String.raw`gh[pousr]_[A-Za-z0-9]{6,}`,
    String.raw`github_pat_[A-Za-z0-9_]{10,}`,
    String.raw`glpat-[A-Za-z0-9_-]{10,}`,
    String.raw`xox[abeoprs]-[A-Za-z0-9-]{8,}`,
    String.raw`AKIA[0-9A-Z]{12,}`,
    String.raw`AIza[0-9A-Za-z_-]{20,}`,
    String.raw`npm_[A-Za-z0-9]{20,}`,
    String.raw`[sr]k_(?:live|test)_[A-Za-z0-9]{6,}`,
    String.raw`hf_[A-Za-z0-9]{10,}`,
    String.raw`ya29\.[A-Za-z0-9_-]{6,}`,
    String.raw`SG\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?`,
    String.raw`do[opr]_v1_[A-Za-z0-9]{6,}`,
    // The head of a token stops where another could begin, or a row of heads would be read once from each of them.
    String.raw`eyJ(?:(?!eyJ)[A-Za-z0-9_-]){8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,
    String.raw`-----BEGIN[A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\\rn\s]*(?:-----END[A-Z ]{0,40}PRIVATE KEY-----)?`,
    String.raw`[Bb]earer\s+[A-Za-z0-9._~+/=-]{8,}`,
    String.raw`(?<=[Aa]uthorization:\s{0,4})[^\r\n"'\\]{4,}`,
    String.raw`(?<=[Cc]ookie:\s{0,4})[^\r\n"'\\]{4,}`,
    // Flags of programs: --password X, -u name:X.
    String.raw`(?<=--(?:[a-z]{1,16}-){0,3}(?:password|passwd|passphrase|pass|pwd|secret|token|auth|api-?key|private-key|access-key|credentials?)\s{1,4}["']?)[^\s"'\\-][^\s"'\\]*`,
    String.raw`(?<=(?:^|[\s"'])(?:-u|--user)[\s=]{0,4}["']?[^\s:"'@/]{1,64}:)[^\s"'\\]+`,
    String.raw`(?<=://[^\s/:@"']{0,64}:)[^\s/@"']{1,256}(?=@)`,
    // A quoted value goes to its closing quote, one without quotes to the end of the word.
    String.raw`(?<=${WORD}"${IS}")(?:[^"\\]|\\.)+`,
    String.raw`(?<=${WORD}\\?"${IS})(?:\[[^\]]*\]?|\{[^}]*\}?)`,
    String.raw`(?<=${WORD}\\"${IS}\\")(?:[^"\\]|\\(?!"))+`,
    String.raw`(?<=${WORD}["']?${IS}["'])[^"'\\]+`,
    String.raw`(?<=${WORD}\\?["']?${IS}\\?["']?)(?!(?:null|true|false)\b)[^\s"'\\,;{}[\]]{4,}`,
    String.raw`(?:[Pp]assword|PASSWORD)(?!s?(?![\w-]))[\w-]+`,
  ].join('|'),
  'g',
)
// Cheap test for most texts: none of these words, no secret of a known shape, nothing behind an escape.
const HINT =
  /sk-|[sr]k_[lt]|gh[pousr]_|github_pat_|glpat-|xox|akia|aiza|npm_|hf_|ya29|sg\.|do[opr]_v1_|eyj|bearer|pass|pwd|secret|token|credential|auth|cookie|(?:api|private|access)[ _-]?key|-u|\\u00|:\/\/[^\s/"'@]{1,320}@/i

/** Secrets that show by their shape or by the word before them. */
function clean(text: string): string {
  return text.replace(PATTERN, REDACTED)
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
