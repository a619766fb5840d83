// The last line of an attached terminal: which session, what it is doing, whether it waits, how to leave.
import { cellsOf } from '../../../../cells/widths.ts'
import type { StateEvent } from '../../../../wire/payloads.ts'
import { duration } from '../../../render/duration.ts'
import { inlineText } from '../../../render/plain-text.ts'

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
  const head = headOf(line.id, Math.max(HEAD_CELLS_MIN, cols - cellsOf(` ${label} ${since} `)))
  const room = Math.max(0, cols - cellsOf(head))
  // Why it waits gives way to how to leave, and that to what it does.
  const leave = line.detachKey === undefined ? 0 : cellsOf(leaveWith(line.detachKey)) + 2
  const whyRoom = room - cellsOf(` ${label} () ${since} `) - leave
  const shownWhy = why === '' || whyRoom < WHY_CELLS_MIN ? '' : ` (${cut(why, whyRoom)})`
  const middle = cut(` ${label}${shownWhy} ${since} `, room)
  const color = line.hasColor ? colorOf(label) : BAR
  const left = Math.max(0, room - cellsOf(middle))
  return `${BAR}${cut(head, cols)}${color}${middle}${BAR}${tailOf(line, left)}${RESET}`
}

/** Less of an id, or of the reason, tells nobody which it is. */
const HEAD_CELLS_MIN = 15
const WHY_CELLS_MIN = 8

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

/** Something else to say than what the session does; that it waits for somebody is said all the same. */
export function noticeLine({ id, isWaiting, texts }: StatusNotice, cols: number): string {
  const waits = isWaiting ? '(needs input) ' : ''
  const heads = [` [hm] ${id} ${waits} `, `${headOf(id, HEAD_CELLS_MIN)}${waits} `, ` ${waits}`]
  const lines = texts.flatMap((text) => heads.map((head) => `${head}${text} `))
  const line = cut(lines.find((wish) => cellsOf(wish) <= cols) ?? lines.at(-1) ?? '', cols)
  return `${BAR}${line}${' '.repeat(Math.max(0, cols - cellsOf(line)))}${RESET}`
}

/** As much as there is room for; how to leave is the last thing to go. */
function tailOf({ isReadOnly, otherSize, detachKey }: StatusLine, room: number): string {
  const readOnly = isReadOnly ? ['read-only'] : []
  const size = otherSize === undefined ? [] : [otherSize]
  const leave = detachKey === undefined ? [] : [leaveWith(detachKey)]
  const wishes = [[...readOnly, ...size, ...leave], [...readOnly, ...leave], leave]
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
