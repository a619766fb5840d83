// Secrets in running text: what stands behind a name that says so, and what headers, command lines and addresses carry.
import { ISSUED } from './issuers.ts'
import { type SecretKind, secretKind } from './secret-words.ts'

/** Told by what stands before them, in forms of their own. One expression, so that text without them is read once. */
const CARRIED = new RegExp(
  [
    ISSUED,
    String.raw`\b[Bb][Ee][Aa][Rr][Ee][Rr]\s{1,4}[A-Za-z0-9._~+/=-]{8,}`,
    String.raw`(?<=\bDigest\b[^\r\n]{0,600}\bresponse\s{0,2}=\s{0,2}\\?["']?)[0-9A-Fa-f]{16,}`,
    // Programs that take a password behind a short flag.
    String.raw`(?<=(?:^|[\s"'])(?:-u|--user)[\s=]{0,4}["']?[^\s:"'@/]{1,64}:)[^\s"'\\]+`,
    String.raw`(?<=\b(?:mysql(?:dump|admin|import|show)?|mariadb(?:-dump)?)\s[^\r\n|;&]{0,256}?-p)(?<=\s["']?-p)[^\s"'\\]+`,
    String.raw`(?<=\bsshpass\s{1,4}-p\s{0,4}["']?)[^\s"'\\]+`,
    String.raw`(?<=\bredis-cli\s[^\r\n|;&]{0,256}?-a\s{1,4}["']?)(?<=\s-a\s{1,4}["']?)[^\s"'\\]+`,
    // A line of netrc.
    String.raw`(?<=\blogin\s{1,8}[^\s"'\\]{1,128}(?:\s|\\n){1,8}password\s{1,8})[^\s"'\\]+`,
    // Addresses: passwords, a token in place of a name, signatures, and those that are secrets themselves.
    String.raw`(?<=://[^\s/:@"']{0,64}:)[^\s/@"']{1,256}(?=@)`,
    String.raw`(?<=://)(?=[^\s/:@"']{0,19}[0-9])[^\s/:@"']{20,256}(?=@)`,
    String.raw`(?<=[?&;](?:[Ss]ig|[Ss]ignature|[Xx]-[Aa]mz-[Ss]ignature|[Xx]-[Gg]oog-[Ss]ignature)=)[^\s"'\\&#]{4,}`,
    String.raw`(?<=\bhooks\.slack\.com/(?:services|workflows|triggers)/)[A-Za-z0-9/_-]+`,
    String.raw`(?<=\bdiscord(?:app)?\.com/api/webhooks/)[A-Za-z0-9/_-]+`,
    String.raw`(?<=\bapi\.telegram\.org/bot)[A-Za-z0-9:_-]+`,
  ].join('|'),
  'g',
)
const BASIC = /(?<=\bbasic\s{1,4})[A-Za-z0-9+/]{6,}={0,2}/gi
const ELEMENT = /<([A-Za-z][\w:.-]{0,63})((?:\s[^<>]{0,256})?>)([^<]{1,8192})(?=<\/)/g

/** The text with `mark` in place of secrets. */
export function withoutCarried(text: string, mark: string): string {
  const carried = text
    .replace(CARRIED, mark)
    .replace(BASIC, (value) => (Buffer.from(value, 'base64').includes(0x3a) ? mark : value))
    .replace(ELEMENT, (whole, name: string, rest: string) =>
      secretKind(name) === null ? whole : `<${name}${rest}${mark}`,
    )
  return withoutAssigned(carried, mark)
}

/** A name, the quote that ends it, and what assigns: `name = `, `"name": `, `--name `, `name[...] =>`. */
const ASSIGNED =
  /(?<![\w.\u200b-\u200d\u2060\ufeff\u00ad-])(--)?([A-Za-z_$@][\w.$\u200b-\u200d\u2060\ufeff\u00ad-]{0,127})(\\{0,3}["'`]\]?|&(?:quot|apos|#0*3[49]|#x0*2[27]);)?(?:\s{0,4}(=>|:=|=(?![=~>])|:(?![:/]))\s{0,4}|(?<=[\w"'])\s{1,4})/g

function withoutAssigned(text: string, mark: string): string {
  let out = ''
  let from = 0
  ASSIGNED.lastIndex = 0
  for (let found = ASSIGNED.exec(text); found !== null; found = ASSIGNED.exec(text)) {
    const [whole, dashes, name = '', quote, operator] = found
    // Blanks assign behind a flag only; an arrow behind a bare name begins a function.
    if (operator === undefined ? dashes === undefined : operator === '=>' && quote === undefined) {
      ASSIGNED.lastIndex = found.index + (dashes?.length ?? 0) + name.length
      continue
    }
    const named = secretKind(name) ?? (operator === undefined ? null : kindWithWordBefore(text, found.index, name))
    // Behind a flag stands one word.
    const kind = operator === undefined && named !== null ? 'word' : named
    const at = found.index + whole.length
    ASSIGNED.lastIndex = at
    if (kind === null) continue
    const value = valueAt(text, at, kind, { before: text[found.index - 1] ?? '', isQuoted: quote !== undefined })
    if (value === null || text.startsWith(mark, value.from)) continue
    if (operator === undefined && text[value.from] === '-') continue
    out += text.slice(from, value.from) + mark
    from = value.to
    ASSIGNED.lastIndex = value.to
  }
  return from === 0 ? text : out + text.slice(from)
}

const WORD_BEFORE = /([A-Za-z]{2,16})[^A-Za-z\r\n]{1,3}$/

/** Names of two words in running text, whatever separates them: `api key: …`, `session/id=…`. */
function kindWithWordBefore(text: string, at: number, name: string): SecretKind | null {
  const word = WORD_BEFORE.exec(text.slice(Math.max(0, at - 20), at))?.[1]
  return word === undefined ? null : secretKind(`${word}_${name}`)
}

interface Span {
  readonly from: number
  readonly to: number
}

const QUOTED = /\\{0,3}["'`]|&(?:quot|apos|#0*3[49]|#x0*2[27]);/y
const LIST = /[[{]/y
/** Bounded: whoever goes on from a value must not have read all that follows it. */
const WORD_RUN = /(?:[^\s"'`\\,;&|<>(){}[\]]|&(?:amp|lt|gt);)+/y
const PHRASE_RUN = /(?:[^\r\n"'`\\,;&|<>(){}[\]]|&(?:amp|lt|gt);){1,1024}/y
const LINE_RUN = /[^\r\n]{1,8192}/y
/** Where the next assignment on the line begins. */
const NEXT_NAME = /\s+[\w.-]{1,64}\s?[=:]/

/** The value that begins here; null when it says nothing, or is code that comes by one. */
function valueAt(
  text: string,
  at: number,
  kind: SecretKind,
  { before, isQuoted }: { readonly before: string; readonly isQuoted: boolean },
): Span | null {
  QUOTED.lastIndex = at
  const opening = QUOTED.exec(text)
  if (opening !== null) return quotedAt(text, at + opening[0].length, opening[0])
  LIST.lastIndex = at
  // In code such a thing describes a field; in JSON it holds secrets.
  if (LIST.test(text)) return isQuoted && kind !== 'words' ? { from: at, to: endOfList(text, at) } : null
  if (kind === 'line') {
    const to = lineEnd(text, at, before)
    return to - at < 4 ? null : { from: at, to }
  }
  const run = kind === 'phrase' ? PHRASE_RUN : WORD_RUN
  run.lastIndex = at
  const found = run.exec(text)?.[0] ?? ''
  const value = (kind === 'phrase' ? found.slice(0, NEXT_NAME.exec(found)?.index) : found).trimEnd()
  const to = at + value.length
  if (value.length < 3 || isHarmless(value, text[to] ?? '', kind)) return null
  return { from: at, to }
}

function quotedAt(text: string, from: number, opening: string): Span | null {
  const quote = opening.at(-1) ?? ''
  let to = text.indexOf(opening, from)
  if (opening.length === 1) {
    for (to = from; to < text.length && text[to] !== quote; to += 1) if (text[to] === '\\') to += 1
    to = Math.min(to, text.length)
  }
  if (to === -1) to = text.length
  return to === from ? null : { from, to }
}

/** To the end of the line, or of the quotes that the name stands in. */
function lineEnd(text: string, at: number, before: string): number {
  LINE_RUN.lastIndex = at
  const line = LINE_RUN.exec(text)?.[0] ?? ''
  const end = /["'`]/.test(before) ? line.search(new RegExp(`\\\\*${before}`)) : line.search(/\\+[rn"']/)
  return at + (end === -1 ? line.length : end)
}

function endOfList(text: string, at: number): number {
  let depth = 0
  for (let i = at; i < text.length; i += 1) {
    const char = text[i]
    if (char === '[' || char === '{') depth += 1
    else if (char === ']' || char === '}') {
      depth -= 1
      if (depth === 0) return i + 1
    }
  }
  return text.length
}

const NO_VALUE =
  /^(?:null|true|false|undefined|none|nil|string|str|number|int|integer|bool|boolean|bytes|text|any|unknown|required|optional|yes|no|on|off|\*+|\.{3})$/i
/** Where code comes by a value: variables, the environment, members of what it was given. */
const COMES_FROM =
  /^(?:\$\{?[A-Za-z_]|%[A-Z_]+%|(?:await|new|typeof)\b|(?:process|os|env|import|req|request|res|response|this|self|config|options|opts|args|params|props|input|user|ctx|context|settings|secrets|vars|event|body|form|data)\??[.[])/

function isHarmless(value: string, next: string, kind: SecretKind): boolean {
  if (NO_VALUE.test(value) || COMES_FROM.test(value)) return true
  // A call, a type with parameters, a list of a type.
  if (/[(<[]/.test(next) && /^[A-Za-z_$][\w$.?]*$/.test(value)) return true
  if (kind === 'words' && /^[\d._]+$/.test(value)) return true
  return kind !== 'phrase' && (value.length < 4 || /^[A-Z][a-z]+(?:[A-Z][a-z]+)*$/.test(value))
}
