// Canonical JSON a second time, written for clearness alone: a recursive reader over JavaScript strings with BigInt numbers.
// Tests compare the product with it; it shares no code and no idea with src/canonical.

export class Refused extends Error {}

export function slowCanonical(text: string): string {
  const [canonical, rest] = value(text.replace(/^[ \t\r\n]+/, ''), 0)
  if (rest !== '') throw new Refused('more after the value')
  return canonical
}

type Read = readonly [canonical: string, rest: string]

function value(text: string, depth: number): Read {
  for (const word of ['null', 'true', 'false']) if (text.startsWith(word)) return [word, trim(text.slice(word.length))]
  if (text.startsWith('"')) {
    const [content, rest] = string(text)
    return [quoted(content), rest]
  }
  if (depth === 1000 && /^[[{]/.test(text)) throw new Refused('too deep')
  if (text.startsWith('[')) return array(trim(text.slice(1)), depth + 1)
  if (text.startsWith('{')) return object(trim(text.slice(1)), depth + 1)
  return number(text)
}

function array(text: string, depth: number): Read {
  const items: string[] = []
  if (text.startsWith(']')) return ['[]', trim(text.slice(1))]
  for (;;) {
    const [item, rest] = value(text, depth)
    items.push(item)
    if (rest.startsWith(']')) return [`[${items.join(',')}]`, trim(rest.slice(1))]
    if (!rest.startsWith(',')) throw new Refused('no comma')
    text = trim(rest.slice(1))
  }
}

function object(text: string, depth: number): Read {
  const members = new Map<string, string>()
  if (text.startsWith('}')) return ['{}', trim(text.slice(1))]
  for (;;) {
    const [key, afterKey] = string(text)
    if (members.has(key)) throw new Refused('duplicate key')
    if (!afterKey.startsWith(':')) throw new Refused('no colon')
    const [item, rest] = value(trim(afterKey.slice(1)), depth)
    members.set(key, item)
    if (rest.startsWith('}')) {
      const sorted = [...members].sort(([a], [b]) => comparePoints(points(a), points(b)))
      return [`{${sorted.map(([name, item]) => `${quoted(name)}:${item}`).join(',')}}`, trim(rest.slice(1))]
    }
    if (!rest.startsWith(',')) throw new Refused('no comma')
    text = trim(rest.slice(1))
  }
}

function string(text: string): Read {
  const token = /^"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/.exec(text)?.[0]
  if (token === undefined) throw new Refused('no string')
  const content = JSON.parse(token) as string
  if (points(content).some((point) => point >= 0xd800 && point <= 0xdfff)) throw new Refused('lone surrogate')
  return [content, trim(text.slice(token.length))]
}

function number(text: string): Read {
  const token = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(text)?.[0]
  if (token === undefined) throw new Refused('no value')
  const rest = text.slice(token.length)
  if (/^[-+.0-9eE]/.test(rest)) throw new Refused('no number')
  const double = Number(token)
  if (!Number.isFinite(double)) throw new Refused('out of range')
  return [exactInteger(token) ?? String(double).replace(/^-0$/, '0'), trim(rest)]
}

/** All digits of an integer, laid out as ECMAScript lays out numbers; undefined when the value is none. */
function exactInteger(token: string): string | undefined {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scale = Number(exponent) - fraction.length
  const unscaled = BigInt(whole + fraction)
  if (unscaled === 0n) return '0'
  if (scale < -2000) return undefined
  const divisor = scale < 0 ? 10n ** BigInt(-scale) : 1n
  if (unscaled % divisor !== 0n) return undefined
  const integer = scale < 0 ? unscaled / divisor : unscaled * 10n ** BigInt(scale)
  const sign = token.startsWith('-') ? '-' : ''
  const digits = String(integer < 0n ? -integer : integer)
  if (digits.length <= 21) return sign + digits
  const significant = digits.replace(/0+$/, '')
  const tail = significant.length > 1 ? `.${significant.slice(1)}` : ''
  return `${sign}${significant.charAt(0)}${tail}e+${digits.length - 1}`
}

function quoted(content: string): string {
  const short: Readonly<Record<string, string>> = {
    '\b': 'b',
    '\t': 't',
    '\n': 'n',
    '\f': 'f',
    '\r': 'r',
    '"': '"',
    '\\': '\\',
  }
  const escaped = Array.from(content, (char) => {
    const letter = short[char]
    if (letter !== undefined) return `\\${letter}`
    return char < ' ' ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char
  })
  return `"${escaped.join('')}"`
}

function points(text: string): number[] {
  return Array.from(text, (char) => char.codePointAt(0) ?? 0)
}

function comparePoints(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((point, i) => point !== b[i])
  if (at === -1) return a.length - b.length
  return (a[at] ?? -1) - (b[at] ?? -1)
}

function trim(text: string): string {
  return text.replace(/^[ \t\r\n]+/, '')
}
