// Texts of people that go on record with a run, without what looks like a secret in them.
import { createRedact } from '../events/redact.ts'

const redact = createRedact()

export const redacted = (text: string): string => redact(text)

/** A flag and its value are two words, so they are looked at together; nothing where there is nothing to hide. */
export function redactedWords(words: readonly string[]): readonly string[] | null {
  const line = words.join(' ')
  const shown = redact(line)
  return shown === line ? null : shown.split(' ')
}
