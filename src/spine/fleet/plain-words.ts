// Texts about agents for people: spans of time, and other people's words in one line. Pure.
import { STATUS_TEXT_CHARS_MAX } from '../../limits.ts'
import { quoted } from '../../quoted.ts'

/** `8 s`, `17 min`, `1 h 12 min`, `3 d`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours >= 48) return `${Math.floor(hours / 24)} d`
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

/** Nothing in it that a terminal obeys or hides, and no second line. */
export function oneLine(text: string): string {
  // Most texts are plain, and the classes of Unicode take longer to build than fifty agents to tell apart.
  const line = PLAIN.test(text) ? text : text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length <= STATUS_TEXT_CHARS_MAX ? line : `${line.slice(0, STATUS_TEXT_CHARS_MAX - 1)}…`
}

const PLAIN = /^(?:[!-~]+(?: [!-~]+)*)?$/

/** For names and times of our own, which are ASCII: the order of a language is loaded first, and takes longer than the look. */
export const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** As a word of a command line that a person can paste. */
export function shellWord(text: string): string {
  return quoted(oneLine(text))
}
