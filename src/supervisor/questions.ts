// Questions to a person on a screen of text: the second source of "needs input", where nobody has said so. Pure.
import { plainText } from './osc-signals.ts'

/** Lines that ask, as agents, package tools, ssh, sudo and git word them. Simple patterns: each is linear in the line. */
const QUESTIONS: readonly RegExp[] = [
  /[[(]y(?:es)?\/n(?:o)?(?:\/[a-z]+)*[\])]/i,
  /\b(?:yes\/no|y\/n)\b.{0,20}\?/i,
  /\bdo you want to\b.{0,120}\?/i,
  /\b(?:would you like|are you sure|proceed|continue|overwrite|allow)\b[^?]{0,120}\?\s*$/i,
  /^[\s│|]*[❯›>→]\s*1[.)]\s/u,
  /\bpress (?:any key|enter|return|space)\b/i,
  /\b(?:hit|press) \[?(?:enter|return)\]? to\b/i,
  /(?:password|passphrase|passcode|verification code|username)[^:]{0,60}:\s*$/i,
  /\bwaiting for (?:your|user) (?:input|approval|permission|confirmation)\b/i,
  /\(?\b(?:approve|permission required|needs? your approval)\b/i,
  /^\s*\?\s.{1,120}[?:›]\s*(?:\(.{0,40}\))?\s*$/u,
]

/** How far above the cursor a question may stand: a dialog with its answers below. */
const LINES_ABOVE = 12
const LINES_BELOW = 6

/** The last line that asks, near the cursor; nothing where the screen is only text. */
export function findQuestion(lines: readonly string[], cursorRow: number): string | undefined {
  const near = lines.slice(Math.max(0, cursorRow - LINES_ABOVE), cursorRow + LINES_BELOW + 1)
  const found = near.findLast(
    (line) => line.length <= 1_000 && QUESTIONS.some((pattern) => pattern.test(line.trimEnd())),
  )
  return found === undefined ? undefined : plainText(found)
}
