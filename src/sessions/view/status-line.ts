// The last line of an attached terminal: the session, its state, whether it waits for input, how to leave; or a notice.
import { inlineText } from '../../cells/plain-text.ts'
import { cellsOf } from '../../cells/widths.ts'
import type { Clock } from '../../clock.ts'
import { duration } from '../../duration.ts'
import type { Info, StateEvent } from '../../wire/payloads.ts'

export interface StatusLine {
  readonly id: string
  readonly state: Pick<StateEvent, 'state' | 'needs_input'>
  readonly stateMs: number
  readonly isReadOnly: boolean
  /** Size of the session, where it is not that of this terminal. */
  readonly otherSize: string | undefined
  /** `Ctrl-\`; undefined when the key is off. */
  readonly detachKey: string | undefined
  readonly hasColor: boolean
}

const BAR = '\u001b[0;7m'
const RESET = '\u001b[0m'

/** Exactly `cols` columns; what does not fit is cut from the right, after the things that matter most. */
export function statusLine(line: StatusLine, cols: number): string {
  const { needs_input: waits, state } = line.state
  const label = waits.value ? 'needs input' : state
  const why = waits.value && waits.evidence !== null ? inlineText(waits.evidence) : ''
  const since = line.stateMs < 1_000 ? '0s' : duration(line.stateMs)
  // On a narrow terminal the id is cut before the key that detaches: without it a user cannot get out.
  const key = line.detachKey === undefined ? 0 : cellsOf(line.detachKey) + 1
  const head = headOf(line.id, Math.max(HEAD_CELLS_MIN, cols - cellsOf(` ${label} ${since} `) - key))
  const room = Math.max(0, cols - cellsOf(head))
  const middleRoom = room >= key + LABEL_CELLS_MIN ? room - key : room
  // Why it waits gives way to how to leave, and that to what it does.
  const leave = line.detachKey === undefined ? 0 : cellsOf(leaveWith(line.detachKey)) + 2
  const whyRoom = room - cellsOf(` ${label} () ${since} `) - leave
  const shownWhy = why === '' || whyRoom < WHY_CELLS_MIN ? '' : ` (${cut(why, whyRoom)})`
  const middle = cut(` ${label}${shownWhy} ${since} `, middleRoom)
  const color = line.hasColor ? colorOf(label) : BAR
  const left = Math.max(0, room - cellsOf(middle))
  return `${BAR}${cut(head, cols)}${color}${middle}${BAR}${tailOf(line, left)}${RESET}`
}

/** Shorter, an id or a reason cannot be recognised. */
const HEAD_CELLS_MIN = 14
const WHY_CELLS_MIN = 8
const LABEL_CELLS_MIN = 8

function headOf(id: string, room: number): string {
  return ` [hm] ${cut(id, room - cellsOf(' [hm]  '))} `
}

const leaveWith = (key: string): string => `${key} detaches`

export interface StatusNotice {
  readonly id: string
  readonly isWaiting: boolean
  /** The same in fewer and fewer words. */
  readonly texts: readonly string[]
}

/** A notice in place of the state; that the session waits for input is shown all the same. */
export function noticeLine({ id, isWaiting, texts }: StatusNotice, cols: number): string {
  const waits = isWaiting ? '(needs input) ' : ''
  const heads = [` [hm] ${id} ${waits} `, `${headOf(id, HEAD_CELLS_MIN)}${waits} `, ` ${waits}`]
  const lines = texts.flatMap((text) => heads.map((head) => `${head}${text} `))
  const line = cut(lines.find((one) => cellsOf(one) <= cols) ?? lines.at(-1) ?? '', cols)
  return `${BAR}${line}${' '.repeat(Math.max(0, cols - cellsOf(line)))}${RESET}`
}

/** As much as there is room for; how to leave is the last thing to go. */
function tailOf({ isReadOnly, otherSize, detachKey }: StatusLine, room: number): string {
  const readOnly = isReadOnly ? ['read-only'] : []
  const size = otherSize === undefined ? [] : [otherSize]
  const leave = detachKey === undefined ? [] : [leaveWith(detachKey)]
  const wishes = [
    [...readOnly, ...size, ...leave],
    [...readOnly, ...leave],
    leave,
    detachKey === undefined ? [] : [detachKey],
  ]
  const text = wishes.map((parts) => parts.join(' · ')).find((tail) => cellsOf(tail) + 1 <= room)
  return text === undefined ? ' '.repeat(room) : `${text} `.padStart(room)
}

function colorOf(label: string): string {
  if (label === 'needs input') return '\u001b[0;1;30;43m'
  if (label === 'dead') return '\u001b[0;97;41m'
  return label === 'idle' ? BAR : '\u001b[0;30;42m'
}

function cut(text: string, cols: number): string {
  if (cellsOf(text) <= cols) return text
  let out = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (cellsOf(out + segment) > cols - 1) break
    out += segment
  }
  return cols <= 0 ? '' : `${out}…`.padEnd(cols - cellsOf(out) - 1 + out.length + 1)
}

/** `Ctrl-\` for 28. */
export function keyName(byte: number): string | undefined {
  if (byte === 0) return undefined
  return byte < 32 ? `Ctrl-${String.fromCharCode(byte + 64)}` : JSON.stringify(String.fromCharCode(byte))
}

/** How long the status line says that something was done. */
const NOTICE_MS = 3_000

export class ShownState {
  readonly #clock: Clock
  #id: string
  #state: Pick<StateEvent, 'state' | 'needs_input'>
  #sinceMs: number
  #notice: { readonly texts: readonly string[]; readonly untilMs: number } | undefined

  constructor(clock: Clock, info: Info) {
    this.#clock = clock
    this.#id = info.id
    this.#state = info
    this.#sinceMs = clock.monoMs() - info.state_ms
  }

  /** A session may be renamed while it is watched. */
  get id(): string {
    return this.#id
  }

  take(state: StateEvent): void {
    this.#state = state
    this.#id = state.id ?? this.#id
    this.#sinceMs = this.#clock.monoMs() - state.state_ms
  }

  /** In words, and in fewer words. */
  notice(texts: readonly string[]): void {
    this.#notice = { texts, untilMs: this.#clock.monoMs() + NOTICE_MS }
  }

  /** Something else than the state: the first that there is room for. */
  words(texts: readonly string[], cols: number): string {
    return noticeLine({ id: this.#id, isWaiting: this.#state.needs_input.value, texts }, cols)
  }

  line(more: Omit<StatusLine, 'id' | 'state' | 'stateMs'>, cols: number): string {
    const nowMs = this.#clock.monoMs()
    if (this.#notice !== undefined && this.#notice.untilMs > nowMs) return this.words(this.#notice.texts, cols)
    return statusLine({ id: this.#id, state: this.#state, stateMs: nowMs - this.#sinceMs, ...more }, cols)
  }
}
