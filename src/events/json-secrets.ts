// Secrets in text that is JSON or looks like it: everything under a secret key, what follows a secret flag, and whatever hides behind escapes.
import { isSecretFlag, isSecretKey } from './secret-words.ts'

/** JSON inside strings of JSON is opened this often; deeper it is text like any other. */
const NESTED_MAX = 3
const STRING = /"[^"\\]*(?:\\[^][^"\\]*)*"?/g
const COLON = /\s*:\s*/y
const COMMA = /\s*,\s*/y
const NUMBER = /-?[0-9][0-9.eE+-]*/y

/** The text with `mark` in place of secrets; `clean` takes out those that show by their own shape. The text may be cut anywhere. */
export function withoutJsonSecrets(text: string, mark: string, clean: (text: string) => string, nested = 0): string {
  if (!text.includes('"')) return text
  const quoted = JSON.stringify(mark)
  let out = ''
  let from = 0
  let isAfterFlag = false
  for (let at = nextString(text, 0); at !== null; at = nextString(text, at.to)) {
    const content = contentOf(at.raw)
    const valueAt = after(COLON, text, at.to)
    if (valueAt !== null && isSecretKey(content)) {
      const to = endOfSecret(text, valueAt)
      if (to > valueAt) {
        out += text.slice(from, valueAt) + quoted
        from = to
      }
      at.to = Math.max(at.to, to)
      isAfterFlag = false
      continue
    }
    const inner = nested < NESTED_MAX ? withoutJsonSecrets(content, mark, clean, nested + 1) : content
    const isWhole = (isAfterFlag && valueAt === null) || isCredentials(text, at.from, content)
    const shown: string = isWhole ? mark : clean(inner)
    if (shown !== content) {
      out += text.slice(from, at.from) + JSON.stringify(shown)
      from = at.to
    }
    isAfterFlag = isSecretFlag(content) && after(COMMA, text, at.to) !== null
  }
  return from === 0 ? text : out + text.slice(from)
}

interface Token {
  readonly from: number
  to: number
  readonly raw: string
}

function nextString(text: string, from: number): Token | null {
  STRING.lastIndex = from
  const found = STRING.exec(text)
  return found === null ? null : { from: found.index, to: found.index + found[0].length, raw: found[0] }
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

/** Where the value under a secret key ends; where it begins when it says nothing (true, false, null, or an empty text). */
function endOfSecret(text: string, at: number): number {
  const first = text[at]
  if (first === '"') {
    const token = nextString(text, at)
    return token === null || token.raw === '""' ? at : token.to
  }
  if (first !== '[' && first !== '{') return after(NUMBER, text, at) ?? at
  let depth = 0
  for (let i = at; i < text.length; i += 1) {
    const char = text[i]
    if (char === '"') i = (nextString(text, i)?.to ?? text.length) - 1
    else if (char === '[' || char === '{') depth += 1
    else if (char === ']' || char === '}') {
      depth -= 1
      if (depth === 0) return i + 1
    }
  }
  return text.length
}

/** `"-u", "name:password"`, as arguments of a program are listed. */
function isCredentials(text: string, at: number, content: string): boolean {
  return content.includes(':') && /"(?:-u|--user)"\s{0,4},\s{0,4}$/.test(text.slice(Math.max(0, at - 24), at))
}
