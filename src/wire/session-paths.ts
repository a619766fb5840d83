// The names of a session's files: what each process that deals with the session agrees on. Pure.
import { join } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { SOCKET_PATH_BYTES_MAX } from '../limits.ts'

export interface SessionPaths {
  readonly socket: string
  readonly pid: string
  readonly log: string
  readonly exit: string
  /** What the session said; see `kept-output.ts`. */
  readonly kept: string
}

export function sessionPaths(dir: string, id: string): SessionPaths {
  const at = (ending: string): string => join(dir, `${id}.${ending}`)
  return { socket: at('sock'), pid: at('pid'), log: at('log'), exit: at('exit.json'), kept: at('kept') }
}

/** Of the session that listens at this socket. */
export const pidBeside = (socket: string): string => socket.replace(/\.sock$/, '.pid')

/** What a process writes before it takes a pid file: one of its own. */
export const pidDraft = (dir: string, id: string, pid: number): string => join(dir, `.${id}.${pid}.pid`)

/** The kernel cuts longer paths or refuses them with an error that names nothing. `dir` is the folder's real path. */
export function checkSocketPath(dir: string, id: string): void {
  const path = sessionPaths(dir, id).socket
  const bytes = Buffer.byteLength(path)
  if (bytes <= SOCKET_PATH_BYTES_MAX) return
  throw new HeimdallError(
    'SESSION_PATH_TOO_LONG',
    `socket path of ${bytes} bytes, limit ${SOCKET_PATH_BYTES_MAX}: ${path}`,
    { hint: 'use a shorter --socket-dir or id' },
  )
}
