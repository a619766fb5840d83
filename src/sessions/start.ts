// Starting a session as a process of its own: options in by a pipe, readiness or the reason of failure out by another.
import type { Socket } from 'node:net'
import { ERRORS, HeimdallError, ignore } from '../errors.ts'
import { SESSION_START_MS } from '../limits.ts'
import { systemClock } from '../clock.ts'
import { forgetOld } from './kept-output.ts'
import { type LaunchedSession, launchSession, type LaunchWith } from './launch.ts'
import { encodeHandover, type Readiness, type StartedSession } from '../wire/handover.ts'
import type { SessionOptions } from '../wire/session-options.ts'
import { type PrepareFor, prepareSession } from './prepare.ts'
import type { Holder } from '../wire/pid-file.ts'

export type { SessionOptions, StartedSession }

export interface StartWith extends LaunchWith {
  readonly startMs?: number
}

/** Resolves when the socket answers; the session goes on when the caller ends. Rejects with the session's own error. */
export async function startSession(options: SessionOptions, how: StartWith): Promise<StartedSession> {
  return await handOver(options, launchSession(options.id, how), how)
}

/** The second half of `startSession`, for a process that was launched earlier. */
export async function handOver(
  options: SessionOptions,
  launched: LaunchedSession,
  how: Pick<StartWith, 'env' | 'startMs'>,
): Promise<StartedSession> {
  // The process ended early, and its readiness line or exit code says why.
  launched.options.on('error', ignore('EPIPE', 'ECONNRESET'))
  const { pid, launcher } = launched
  if (pid === undefined) throw notStarted(launcher, await launched.failure)
  const ready = firstLine(launched.readiness)
  // What an earlier session of the id has left may take its time to end.
  const holder = await prepared(options, launched, { pid, env: how.env, clock: systemClock })
  const timer = setTimeout(() => launched.kill(), how.startMs ?? SESSION_START_MS)
  try {
    launched.options.end(encodeHandover({ options, holder }))
    // While the session's process gets on with it.
    forgetOld(options.socketDir, systemClock.wallMs())
    return parseReadiness(await ready)
  } finally {
    clearTimeout(timer)
  }
}

async function prepared(options: SessionOptions, launched: LaunchedSession, how: PrepareFor): Promise<Holder> {
  try {
    return await prepareSession(options, how)
  } catch (error) {
    // It waits for options that will not come.
    launched.kill()
    throw error
  }
}

function notStarted(launcher: string, cause: Error | undefined): HeimdallError {
  return new HeimdallError('SESSION_START_FAILED', `cannot start ${launcher}: ${cause?.message ?? 'no process'}`, {
    cause,
  })
}

/** All that comes, when the stream ends before a line is whole. */
function firstLine(stream: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    stream.ref().setEncoding('utf8')
    stream.on('data', (part: string) => {
      text += part
      if (text.endsWith('\n')) resolve(text)
    })
    stream.once('end', () => resolve(text))
    stream.once('error', reject)
  })
}

function parseReadiness(line: string): StartedSession {
  if (line === '')
    throw new HeimdallError('SESSION_START_FAILED', 'the session process ended before its socket answered', {
      hint: 'its log is beside its socket',
    })
  const readiness = JSON.parse(line) as Readiness
  if ('ready' in readiness) return readiness.ready
  const { code, message, hint, details } = readiness.error
  throw new HeimdallError(Object.hasOwn(ERRORS, code) ? code : 'SESSION_START_FAILED', message, {
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
  })
}
