// What the payloads mean: the shapes of fixed-size and JSON payloads, and the checks on what a peer sent.
import { HeimdallError } from '../errors.ts'
import { CALLED_AS_CHARS_MAX } from '../limits.ts'
import type { StateName } from './frames.ts'
import type { SessionAct } from './session-acts.ts'

export interface Size {
  readonly cols: number
  readonly rows: number
}

/** STATUS_RESP, with `state` as the byte on the wire. */
export interface Status {
  readonly pid: number
  readonly idleMs: number
  readonly alive: boolean
  readonly state: number
  readonly stateMs: number
}

export interface Gap {
  readonly droppedBytes: number
  readonly nextOffset: number
}

export interface SnapshotPart {
  readonly isLast: boolean
  /** False when there was a flood: cells that were drawn only in the part of it that was passed over are missing. */
  readonly isWhole: boolean
  /** Everything before this byte of the stream is drawn by the snapshot. */
  readonly offset: number
  readonly size: Size
  readonly bytes: Buffer
}

/** Where a subscription begins: what is kept, the screen as it is, from now on, or an absolute byte of the stream. */
export type From = 'scrollback' | 'snapshot' | 'live' | number

/** Options of SUBSCRIBE. All false and `scrollback` is what a plain SUBSCRIBE means. */
export interface SubscribeOptions {
  readonly from: From
  /** May neither type, resize nor kill. */
  readonly readOnly: boolean
  /** STATE frames on every change. */
  readonly events: boolean
  /** A GAP frame where output was dropped for this client. */
  readonly gaps: boolean
  /** A SNAPSHOT after each gap. */
  readonly redraw: boolean
  /** A REPLAY_END frame between replay and live output. */
  readonly replayEnd: boolean
  /** ACK frames for INPUT. */
  readonly acks: boolean
  /** This is somebody's terminal: DETACH sends it away. */
  readonly viewer: boolean
  /** Output goes to a terminal that answers the program's questions, so the session does not. */
  readonly answers: boolean
}

export const PLAIN_SUBSCRIBE: SubscribeOptions = {
  from: 'scrollback',
  readOnly: false,
  events: false,
  gaps: false,
  redraw: false,
  replayEnd: false,
  acks: false,
  viewer: false,
  answers: false,
}

/** Whether a person is waited for, who says so (`hook`, `osc`, `screen`, `none`), and what was seen. */
export interface NeedsInput {
  readonly value: boolean
  readonly source: string
  readonly evidence: string | null
  /** Who has typed the answer, where that is known; never while a person is waited for. */
  readonly by?: string
}

/** Which process asks: it shows that it is the one by holding the session's pid file open to write while it says so. */
export interface CalledAs {
  readonly pid: number
  /** The command: `hm kill`. */
  readonly as: string
}

export interface StateEvent {
  readonly state: StateName
  readonly state_ms: number
  readonly needs_input: NeedsInput
  readonly cols: number
  readonly rows: number
  readonly title: string
  /** A session may be renamed; absent in those of an older version. */
  readonly id?: string
}

/** The answer to INFO. Names are those of `--json`, so that nothing is renamed on the way to a user. */
export interface Info extends StateEvent {
  readonly id: string
  readonly pid: number
  readonly supervisor_pid: number
  readonly command: readonly string[]
  readonly cwd: string
  readonly started_at: string
  readonly pinned: boolean
  readonly alive: boolean
  readonly exit_code: number | null
  readonly idle_ms: number
  /** Terminal modes that the child has switched on. */
  readonly modes: Readonly<Record<string, boolean | number>>
  /** First byte of the stream that is still kept, and the byte after the last one. */
  readonly offset_start: number
  readonly offset_end: number
  readonly input_bytes_pending: number
  readonly clients: number
  /** Clients that are somebody's terminal; absent in sessions of an older version. */
  readonly viewers?: number
  /** The lowest line of the screen that has something on it; absent as above. */
  readonly last_line?: string
  /** How long a person has been waited for; null while nobody is, absent as above. */
  readonly needs_input_ms?: number | null
  /** What clients have done to it, and who they were; absent as above. */
  readonly acts?: readonly SessionAct[]
}

/** Of text and background in a viewer's terminal, as `#rrggbb`. */
export interface TerminalColors {
  readonly foreground: string
  readonly background: string
}

export interface ErrorMessage {
  readonly code: string
  readonly message: string
}

/** What a host's hook tells the session about its agent. */
export interface Report {
  readonly source: 'hook'
  readonly needs_input: boolean
  readonly evidence?: string
  /** With `needs_input: false`: only the question of this evidence is over. Whether the program works is not said. */
  readonly takes_back?: boolean
}

function invalid(label: string, problem: string): HeimdallError {
  return new HeimdallError('WIRE_PAYLOAD_INVALID', `${label}: ${problem}`)
}

function parseObject(label: string, payload: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(payload.toString('utf8'))
  } catch (error) {
    throw new HeimdallError('WIRE_PAYLOAD_INVALID', `${label}: the payload is not JSON`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(label, 'the payload is not a JSON object')
  return value as Readonly<Record<string, unknown>>
}

/** Unknown options are ignored, so that a newer client works with an older supervisor; known ones are checked. */
export function parseSubscribe(payload: Buffer): SubscribeOptions {
  if (payload.length === 0) return PLAIN_SUBSCRIBE
  const raw = parseObject('SUBSCRIBE', payload)
  const flag = (name: Exclude<keyof SubscribeOptions, 'from'>): boolean => {
    const value = own(raw, name)
    if (value === undefined) return false
    if (typeof value === 'boolean') return value
    throw invalid('SUBSCRIBE', `${name} must be true or false`)
  }
  return {
    from: parseFrom(own(raw, 'from')),
    readOnly: flag('readOnly'),
    events: flag('events'),
    gaps: flag('gaps'),
    redraw: flag('redraw'),
    replayEnd: flag('replayEnd'),
    acks: flag('acks'),
    viewer: flag('viewer'),
    answers: flag('answers'),
  }
}

function own(raw: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(raw, name) ? raw[name] : undefined
}

function parseFrom(value: unknown): From {
  if (value === undefined) return PLAIN_SUBSCRIBE.from
  if (value === 'scrollback' || value === 'snapshot' || value === 'live') return value
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw invalid('SUBSCRIBE', 'from must be "scrollback", "snapshot", "live" or a byte offset')
}

export function parseReport(payload: Buffer): Report {
  const raw = parseObject('REPORT', payload)
  const evidence = own(raw, 'evidence')
  const needsInput = own(raw, 'needs_input')
  if (own(raw, 'source') !== 'hook') throw invalid('REPORT', 'source must be "hook"')
  if (typeof needsInput !== 'boolean') throw invalid('REPORT', 'needs_input must be true or false')
  if (evidence !== undefined && typeof evidence !== 'string') throw invalid('REPORT', 'evidence must be a string')
  const takesBack = own(raw, 'takes_back')
  if (takesBack !== undefined && typeof takesBack !== 'boolean')
    throw invalid('REPORT', 'takes_back must be true or false')
  return {
    source: 'hook',
    needs_input: needsInput,
    ...(evidence !== undefined && { evidence }),
    ...(takesBack !== undefined && { takes_back: takesBack }),
  }
}

export function parseColors(payload: Buffer): TerminalColors {
  const raw = parseObject('COLORS', payload)
  const color = (name: keyof TerminalColors): string => {
    const value = own(raw, name)
    if (typeof value === 'string' && isColor(value)) return value
    throw invalid('COLORS', `${name} must be #rrggbb`)
  }
  return { foreground: color('foreground'), background: color('background') }
}

/** Values of secrets that programs of the session have been given. No word of them stands in a refusal. */
export function parseSecrets(payload: Buffer): readonly string[] {
  const values = own(parseObject('SECRETS', payload), 'values')
  if (Array.isArray(values) && values.every((value): value is string => typeof value === 'string')) return values
  throw invalid('SECRETS', 'values must be an array of strings')
}

export function parseCaller(payload: Buffer): CalledAs {
  const raw = parseObject('CALLER', payload)
  const pid = own(raw, 'pid')
  const as = own(raw, 'as')
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0)
    throw invalid('CALLER', 'pid must be a process id')
  if (typeof as !== 'string' || as.length > CALLED_AS_CHARS_MAX || !/^[\x20-\x7e]+$/.test(as))
    throw invalid('CALLER', `as must be 1 to ${CALLED_AS_CHARS_MAX} plain characters`)
  return { pid, as }
}

export const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/.test(text)

type Kind = 'string' | 'number' | 'boolean' | 'object'
type Shape = Readonly<Record<string, Kind | readonly Kind[] | 'strings' | 'number?'>>

const STATE_SHAPE = {
  state: 'string',
  state_ms: 'number',
  needs_input: 'object',
  cols: 'number',
  rows: 'number',
  title: 'string',
} as const satisfies Shape

const INFO_SHAPE = {
  ...STATE_SHAPE,
  id: 'string',
  pid: 'number',
  supervisor_pid: 'number',
  command: 'strings',
  cwd: 'string',
  started_at: 'string',
  pinned: 'boolean',
  alive: 'boolean',
  exit_code: 'number?',
  idle_ms: 'number',
  modes: 'object',
  offset_start: 'number',
  offset_end: 'number',
  input_bytes_pending: 'number',
  clients: 'number',
} as const satisfies Shape

function checkShape(label: string, raw: Readonly<Record<string, unknown>>, shape: Shape): void {
  for (const [name, kind] of Object.entries(shape)) {
    const value = own(raw, name)
    const fits =
      kind === 'strings'
        ? Array.isArray(value) && value.every((item) => typeof item === 'string')
        : kind === 'number?'
          ? value === null || typeof value === 'number'
          : typeof value === kind && value !== null
    if (!fits) throw invalid(label, `${name} is missing or of the wrong type`)
  }
}

export function parseState(payload: Buffer): StateEvent {
  const raw = parseObject('STATE', payload)
  checkShape('STATE', raw, STATE_SHAPE)
  return raw as unknown as StateEvent
}

export function parseInfo(payload: Buffer): Info {
  const raw = parseObject('INFO', payload)
  checkShape('INFO', raw, INFO_SHAPE)
  return raw as unknown as Info
}

export function parseErrorMessage(payload: Buffer): ErrorMessage {
  const raw = parseObject('ERROR', payload)
  checkShape('ERROR', raw, { code: 'string', message: 'string' })
  return raw as unknown as ErrorMessage
}
