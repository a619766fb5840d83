// The last line on the screen of a run, as it may stand in a file.
import { STATUS_ANSWER_MS } from '../limits.ts'
import { redacted } from '../runs/redacted.ts'
import { askInfo } from '../sessions/ask-info.ts'
import type { KeptRun } from './kept-run.ts'

/** Nothing when the session does not answer. What a program prints may be a secret. */
export async function lastLineOf({ session }: KeptRun, note: (line: string) => void): Promise<string | undefined> {
  try {
    const line = (await askInfo(session.dir, session.id, STATUS_ANSWER_MS))?.last_line
    return line === undefined ? undefined : redacted(line)
  } catch (error) {
    note(`the screen cannot be seen: ${String(error)}`)
    return undefined
  }
}
