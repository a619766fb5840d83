// What every answer of the hub has in common: its headers, and how a refusal reads.
import { ERRORS, HeimdallError } from '../../errors.ts'
import type { RefusalReply } from '../contract.ts'

/**
 * Nothing from elsewhere, no script but the files that the hub serves, and nobody may frame it. Styles may stand in the
 * page, because a terminal draws with them; no style can run anything.
 */
export const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), clipboard-read=()',
}

export interface Refused {
  readonly status: number
  readonly body: RefusalReply
}

/** A bug of ours says that it is one, and nothing of what it is made of. */
export function refusedBy(error: unknown, stillWorks: string | null = null): Refused {
  if (!(error instanceof HeimdallError))
    return refused('INTERNAL', 'something happened that the hub rules out; its terminal says what', null, stillWorks)
  return refused(error.code, error.message, error.hint ?? null, stillWorks)
}

export function refused(
  code: keyof typeof ERRORS,
  message: string,
  hint: string | null,
  stillWorks: string | null = null,
): Refused {
  return { status: ERRORS[code].http, body: { error: { code, message, hint, still_works: stillWorks } } }
}
