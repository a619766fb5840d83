// Times, ages, numbers and money as the page writes them. Times are the hub's, shown in the reader's zone.

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hour12: false })
const SECONDS = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
})
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
const WHOLE = new Intl.NumberFormat('en-US')
const DAY_MS = 86_400_000

/** 14:18 of today; with the day when it is further away. */
export function clock(iso: string, nowMs: number): string {
  const at = Date.parse(iso)
  return Math.abs(nowMs - at) < DAY_MS ? CLOCK.format(at) : DAY.format(at)
}

export const clockWithSeconds = (iso: string): string => SECONDS.format(Date.parse(iso))

/** 20 s, 14 min, 1 h 12 min, 3 days. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} days`
}

/** 1 min 20 s, up to ten minutes: where what began at nearly the same time is to be told apart. */
export function closeAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  return seconds < 60 || seconds >= 600 ? age(ms) : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** 14m, 1h 12m: for the corner of a card. */
export const shortAge = (ms: number): string => age(ms).replace(/ (s|h|min)/g, (_, unit: string) => unit[0] ?? '')

export const sinceMs = (iso: string, nowMs: number): number => Math.max(0, nowMs - Date.parse(iso))

export const whole = (value: number): string => WHOLE.format(value)

/** 1.9 M, 54.6 M, 2,936. */
export function tokenCount(value: number): string {
  return value >= 100_000 ? `${(value / 1_000_000).toFixed(value >= 99_950_000 ? 0 : 1)} M` : whole(value)
}

export const dollars = (value: number): string => `$${value.toFixed(2)}`

export const plural = (n: number, one: string, many = `${one}s`): string => `${whole(n)} ${n === 1 ? one : many}`

/** The first ten characters of a run's id are its time, which is enough to tell runs apart by the eye. */
export const shortRun = (id: string): string => (id.length > 12 ? `${id.slice(0, 10)}…` : id)

/** Hides, turns round or joins what stands beside it. Lines and tabs do not. */
const UNSEEN = /(?![\n\r\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** As commands print them: by their numbers. */
const shown = (text: string): string =>
  text.replace(UNSEEN, (sign) => {
    const number = (sign.codePointAt(0) ?? 0).toString(16)
    return number.length > 4 ? `\\u{${number}}` : `\\u${number.padStart(4, '0')}`
  })

/** Nothing of a preview that is cut: it is no JSON any more. */
function argumentsIn(preview: string): unknown {
  try {
    return JSON.parse(preview)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Arguments of a call, whole. */
export function argumentsText(preview: string): string {
  const args = argumentsIn(preview)
  return shown(args === undefined ? preview : JSON.stringify(args, null, 2))
}

/** Arguments of a call for a line of a table: one value stands for itself, several with their names. */
export function argumentsLine(preview: string): string {
  const args = argumentsIn(preview)
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return shown(preview)
  const parts = Object.entries(args).map(([name, value]) => [name, valueText(value)] as const)
  const [first, ...rest] = parts
  if (first === undefined) return '–'
  const isNamed = rest.length > 0 && first[1].length < 3
  return shown([isNamed ? first.join(': ') : first[1], ...rest.map((part) => part.join(': '))].join(', '))
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const GRAPHEMES = new Intl.Segmenter()

/** Letters as a reader counts them, in every script. */
export const lettersIn = (text: string): string[] => Array.from(GRAPHEMES.segment(text), ({ segment }) => segment)

/** CH for cobalt-harbor; names of one word give their first two letters. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [first = '?', second] = words
  const letters = second === undefined ? lettersIn(first).slice(0, 2) : [lettersIn(first)[0], lettersIn(second)[0]]
  return letters.join('').toUpperCase()
}
