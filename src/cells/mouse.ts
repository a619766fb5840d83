// The mouse of a terminal: which modes ask for it, and how a report is written in each of them. Pure.

/** Which events are reported: presses (9), with releases (1000), with dragging (1002), with every move (1003). One at most is on. */
export const MOUSE_TRACKING: readonly number[] = [9, 1_000, 1_002, 1_003]
/** How they are written; none is the oldest form, of which 1005 is a variant. One at most is on. */
export const MOUSE_FORMS: readonly number[] = [1_005, 1_006, 1_015, 1_016]

/** What a program has asked for. */
export interface MouseModes {
  /** One of MOUSE_TRACKING; nothing when it has not asked for the mouse. */
  readonly tracking: number | undefined
  /** One of MOUSE_FORMS; nothing for the oldest. */
  readonly form: number | undefined
}

export interface MouseReport {
  /** Button with modifiers and motion, as every form has them. */
  readonly button: number
  readonly isRelease: boolean
  /** Cell, from 0. */
  readonly x: number
  readonly y: number
}

export const MOUSE_MOTION = 32
const BUTTON = 3
const WHEEL = 64
const MORE_BUTTONS = 128
/** In the forms that cannot say which button was let go, and for a move with none held down. */
const NO_BUTTON = 3
const OFFSET = 32
/** Two bytes of UTF-8 hold no more. */
const UTF8_MAX = 2_047

/** Whether a program with these modes is to be told. */
export function isTracked({ button, isRelease }: MouseReport, tracking: number): boolean {
  if (tracking === 1_003) return true
  if ((button & MOUSE_MOTION) !== 0) return tracking === 1_002 && (button & BUTTON) !== NO_BUTTON
  return tracking !== 9 || (!isRelease && (button & (WHEEL | MORE_BUTTONS)) === 0)
}

/** Bytes as latin1; nothing for a place that the form has no number for. */
export function writeReport(report: MouseReport, { tracking, form }: MouseModes): string | undefined {
  const { button, isRelease } = report
  const [x, y] = [report.x + 1, report.y + 1]
  // Pixels are never reported: whoever asks whether they can be is told so, and who did not ask gets cells.
  if (form === 1_006 || form === 1_016) return `\x1b[<${button};${x};${y}${isRelease ? 'm' : 'M'}`
  const pressed = isRelease ? button | NO_BUTTON : tracking === 9 ? button & BUTTON : button
  if (form === 1_015) return `\x1b[${pressed + OFFSET};${x};${y}M`
  const numbers = [pressed, x, y].map((number) => number + OFFSET)
  if (numbers.some((number) => number > (form === 1_005 ? UTF8_MAX : 0xff))) return undefined
  const text = String.fromCharCode(...numbers)
  return `\x1b[M${form === 1_005 ? Buffer.from(text).toString('latin1') : text}`
}
