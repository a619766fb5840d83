// What looks like a secret is taken out before anything is written.
import { withoutJsonSecrets } from './json-secrets.ts'
import type { KnownSecrets } from '../known-secrets/known-secrets.ts'
import { StreamRedactor, withoutSecrets } from '../known-secrets/stream-redactor.ts'
import { withoutCarried } from './secret-carriers.ts'
import { REDACTED, SIGNS } from './secret-hint.ts'

// Cheap test for most texts: no sign of a secret, nothing that hides letters.
const HINT = new RegExp([...SIGNS, String.raw`\p{Cf}`].join('|'), 'iu')

/** Secrets that show by their shape or by the word before them. */
function clean(text: string): string {
  return withoutCarried(text, REDACTED)
}

export interface Redact {
  (text: string): string
  /** The same of bytes that go on behind their end: what a secret may have begun with is not shown. */
  readonly beginning: (bytes: Buffer) => string
  /** Looked for first in bytes of which no text is made; the rest shows at a glance. */
  readonly known: KnownSecrets | null
}

/** Takes out secrets that are known by their values, in any form, then everything that has the shape of a secret. */
export function createRedact(known: KnownSecrets | null = null): Redact {
  const byShape = (text: string): string => (HINT.test(text) ? clean(withoutJsonSecrets(text, REDACTED, clean)) : text)
  if (known === null) return Object.assign(byShape, { known, beginning: (bytes: Buffer) => byShape(bytes.toString()) })
  const redact = (text: string): string => {
    const bytes = Buffer.from(text)
    return byShape(known.isIn(bytes) ? withoutSecrets(bytes, known, REDACTED).toString() : text)
  }
  const beginning = (bytes: Buffer): string => byShape(new StreamRedactor(known, REDACTED).push(bytes).toString())
  return Object.assign(redact, { known, beginning })
}
