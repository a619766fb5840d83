// Questions to a person on a screen of text: the second source of "needs input", where nobody has said so. Pure.
import { cellsOf } from '../../cells/widths.ts'
import { plainText } from '../state/osc-signals.ts'

export interface ScreenQuestion {
  /** The line that asks. */
  readonly text: string
  /** It waits for sure: the cursor stands on it, or its choices are shown. Else it may have been answered. */
  readonly isOpen: boolean
  /** By its form anything could end so: it counts only while the program reads its terminal, and nobody types there. */
  readonly isGuess?: true
}

/** Lines that ask, as agents, package tools, ssh, sudo and git word them. Simple patterns: each is linear in the line. */
const QUESTIONS: readonly RegExp[] = [
  /[[(]y(?:es)?\/n(?:o)?(?:\/[a-z]+)*[\])]/i,
  /\b(?:yes\/no|y\/n)\b.{0,20}\?/i,
  /\bdo you want to\b.{0,120}\?/i,
  /\b(?:would you like|are you sure|proceed|continue|overwrite|allow)\b[^?]{0,120}\?\s*$/i,
  /(?:password|passphrase|passcode|verification code|username)[^:]{0,60}:\s*$/i,
  /\bwaiting for (?:your|user) (?:input|approval|permission|confirmation)\b/i,
  /\(?\b(?:approve|permission required|needs? your approval)\b/i,
  /^\s*\?\s.{1,120}[?:›]\s*(?:\(.{0,40}\))?\s*$/u,
]

/** Asks too, but a sentence above it says more. */
const KEY_HINTS: readonly RegExp[] = [
  /\bpress (?:any key|enter|return|space)\b/i,
  /\b(?:hit|press) \[?(?:enter|return)\]? to\b/i,
]

/** The first of some choices, marked: in a dialog with a frame also by a dot, which alone begins a list in plain text. */
const CHOICES = /^[\s│┃|]*(?:[❯›>→]|[│┃]\s*●)\s*1[.)]\s/u
const FRAME = /^[\s│┃|]+|[\s│┃|]+$/gu

/** What scripts write before they read a line: `Which file?`, `Name:`, `Choose [1-2]:`, and the sign of `select` in bash. */
const LINE_PROMPT_END = /[?:]$/
const LETTER = /\p{L}/u
const SELECT_SIGN = '#?'
const LINE_PROMPT_CHARS_MAX = 200

/** How far above the cursor a question may stand: a dialog with its answers below. */
const LINES_ABOVE = 12
const LINES_BELOW = 6
const LINE_CHARS_MAX = 1_000

/** The last line that asks, near the cursor; nothing where the screen is only text. Without a column no line is guessed at. */
export function findQuestion(
  lines: readonly string[],
  cursorRow: number,
  cursorColumn?: number,
): ScreenQuestion | undefined {
  const from = Math.max(0, cursorRow - LINES_ABOVE)
  const near = lines.slice(from, cursorRow + LINES_BELOW + 1).map((line) => (line.length <= LINE_CHARS_MAX ? line : ''))
  const choices = near.findLastIndex((line) => CHOICES.test(line))
  const asking = (patterns: readonly RegExp[]): number | undefined => {
    const at = near.findLastIndex((line) => patterns.some((pattern) => pattern.test(line.replace(FRAME, ''))))
    return at < 0 ? undefined : at
  }
  const found = asking(QUESTIONS) ?? (choices < 0 ? asking(KEY_HINTS) : choices)
  if (found === undefined) return cursorColumn === undefined ? undefined : guessed(lines, cursorRow, cursorColumn)
  return {
    text: plainText((near[found] ?? '').replace(FRAME, '')),
    isOpen: choices >= 0 || from + found === cursorRow,
  }
}

/** The last line of all, with the cursor right behind it or one blank on. */
function guessed(lines: readonly string[], row: number, column: number): ScreenQuestion | undefined {
  const line = (lines[row] ?? '').trimEnd()
  const isPrompt = line === SELECT_SIGN || (LINE_PROMPT_END.test(line) && LETTER.test(line))
  if (line.length > LINE_PROMPT_CHARS_MAX || !isPrompt) return undefined
  const gap = column - cellsOf(line)
  if (gap < 0 || gap > 1 || lines.slice(row + 1).some((below) => below.trim() !== '')) return undefined
  return { text: plainText(line), isOpen: true, isGuess: true }
}
