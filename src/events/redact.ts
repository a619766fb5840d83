// Redacts secrets from every text before it is written. There is no fast path around it: a pre-check that disagreed let secrets through.
import { withoutJsonSecrets } from './json-secrets.ts'
import type { KnownSecrets } from '../known-secrets/known-secrets.ts'
import { StreamRedactor, withoutSecrets } from '../known-secrets/stream-redactor.ts'
import { isObject } from '../plain-object.ts'
import { withoutCarried } from './secret-carriers.ts'
import { secretKind } from './secret-words.ts'

/** Written in place of a secret. */
export const REDACTED = '[REDACTED]'

const redactCarried = (text: string): string => withoutCarried(text, REDACTED)

/** Secrets that show by their shape, or by the name next to them. */
const redactShapes = (text: string): string => redactCarried(withoutJsonSecrets(text, REDACTED, redactCarried))

/** A value with every string in it redacted, and everything under a key that names a secret. */
export function redactValue(value: unknown, redact: (text: string) => string = redactShapes): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item: unknown) => redactValue(item, redact))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      secretKind(key) === null ? redactValue(member, redact) : REDACTED,
    ]),
  )
}

export interface Redact {
  (text: string): string
  /** The same of bytes that go on behind their end: what a secret may have begun with is not shown. */
  readonly beginning: (bytes: Buffer) => string
}

/** Takes out secrets that are known by their values, in any form, then everything that has the shape of a secret. */
export function createRedact(known: KnownSecrets | null = null): Redact {
  if (known === null) {
    const redact = (text: string): string => redactShapes(text)
    return Object.assign(redact, { beginning: (bytes: Buffer) => redactShapes(bytes.toString()) })
  }
  const redact = (text: string): string => {
    const bytes = Buffer.from(text)
    return redactShapes(known.isIn(bytes) ? withoutSecrets(bytes, known, REDACTED).toString() : text)
  }
  const beginning = (bytes: Buffer): string => redactShapes(new StreamRedactor(known, REDACTED).push(bytes).toString())
  return Object.assign(redact, { beginning })
}
