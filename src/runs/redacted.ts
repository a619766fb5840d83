// Texts of people that go on record with a run, without what looks like a secret in them.
import { mayHoldSecret } from '../events/secret-hint.ts'

/** What looks closely is loaded for a text that may have one: every start of a session asks. */
export async function redacted(text: string): Promise<string> {
  if (!mayHoldSecret(text)) return text
  const { createRedact } = await import('../events/redact.ts')
  return createRedact()(text)
}

/** A flag and its value are two words, so they are looked at together; nothing where there is nothing to hide. */
export async function redactedWords(words: readonly string[]): Promise<readonly string[] | null> {
  const line = words.join(' ')
  const shown = await redacted(line)
  return shown === line ? null : shown.split(' ')
}
