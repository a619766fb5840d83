// Secrets in running text: what stands next to a name that says so, and what headers, command lines and addresses carry.
import { codedLike, matchesOf, type DecodedText, viewOf } from './escapes.ts'
import { ISSUED } from './issuers.ts'
import { isNameOfSecret, masked, NAME_KEYS, type SecretSpan } from './json-secrets.ts'
import { type SecretKind, secretKind } from './secret-words.ts'

/** The text with `mark` in place of secrets. Matches the decoded text, masks the original. */
export function withoutCarried(text: string, mark: string): string {
  const view = viewOf(text)
  const spans = [shaped, prefixed, inAddresses, inElements, inSections, assigned].flatMap((find) => find(view, mark))
  const masks = spans.map(({ from, to }) => ({ from: view.originalAt(from), to: view.originalAt(to), shown: mark }))
  return masked(text, masks)
}

/** Secrets by their own shape. One expression, so that text without them is read once. */
const SHAPED = new RegExp(
  [
    ISSUED,
    String.raw`\b[Bb][Ee][Aa][Rr][Ee][Rr]\s{1,4}[A-Za-z0-9._~+/=-]{8,}`,
    String.raw`(?<=\bhooks\.slack\.com/(?:services|workflows|triggers)/)[A-Za-z0-9/_-]+`,
    String.raw`(?<=\bdiscord(?:app)?\.com/api/webhooks/)[A-Za-z0-9/_-]+`,
    String.raw`(?<=\bapi\.telegram\.org/bot)[A-Za-z0-9:_-]+`,
  ].join('|'),
  'g',
)
const BASIC = /(?<=\bbasic\s{1,4})[A-Za-z0-9+/]{6,}={0,2}/gi

function shaped({ text }: DecodedText): SecretSpan[] {
  const basic = matchesOf(BASIC, text).filter(([value]) => Buffer.from(value, 'base64').includes(0x3a))
  return [...matchesOf(SHAPED, text), ...basic].map(({ 0: value, index }) => ({
    from: index,
    to: index + value.length,
  }))
}

const SQL = 'identified|with|user|role|encrypted'
/** What stands before a secret in forms of their own: a value token follows. */
const PREFIX = new RegExp(
  [
    String.raw`\bDigest\b[^\r\n]{0,600}?\bresponse\s{0,2}=\s{0,2}(?=\\?["']?[0-9A-Fa-f]{16})`,
    // Programs that take a password after a short flag.
    String.raw`(?<![^\s"'])(?:-[uU]|--(?:proxy-)?user)[\s=]{0,4}["']?[^\s:"'@/]{1,64}:`,
    String.raw`\b(?:mysql(?:dump|admin|import|show)?|mariadb(?:-dump)?)\s[^\r\n|;&]{0,256}?(?<=\s["']?)-p(?!\s)`,
    String.raw`\b(?:docker|podman|helm|oras)\s[^\r\n|;&]{0,32}?\blogin\s[^\r\n|;&]{0,256}?(?<=\s)-p[\s=]{0,4}`,
    String.raw`\bsshpass\s{1,4}-p\s{0,4}`,
    String.raw`\bredis-cli\s[^\r\n|;&]{0,256}?(?<=\s)-a\s{1,4}`,
    // A line of netrc, of a Redis config file, and a statement of SQL.
    String.raw`\blogin\s{1,8}[^\s"'\\]{1,128}(?:\s|\\n){1,8}password\s{1,8}`,
    String.raw`(?<![^\n])[ \t]{0,8}(?:requirepass|masterauth)[ \t]{1,4}`,
    String.raw`\b(?:${SQL}|${SQL.toUpperCase()})\s[^\r\n;"']{0,64}?\b(?:by|BY|password|PASSWORD)\s{1,4}(?=\\{0,3}["'])`,
  ].join('|'),
  'g',
)
const TOKEN_RUN = /[^\s"'\\]+/y

function prefixed(view: DecodedText): SecretSpan[] {
  const spans: SecretSpan[] = []
  PREFIX.lastIndex = 0
  for (let found = PREFIX.exec(view.text); found !== null; found = PREFIX.exec(view.text)) {
    const at = found.index + found[0].length
    const span = literalAt(view, at) ?? runAt(TOKEN_RUN, codedLike(view, at), at)
    // Prefixes overlap: `mysql -u ana:X -pX`.
    PREFIX.lastIndex = found.index + 1
    if (span !== null) spans.push(span)
  }
  return spans
}

const ADDRESS = /(https?)?:\/\//gi
/** A password, up to the last `@` before the path; it may have a slash in it, but `host:8080/` is a port. */
const PASSWORD =
  /([^\s/:@"'[]{0,64}:)(?!(?:\d{0,5}|\$?\{[^}\s]{0,64}\})[/?#])[^\s@"'<>]{1,256}(?:@[^\s/?#@"'<>]{1,256})*(?=@)/y
/** A token in place of a name. */
const HTTP_USER = /[^\s/:@"'<>]{1,256}(?=@)/y
const OTHER_USER = /(?=[^\s/:@"']{0,19}[0-9])[^\s/:@"']{20,256}(?=@)/y

function inAddresses(view: DecodedText): SecretSpan[] {
  const spans: SecretSpan[] = []
  for (const found of matchesOf(ADDRESS, view.text)) {
    const at = found.index + found[0].length
    const text = codedLike(view, at)
    PASSWORD.lastIndex = at
    const user = PASSWORD.exec(text)?.[1]
    const span =
      user === undefined
        ? runAt(found[1] === undefined ? OTHER_USER : HTTP_USER, text, at)
        : { from: at + user.length, to: PASSWORD.lastIndex }
    if (span !== null) spans.push(span)
  }
  return spans
}

const TAG = /<([A-Za-z][\w:.-]{0,63})((?:\s[^<>]{0,512})?)>/g
const BODY = /(?:\s{0,64}<!\[CDATA\[)?[^<]{1,8192}(?=<\/)/y
const NAME_ATTRIBUTE = /\s(?:key|name|property)\s{0,2}=\s{0,2}\\{0,3}["']([^"'\\]{1,128})/i

/** `<password>X`, `<entry key="password">X`, `<key>password</key><string>X`. */
function inElements(view: DecodedText): SecretSpan[] {
  const spans: SecretSpan[] = []
  let isNamed = false
  for (const found of matchesOf(TAG, view.text)) {
    const [whole, name = '', attributes = ''] = found
    const at = found.index + whole.length
    const body = runAt(BODY, codedLike(view, found.index + 1), at)
    if (body === null) continue
    const attribute = NAME_ATTRIBUTE.exec(attributes)?.[1] ?? ''
    if (isNamed || isNameOfSecret(attribute) || secretKind(name) !== null) spans.push(body)
    isNamed = NAME_KEYS.test(name) && isNameOfSecret(view.text.slice(body.from, body.to).trim())
  }
  return spans
}

const SECTION = /^[ \t]*\[{1,2}["']?([\w.:-]{1,128})["']?\]{1,2}[ \t]*\r?\n/gm
const ENTRY = /((?:[ \t]*["']?[\w.-]{1,64}["']?[ \t]*[=:][ \t]*)?)([^\r\n]*)(?:\r?\n|$)/y

/** Values of a section of TOML or INI: `[secrets]`, up to the first line that is no entry. */
function inSections({ text }: DecodedText): SecretSpan[] {
  const spans: SecretSpan[] = []
  for (const { 0: whole, 1: name = '', index } of matchesOf(SECTION, text)) {
    if ((secretKind(name) ?? 'words') === 'words') continue
    let at = index + whole.length
    ENTRY.lastIndex = at
    for (let entry = ENTRY.exec(text); entry !== null && at < text.length; entry = ENTRY.exec(text)) {
      const [, key = '', value = ''] = entry
      if (key === '' && !/^\s*(?:[#;]|$)/.test(value)) break
      if (key !== '' && value !== '') spans.push({ from: at + key.length, to: at + key.length + value.length })
      at = ENTRY.lastIndex
    }
  }
  return spans
}

/** A name as code, config files, forms and command lines write it; then what assigns. */
const INVISIBLE = String.raw`\u200b-\u200d\u2060\ufeff\u00ad`
const ASSIGNED = new RegExp(
  [
    String.raw`(?<![\w.${INVISIBLE}-])(--?)?([A-Za-z_$@][\w.$${INVISIBLE}-]{0,127})`,
    // What closes the name: `"name"`, `[name]`, `name[0]`, `**name**`, `name?`.
    String.raw`((?:\\{0,3}["'\x60]|[\]*?!]|\[\w{0,16}\]){0,4}?)`,
    String.raw`(?:(\s{0,4})(<-|=>|[+?:.|&!]{0,2}={1,3}(?![=~>])|::(?=\s)|:(?![:/])|[(,])\s{0,4}|(?<=[\w"'])\s{1,4})`,
  ].join(''),
  'g',
)
const SIGNATURE = /^(?:x-(?:amz|goog)-)?sig(?:nature)?$/i
/** Before a name: a value follows after blanks. */
const SETS = /(?:#\s{0,4}define|\bconfig(?:ure)?\s{1,4}set)\s{1,4}\S{0,128}$/i
/** Calls that take a secret: `setToken("X")`, but not `nextToken("x")`. */
const SETTER = /(?:^|\.)(?:set|with|use|put|change|update|new|passw\w*$)/i

function assigned(view: DecodedText, mark: string): SecretSpan[] {
  const spans: SecretSpan[] = []
  const { text } = view
  ASSIGNED.lastIndex = 0
  for (let found = ASSIGNED.exec(text); found !== null; found = ASSIGNED.exec(text)) {
    const [whole, dashes = '', name = '', closing = '', blanks = '', operator = ''] = found
    const at = found.index + whole.length
    ASSIGNED.lastIndex = found.index + dashes.length + name.length
    const before = text.slice(Math.max(0, found.index - 20), found.index)
    const kind = secretKind(name) ?? kindInContext(before, dashes, name, operator)
    if (kind === null || text.startsWith(mark, at)) continue
    const isQuoted = /["'`]/.test(closing)
    const isFlag =
      operator === '' && (dashes !== '' || SETS.test(text.slice(Math.max(0, found.index - 160), found.index)))
    if (operator === '' && !isFlag) continue
    if (operator === '(' && !SETTER.test(name)) continue
    if (operator === ',' && !/\(\s?\\{0,3}["'`]$/.test(before)) continue
    if (isFlag && text[at] === '-') continue
    // These assign a quoted literal only: `password => "X"`, `if (password == "X")`, `setPassword("X")`.
    const isWeak =
      (operator === '=>' && !isQuoted) ||
      /^(?:<-|[(,])$/.test(operator) ||
      (/^[=!]==?$/.test(operator) && blanks !== '')
    const span = isWeak
      ? plainLiteralAt(view, at, operator)
      : ((operator === ':' && !isQuoted && kind !== 'words' ? blockAt(text, found.index, whole) : null) ??
        // After a flag stands one word.
        valueAt(view, at, isFlag ? 'word' : kind, { before: before.at(-1) ?? '', isQuoted, operator }))
    if (span === null || text.startsWith(mark, span.from)) continue
    spans.push(span)
    ASSIGNED.lastIndex = span.to
  }
  return spans
}

const WORD_BEFORE = /([A-Za-z]{2,16})[^A-Za-z\r\n@]{1,3}$/

/** The kind of a name that is none by itself: `-Dname=`, `?sig=`, and two words in running text (`api key: …`). */
function kindInContext(before: string, dashes: string, name: string, operator: string): SecretKind | null {
  if (operator === '') return null
  if (dashes === '-') return secretKind(name.slice(1))
  if (/[?&;]$/.test(before) && SIGNATURE.test(name)) return 'word'
  const word = /^[(,]$/.test(operator) ? undefined : WORD_BEFORE.exec(before)?.[1]
  return word === undefined ? null : secretKind(`${word}_${name}`)
}

/** A quoted literal, with the prefixes of Python, C and shells: `b"X"`, `$'X'`, `"""X"""`. */
const OPENING = /(?:[bfruL]{1,2}|[$@]{1,2})?(\\{0,3}(?:"""|'''|["'`]))/y
/** Joins literals into one: `"a" "X"`, `"a" + "X"`. */
const JOINT = /(?:[ \t]{1,8}|\s{0,8}(?:[+.]|\\\n)\s{0,8})(?=(?:[bfruL]{1,2}|[$@]{1,2})?["'])/y
/** Bounded: reading goes on from the end of a value, and must not have read all that follows it. */
const WORD_RUN = /[^\s"'`\\,;&|<>(){}[\]]+/y
const PHRASE_RUN = /[^\r\n"'`\\,;&|<>(){}[\]]{1,1024}/y
const LINE_RUN = /[^\r\n]{1,8192}/y
const FLOW_LIST = /\[[^\r\n[\](){}]{1,1024}\]/y
/** Where the next assignment on the line begins. */
const NEXT_NAME = /\s+[\w.-]{1,64}\s?[=:]/
/** Between a colon and the value: a type (`: string = "X"`), an anchor or a tag of YAML (`: &a X`). */
const TYPE =
  /&?(?:'static\s)?(?:[A-Z][\w.]{0,40}|str(?:ing)?|bytes|any|char|text|typing\.\w{1,20})(?:[<[][\w\s,|.]{0,40}[>\]])?(?:\s?\|\s?[a-z]{1,16}){0,2}\s{0,4}=\s{0,4}(?=[bfruL]{0,2}["'`])|[&!][\w!.-]{0,64}[ \t]{1,8}/y

/** The value that begins here; null when it is empty, says nothing, or is code that comes by one. */
function valueAt(
  view: DecodedText,
  from: number,
  kind: SecretKind,
  { before, isQuoted, operator }: { readonly before: string; readonly isQuoted: boolean; readonly operator: string },
): SecretSpan | null {
  const at = operator === ':' ? (runAt(TYPE, view.text, from)?.to ?? from) : from
  const text = codedLike(view, at)
  const literal = literalAt(view, at)
  if (literal !== null) return operator === '' ? literal : joined(view, literal)
  if (runAt(OPENING, view.text, at) !== null) return null
  // In code, braces after a bare name describe a field; in JSON they hold secrets.
  if (text[at] === '[' || text[at] === '{') {
    if (kind === 'words') return null
    if (isQuoted) return { from: at, to: endOfList(text, at) }
    const list = runAt(FLOW_LIST, text, at)
    return operator === ':' || /["']/.test(text.slice(at, list?.to ?? at)) ? list : null
  }
  if (kind === 'line') {
    const to = lineEnd(text, at, before)
    return to - at < 4 ? null : { from: at, to }
  }
  const run = runAt(kind === 'phrase' ? PHRASE_RUN : WORD_RUN, text, at)
  const found = run === null ? '' : text.slice(at, run.to)
  const value = (kind === 'phrase' ? found.slice(0, NEXT_NAME.exec(found)?.index) : found).trimEnd()
  const to = at + value.length
  if (value.length < 3 || isHarmless(view.text.slice(at, to), text[to] ?? '', kind)) return null
  return { from: at, to }
}

function runAt(run: RegExp, text: string, at: number): SecretSpan | null {
  run.lastIndex = at
  return run.test(text) ? { from: at, to: run.lastIndex } : null
}

/** What stands in the quotes that open here; null without quotes, or with nothing in them. */
function literalAt(view: DecodedText, at: number): SecretSpan | null {
  OPENING.lastIndex = at
  const opening = OPENING.exec(view.text)?.[1]
  if (opening === undefined) return null
  const from = OPENING.lastIndex
  const text = codedLike(view, from)
  let to = text.indexOf(opening, from)
  if (opening.length === 1)
    for (to = from; to < text.length && text[to] !== opening; to += 1) if (text[to] === '\\') to += 1
  if (to === -1 || to > text.length) to = text.length
  return to === from ? null : { from, to }
}

/** A literal after what may as well compare or list: no type, no template; of a call, its last argument. */
function plainLiteralAt(view: DecodedText, at: number, operator: string): SecretSpan | null {
  const span = literalAt(view, at)
  const value = span === null ? '' : view.text.slice(span.from, span.to)
  if (span === null || value.length < 3 || NO_VALUE.test(value) || value.includes('${')) return null
  return operator === ',' && !/^\\{0,3}["'`]{1,3}\s{0,4}\)/.test(view.text.slice(span.to, span.to + 12)) ? null : span
}

function joined(view: DecodedText, first: SecretSpan): SecretSpan {
  let { to } = first
  for (;;) {
    const at = runAt(JOINT, view.text, to + 1)?.to
    const next = at === undefined ? null : literalAt(view, at)
    if (next === null) return { from: first.from, to }
    to = next.to
  }
}

const BLOCK = /[ \t]{0,16}(?:[&!][\w!.-]{0,64}[ \t]{1,8}){0,2}(?:[|>][-+\d]{0,2})?[ \t]{0,16}(?:#[^\r\n]{0,256})?\r?\n/y
const BLOCK_LINE = /([ \t]*)([^\n]*)(?:\n|$)/y

/** The block of YAML under a key that begins its line: everything that is indented deeper, and the items of a list. */
function blockAt(text: string, keyAt: number, assignment: string): SecretSpan | null {
  const head = runAt(BLOCK, text, keyAt + assignment.trimEnd().length)
  if (head === null) return null
  const lineAt = text.lastIndexOf('\n', keyAt - 1) + 1
  if (!/^[ \t-]*$/.test(text.slice(lineAt, keyAt))) return null
  const indent = keyAt - lineAt
  // A capital begins a heading of prose, where a list may follow.
  const isList = /[a-z]/.test(text[keyAt] ?? '')
  BLOCK_LINE.lastIndex = head.to
  let { to } = head
  while (BLOCK_LINE.lastIndex < text.length) {
    const [, blanks = '', line = ''] = BLOCK_LINE.exec(text) ?? []
    if (line.trim() === '') continue
    if (blanks.length < indent || (blanks.length === indent && !(isList && line.startsWith('- ')))) break
    if (to === head.to && COMES_FROM.test(line)) return null
    to = BLOCK_LINE.lastIndex
  }
  const block = text.slice(head.to, to)
  const from = head.to + block.length - block.trimStart().length
  return block.trim() === '' ? null : { from, to: head.to + block.trimEnd().length }
}

/** To the end of the line, or of the quotes that the name stands in. */
function lineEnd(text: string, at: number, before: string): number {
  const run = runAt(LINE_RUN, text, at)
  const line = run === null ? '' : text.slice(at, run.to)
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
  /^(?:\$\{?[A-Za-z_]|%[A-Z_]+%|(?:await|new|typeof|readonly)\b|(?:process|os|env|import|req|request|res|response|this|self|config|options|opts|args|params|props|input|user|ctx|context|settings|secrets|vars|event|body|form|data)\??[.[])/

function isHarmless(value: string, next: string, kind: SecretKind): boolean {
  if (NO_VALUE.test(value) || COMES_FROM.test(value)) return true
  // A call, a type with parameters, a list of a type.
  if (/[(<[]/.test(next) && /^[A-Za-z_$][\w$.?]*$/.test(value)) return true
  if (kind === 'words' && /^[\d._]+$/.test(value)) return true
  return kind !== 'phrase' && (value.length < 4 || /^[A-Z][a-z]+(?:[A-Z][a-z]+)*$/.test(value))
}
