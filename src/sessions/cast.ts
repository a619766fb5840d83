// Recordings as asciicast v2: made from a running session, parsed, redacted, shortened and written.
import type { SessionConnection } from '../client/connection.ts'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import type { TerminalCover } from '../known-secrets/terminal-cover.ts'
import { openRecording } from '../storage/recording.ts'
import type { Info } from '../wire/payloads.ts'
import type { ReachedSession } from './locate.ts'

export type CastEvent = readonly [seconds: number, kind: string, text: string]

export interface Cast {
  readonly header: Readonly<Record<string, unknown>>
  readonly events: readonly CastEvent[]
}

/** Skips a last line that a crash cut off; any other invalid line is an error with its number. */
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

/** Redacts all events together, because a secret may be split between several; each event keeps its length. */
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

/** Shortens pauses to `seconds`; later events move forward. */
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

/** The output that is kept, as one event: its timing is unknown. */
export async function castOfOutput(reached: ReachedSession, cover: TerminalCover): Promise<Cast> {
  if (reached.connection === undefined) {
    const { size, title, bytes } = reached.kept
    const { exit, holder } = reached.located
    const startedMs = exit === undefined ? (holder?.startedAtMs ?? 0) : Date.parse(exit.started_at)
    return oneEvent(cover.whole(bytes), { ...size, title, startedMs, command: exit?.command ?? holder?.command ?? [] })
  }
  const { connection } = reached
  try {
    const info = await connection.info()
    const parts: Buffer[] = []
    for await (const event of connection.subscribe({ from: 'scrollback', readOnly: true, replayEnd: true })) {
      if (event.type === 'output') parts.push(event.bytes)
      if (event.type === 'replay-end') break
    }
    return oneEvent(cover.whole(Buffer.concat(parts)), { ...info, startedMs: Date.parse(info.started_at) })
  } finally {
    connection.close()
  }
}

interface Described extends Pick<Info, 'cols' | 'rows' | 'title' | 'command'> {
  readonly startedMs: number
}

function oneEvent(bytes: Buffer, { cols, rows, title, command, startedMs }: Described): Cast {
  const text = bytes.toString('utf8')
  const timestamp = Math.floor(startedMs / 1_000)
  return {
    header: { version: 2, width: cols, height: rows, timestamp, command: command.join(' '), title },
    events: text === '' ? [] : [[0, 'o', text]],
  }
}

export interface Recorded {
  readonly events: number
  readonly seconds: number
  /** Null when the recording was stopped. */
  readonly exitCode: number | null
}

/** Records until the session ends or `signal` aborts, which closes the connection. */
export async function recordSession(
  connection: SessionConnection,
  file: string,
  {
    cover,
    clock,
    signal,
    onStart,
  }: {
    readonly cover: TerminalCover
    readonly clock: Clock
    readonly signal: AbortSignal
    readonly onStart: () => void
  },
): Promise<Recorded> {
  const info = await connection.info()
  const recording = openRecording(file, { size: info, command: info.command, title: info.title, cover }, clock)
  onStart()
  const startMs = clock.monoMs()
  let { cols, rows } = info
  let events = 0
  let exitCode: number | null = null
  try {
    const options = { from: 'snapshot', readOnly: true, events: true, gaps: true, redraw: true } as const
    for await (const event of connection.subscribe(options)) {
      events += 1
      if (event.type === 'output' || event.type === 'snapshot') recording.output(event.bytes)
      if (event.type === 'state' && (event.state.cols !== cols || event.state.rows !== rows)) {
        ;({ cols, rows } = event.state)
        recording.resize({ cols, rows })
      }
      if (event.type === 'exit') exitCode = event.code
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    recording.close()
  }
  return { events, seconds: Math.round(clock.monoMs() - startMs) / 1_000, exitCode }
}
