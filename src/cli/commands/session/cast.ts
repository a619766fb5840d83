// asciicast v2 as a value: parsed with the place of what is wrong, shortened, and written again.
import { HeimdallError } from '../../../errors.ts'
import type { TerminalCover } from '../../../known-secrets/terminal-cover.ts'

export type CastEvent = readonly [seconds: number, kind: string, text: string]

export interface Cast {
  readonly header: Readonly<Record<string, unknown>>
  readonly events: readonly CastEvent[]
}

/** A last line that a crash cut off is left out; anything else that is wrong is refused with its line. */
export function parseCast(text: string, path: string): Cast {
  const lines = text.split('\n')
  const isTorn = lines.at(-1) !== ''
  const whole = lines.slice(0, -1)
  const last = isTorn ? parseLine(lines.at(-1) ?? '') : undefined
  const [first, ...rest] = whole.map((line, i) => {
    const value = parseLine(line)
    if (value === undefined) throw invalid(path, i + 1, 'not JSON')
    return value
  })
  if (!isHeader(first)) throw invalid(path, 1, 'not a header of asciicast version 2')
  const events = (last === undefined ? rest : [...rest, last]).map((value, i) => {
    if (!isEvent(value)) throw invalid(path, i + 2, 'not an event [seconds, kind, text]')
    return value
  })
  return { header: first, events }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isHeader(value: unknown): value is Cast['header'] {
  return typeof value === 'object' && value !== null && 'version' in value && value.version === 2
}

function isEvent(value: unknown): value is CastEvent {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [seconds, kind, text] = value as unknown[]
  return typeof seconds === 'number' && seconds >= 0 && typeof kind === 'string' && typeof text === 'string'
}

function invalid(path: string, line: number, problem: string): HeimdallError {
  return new HeimdallError('CAST_INVALID', `${path}:${line}: ${problem}`)
}

/** Over all of it at once, as a value may lie in several events; in place, so that each keeps its length. */
export function coverCast({ header, events }: Cast, cover: Pick<TerminalCover, 'whole' | 'text'>): Cast {
  const shown = events.flatMap(([, kind, text]) => (kind === 'o' ? [Buffer.from(text)] : []))
  const covered = cover.whole(Buffer.concat(shown))
  let at = 0
  const next = (bytes: number): string => covered.subarray(at, (at += bytes)).toString('utf8')
  const { command, title } = header
  return {
    header: {
      ...header,
      ...(typeof command === 'string' ? { command: cover.text(command) } : {}),
      ...(typeof title === 'string' ? { title: cover.text(title) } : {}),
    },
    events: events.map((event): CastEvent => {
      const [seconds, kind, text] = event
      return kind === 'o' ? [seconds, kind, next(Buffer.byteLength(text))] : event
    }),
  }
}

/** No pause is longer than `seconds`; everything after a longer one moves forward. */
export function limitIdle(cast: Cast, seconds: number): Cast {
  let cutSeconds = 0
  let previous = 0
  const events = cast.events.map(([at, kind, text]): CastEvent => {
    cutSeconds += Math.max(0, at - previous - seconds)
    previous = at
    return [Number((at - cutSeconds).toFixed(6)), kind, text]
  })
  return { header: { ...cast.header, idle_time_limit: seconds }, events }
}

export function encodeCast({ header, events }: Cast): string {
  return [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join('')
}
