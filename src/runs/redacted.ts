// Text of people that goes into a record with a run, without what looks like a secret.
import { createRedact } from '../events/redact.ts'

const redact = createRedact()

export const redacted = (text: string): string => redact(text)

/** A flag and its value are two words, so they are redacted together; null if there is nothing to hide. */
export function redactedWords(words: readonly string[]): readonly string[] | null {
  const line = words.join(' ')
  const shown = redact(line)
  return shown === line ? null : shown.split(' ')
}
