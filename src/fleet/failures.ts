// What a failed question to the engine means: nothing was sent, it was refused, or nobody knows.
import { HeimdallError } from '../errors.ts'

/** Errors that can only come before anything was sent. */
const BEFORE_SENDING = new Set([
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EACCES',
  'ENOENT',
  // The server is starting, stopping, or has no room for one more.
  '57P03',
  '53300',
])

/** Certificates that do not verify, by OpenSSL's names, and what to do about each. */
const CERTIFICATES: readonly (readonly [RegExp, string])[] = [
  [/ALTNAME|HOSTNAME/, 'its certificate is for another name: write a name that stands in it into the URL'],
  [
    /EXPIRED|NOT_YET_VALID/,
    'its certificate is not valid today: whoever runs it renews it (or this machine’s clock is wrong)',
  ],
  [
    /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL/,
    'its certificate does not verify: name its CA with sslrootcert in the URL',
  ],
]

const NOT_LET_IN =
  'it does not let this role in: ask whoever made the fleet for a new join line (heimdall fleet invite)'

/** The role may nothing here, or is there no more. */
const SHUT_OUT = /^(28|0L|42501|42704)/

/** Classes of SQLSTATE after which a transaction has certainly not happened, and what each means to a person. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [SHUT_OUT, NOT_LET_IN],
  [/^(3D|3F|42883|42P01)/, 'no fleet was made in this database: heimdall fleet create does it'],
  [/^54/, 'texts beside the log have no room left: end tasks with large briefs, or send shorter ones'],
  [/^53/, 'the engine has no disk or memory left: nothing was changed'],
  [
    /^(26000|42P05)/,
    `a pooler gives every transaction another connection: heimdall fleet join --rebuild --pooler works with it`,
  ],
  [/^25/, 'the engine is read-only, as a standby is: name the primary'],
]

/** Two transactions that were in each other's way: the server has undone this one. */
const AGAIN = /^(40001|40P01)$/

/** A turn that lasted too long: the server has hung up, and undone it. What was sent after it is not known to have arrived. */
const TURN_OVER = '25P03'
/** Others had theirs for as long as it may take. */
const LINE_TOO_LONG = '55P03'

/** No class of SQLSTATE begins with an E; the system's EPIPE is as long as one. */
const SQLSTATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/

/** The server itself has said so: the connection is whole. */
export const isOfServer = (error: unknown): boolean => SQLSTATE.test(String((error as { code?: unknown }).code))

/** Of a role that was taken away: a connection that was made with it is worth nothing any more. */
export const isShutOut = (error: unknown): boolean => SHUT_OUT.test(String((error as { code?: unknown }).code))

/** Somebody was there, and did not understand, or would not. */
export const isHungUpOn = (error: unknown): boolean => HUNG_UP.test(String((error as { code?: unknown }).code))

const HUNG_UP = /^(CONNECTION_CLOSED|ECONNRESET|EPIPE|EPROTO|ERR_SSL_\w+)$/

export type Failure = { readonly again: true } | { readonly again: false; readonly error: HeimdallError }

export function failureOf(error: unknown): Failure {
  const { code = '', message = String(error) } = error as { code?: unknown; message?: string }
  const text = String(code)
  if (AGAIN.test(text)) return { again: true }
  return { again: false, error: translate(text, message, error) }
}

function translate(code: string, message: string, cause: unknown): HeimdallError {
  if (BEFORE_SENDING.has(code))
    return new HeimdallError('ENGINE_UNREACHABLE', `the fleet's engine cannot be reached: ${said(message)}`, {
      hint: 'nothing was changed; run the command again when it is back (heimdall fleet doctor says what is wrong)',
      cause,
    })
  const [, unproved] = CERTIFICATES.find(([pattern]) => pattern.test(code)) ?? []
  if (unproved !== undefined) return refused(unproved, message, cause)
  if (code === LINE_TOO_LONG)
    return new HeimdallError('STORE_BUSY', 'others were at the fleet’s engine for too long', {
      hint: 'run the command again',
      cause,
    })
  const known = code === TURN_OVER ? undefined : REFUSALS.find(([pattern]) => pattern.test(code))
  if (known !== undefined) return refused(known[1], message, cause)
  // Of every other SQLSTATE but a shutdown the server has said that it did nothing.
  if (SQLSTATE.test(code) && !/^(57|08)/.test(code) && code !== TURN_OVER)
    return refused('heimdall fleet doctor looks closer', message, cause)
  return new HeimdallError('OUTCOME_UNKNOWN', `the connection to the fleet's engine was lost: ${said(message)}`, {
    hint: 'the next command settles what became of it',
    cause,
  })
}

/** A pooler has one code for all that it says, and before it has let anybody in that is: no. */
export function refusedAtDoor(error: unknown): HeimdallError | undefined {
  const { code, message } = error as { readonly code: string; readonly message: string }
  return code.startsWith('08') ? refused(NOT_LET_IN, message, error) : undefined
}

export function withoutTls(engine: string, cause: unknown): HeimdallError {
  return new HeimdallError('ENGINE_REFUSED', `the server at ${engine} does not speak TLS`, {
    hint: 'past the machine itself the connection is encrypted and the server proved (verify-full): turn ssl on there, or reach it by a tunnel that ends at 127.0.0.1',
    cause,
  })
}

function refused(hint: string, message: string, cause: unknown): HeimdallError {
  return new HeimdallError('ENGINE_REFUSED', `the fleet's engine refused: ${said(message)}`, { hint, cause })
}

/** Errors of a driver may name the host; a password they do not, and none is let through. */
function said(message: string): string {
  return message.replace(/postgres(ql)?:\/\/\S+/g, 'postgres://…')
}
