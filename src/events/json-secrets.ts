// Secrets in text that is JSON or looks like it: everything under a secret key, what stands beside the name of a secret in pairs and lists, and whatever hides behind escapes.
import { isSecretFlag, type SecretKind, secretKind } from './secret-words.ts'

/** JSON inside strings of JSON is opened this often; deeper it is text like any other. */
const NESTED_MAX = 3
/** Objects and lists that are told apart; what is deeper counts to the last of them. */
const DEPTH_MAX = 64
const STRING = /"[^"\\]*(?:\\[^][^"\\]*)*"?/y
const NEXT = /["[\]{}]/g
const COLON = /\s*:\s*/y
const COMMA = /\s*,\s*/y
const NUMBER = /-?[0-9][0-9.eE+-]*/y
/** Keys of pairs: `{"name": "DB_PASSWORD", "value": "…"}`, in either order. */
export const NAME_KEYS = /^(?:name|key|id|label|header|field|variable|var|param|parameter|property|k|n)$/i
const VALUE_KEYS = /^(?:value|values|val|content|text|data|default|v)$/i
/** `Authorization`, `X-Api-Key`, `x-api-key`: also in a list of more than two, where other names are a list of names. */
const HEADER = /^(?:[A-Z][a-z]*(?:-[A-Z][A-Za-z]*)*|[a-z]+(?:-[a-z]+)+|authorization|cookie)$/

export interface SecretSpan {
  readonly from: number
  to: number
}

/** An object or a list that is being read. */
interface Frame {
  /** Of a pair: it is named like a secret, and where its values stand. */
  isNamed: boolean
  readonly values: SecretSpan[]
  /** As a value of the pair around it: its end is known when it closes. */
  readonly span: SecretSpan | undefined
  readonly isList: boolean
  /** Of a list: its first string, and the one before. */
  first: string | null
  before: string | null
}

/** The text with `mark` in place of secrets; `clean` takes out those that show by their own shape. The text may be cut anywhere. */
export function withoutJsonSecrets(text: string, mark: string, clean: (text: string) => string, nested = 0): string {
  if (!text.includes('"')) return text
  const masks: (SecretSpan & { readonly shown: string })[] = []
  const quoted = JSON.stringify(mark)
  const frames: Frame[] = [newFrame(true)]
  let depth = 0
  let opening: SecretSpan | undefined
  const close = ({ isNamed, values }: Frame): void => {
    if (isNamed) for (const span of values) masks.push({ ...span, shown: quoted })
  }
  for (let at = nextToken(text, 0); at !== null; at = nextToken(text, at.to)) {
    const frame = frames.at(-1) as Frame
    const char = text[at.from]
    if (char !== '"') {
      if (char === '{' || char === '[') {
        depth += 1
        if (frames.length <= DEPTH_MAX)
          frames.push(newFrame(char === '[', opening?.from === at.from ? opening : undefined))
      } else if (depth > 0) {
        depth -= 1
        if (depth < frames.length - 1) {
          if (frame.span !== undefined) frame.span.to = at.to
          close(frames.pop() as Frame)
        }
      }
      continue
    }
    const content = contentOf(text.slice(at.from, at.to))
    const valueAt = after(COLON, text, at.to)
    if (valueAt !== null) {
      const kind = secretKind(content)
      if (kind !== null) {
        const to = endOfValue(text, valueAt, kind)
        if (to > valueAt) masks.push({ from: valueAt, to, shown: quoted })
        at.to = Math.max(at.to, to)
        continue
      }
      if (VALUE_KEYS.test(content)) {
        const isOpened = text[valueAt] === '[' || text[valueAt] === '{'
        const span = { from: valueAt, to: isOpened ? text.length : endOfValue(text, valueAt, null) }
        if (isOpened) opening = span
        if (span.to > valueAt) frame.values.push(span)
      }
      if (NAME_KEYS.test(content) && text[valueAt] === '"' && isNameOfSecret(contentOf(stringAt(text, valueAt))))
        frame.isNamed = true
    }
    const isLast = valueAt === null && after(COMMA, text, at.to) === null
    const isWhole = valueAt === null && isBesideName(frame, content, isLast)
    const inner = nested < NESTED_MAX ? withoutJsonSecrets(content, mark, clean, nested + 1) : content
    const shown = isWhole ? mark : clean(inner)
    if (shown !== content) masks.push({ from: at.from, to: at.to, shown: JSON.stringify(shown) })
    if (!frame.isList) continue
    frame.first ??= content
    frame.before = content
  }
  for (const frame of frames) close(frame)
  return masked(text, masks)
}

function newFrame(isList: boolean, span?: SecretSpan): Frame {
  return { isNamed: false, values: [], span, isList, first: null, before: null }
}

/** Replaces the masked spans; one that overlaps another extends it. */
export function masked(text: string, masks: (SecretSpan & { readonly shown: string })[]): string {
  if (masks.length === 0) return text
  masks.sort((a, b) => a.from - b.from || b.to - a.to)
  let out = ''
  let from = 0
  for (const mask of masks) {
    if (mask.from < from) {
      from = Math.max(from, mask.to)
      continue
    }
    out += text.slice(from, mask.from) + mask.shown
    from = mask.to
  }
  return out + text.slice(from)
}

/** A name alone, no sentence that has one in it. */
export function isNameOfSecret(text: string): boolean {
  return !/\s/.test(text) && secretKind(text) !== null
}

/** Whether a string in a list is the secret that the one before it speaks of: a pair, headers, flags of a program. */
function isBesideName({ first, before }: Frame, content: string, isLast: boolean): boolean {
  if (before === null || content === '') return false
  if (isSecretFlag(before)) return true
  if (/^(?:-[uU]|--(?:proxy-)?user)$/.test(before) && content.includes(':')) return true
  const program = /[^/]*$/.exec(first ?? '')?.[0] ?? ''
  if (program === 'sshpass' && (before === '-p' || /^-p./.test(content))) return true
  if (/^(?:mysql|mariadb)/.test(program) && /^-p./.test(content)) return true
  if (program === 'redis-cli' && before === '-a') return true
  if (!isNameOfSecret(before)) return false
  return (before === first && isLast) || HEADER.test(before)
}

function nextToken(text: string, from: number): SecretSpan | null {
  NEXT.lastIndex = from
  const found = NEXT.exec(text)
  if (found === null) return null
  const to = found[0] === '"' ? found.index + stringAt(text, found.index).length : found.index + 1
  return { from: found.index, to }
}

/** The string that begins here, with its quotes. */
function stringAt(text: string, at: number): string {
  STRING.lastIndex = at
  return STRING.exec(text)?.[0] ?? ''
}

function after(what: RegExp, text: string, at: number): number | null {
  what.lastIndex = at
  return what.test(text) ? what.lastIndex : null
}

/** What a string stands for; as it is where it is cut or no JSON. */
function contentOf(raw: string): string {
  const inside = raw.slice(1, raw.length > 1 && raw.endsWith('"') ? -1 : undefined)
  if (!inside.includes('\\')) return inside
  try {
    return JSON.parse(`"${inside}"`) as string
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return inside.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  }
}

/** Where the value under a key ends; where it begins when it says nothing (true, false, null, an empty text, a count). */
function endOfValue(text: string, at: number, kind: SecretKind | null): number {
  const first = text[at]
  if (first === '"') {
    const string = stringAt(text, at)
    return string === '""' ? at : at + string.length
  }
  if (first !== '[' && first !== '{') return kind === 'words' ? at : (after(NUMBER, text, at) ?? at)
  let depth = 0
  let hasText = false
  for (let token = nextToken(text, at); token !== null; token = nextToken(text, token.to)) {
    const char = text[token.from]
    if (char === '"') hasText = true
    else if (char === '[' || char === '{') depth += 1
    else depth -= 1
    if (depth === 0) return kind === 'words' && !hasText ? at : token.to
  }
  return text.length
}
