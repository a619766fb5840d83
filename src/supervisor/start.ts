// Starting a session as a process of its own: options in by a pipe, readiness or the reason of failure out by another.
import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { type ErrorCode, ERRORS, HeimdallError, ignore } from '../errors.ts'
import { SESSION_START_MS } from '../limits.ts'
import type { Env } from '../paths.ts'
import { ANNOUNCE_ARGUMENT, READY_FD, SUPERVISOR_VARIABLE } from './handover.ts'
import { encodeHandover, type SessionOptions } from './options.ts'

export interface StartedSession {
  readonly id: string
  readonly socket: string
  readonly supervisor_pid: number
  readonly pid: number
}

/** What goes over the readiness pipe. */
export type Readiness =
  | { readonly ready: StartedSession }
  | {
      readonly error: {
        readonly code: ErrorCode
        readonly message: string
        readonly hint: string | undefined
        readonly details: Readonly<Record<string, unknown>> | undefined
      }
    }

export interface StartWith {
  /** Path of `session.cjs`. */
  readonly launcher: string
  /** Environment of the supervisor, and so of the child. */
  readonly env: Env
  readonly startMs?: number
}

/** Resolves when the socket answers; the session goes on when the caller ends. Rejects with the session's own error. */
export async function startSession(options: SessionOptions, how: StartWith): Promise<StartedSession> {
  const child = spawn(process.execPath, [how.launcher, options.id, ANNOUNCE_ARGUMENT], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    env: { ...how.env, [SUPERVISOR_VARIABLE]: options.id },
    cwd: '/',
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), how.startMs ?? SESSION_START_MS)
  try {
    const pipe = child.stdio[READY_FD] as Readable
    const stdin = child.stdio[0] as Writable
    // The process ended early, and its readiness line or exit code says why.
    stdin.on('error', ignore('EPIPE', 'ECONNRESET'))
    stdin.end(encodeHandover(options))
    const [line, failure] = await Promise.all([
      readAll(pipe),
      new Promise<Error | undefined>((resolve) => {
        child.once('error', resolve)
        child.once('spawn', () => resolve(undefined))
      }),
    ])
    if (failure !== undefined)
      throw new HeimdallError('SESSION_START_FAILED', `cannot start ${how.launcher}: ${failure.message}`, {
        cause: failure,
      })
    return parseReadiness(line)
  } finally {
    clearTimeout(timer)
    child.unref()
  }
}

async function readAll(stream: Readable): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
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
