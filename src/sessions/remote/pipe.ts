// The other end of `hm --host`: joins standard input and output to the socket of a session, or says why there is none.
import { closeSync, constants, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { Clock } from '../../clock.ts'
import { HeimdallError, isErrno } from '../../errors.ts'
import { PIPE_LAST_LOOK_MS } from '../../limits.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { encodeJson } from '../../wire/encode.ts'
import { encodeGreeting, type PipeGreeting } from '../../wire/pipe-greeting.ts'
import { isGone } from '../end.ts'
import { sessionsAt } from '../list.ts'
import { ended, locate, type Located } from '../locate.ts'
import type { LogOut } from '../logs.ts'

interface PipeEnds {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly out: Pick<LogOut, 'write'>
  readonly clock: Clock
  readonly calledAs: string
}

/** Without an id: the list of sessions. `dir` is asked for here, so that its error reaches the other machine too. */
export async function pipeSession(
  dir: () => Promise<string>,
  { id, isAll }: { readonly id: string | undefined; readonly isAll: boolean },
  ends: PipeEnds,
): Promise<void> {
  const { out, clock } = ends
  const greet = (greeting: PipeGreeting): Promise<boolean> => out.write(encodeGreeting(greeting))
  try {
    const place = { dir: await dir() }
    if (id === undefined) {
      await greet({ state: 'list', sessions: await sessionsAt(place, isAll) })
      return
    }
    const find = (): Promise<Located> => locate(place, id, () => undefined)
    const located = await find()
    const socket = located.isRunning ? await connectIfThere(located) : undefined
    if (socket === undefined) await sayEnd(await find(), out, greet)
    else {
      await greet({ state: 'running', id: located.id })
      const introduced = introduce(ends.calledAs, socket, located)
      await join(ends, socket)
      if (introduced !== undefined) closeSync(introduced)
      // A client that waits for the end of the session waits for the end of this process.
      await isGone(located.holder, clock, clock.monoMs() + PIPE_LAST_LOOK_MS)
    }
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    const { code, message, hint = null, details = {} } = error
    await greet({ state: 'refused', code, message, hint, details })
  }
}

/** Undefined for a session that ended since it was located. */
function connectIfThere({ paths }: Located): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(paths.socket)
    socket.once('connect', () => resolve(socket))
    socket.once('error', (error) => {
      if (isErrno(error, 'ENOENT', 'ECONNREFUSED')) resolve(undefined)
      else reject(error)
    })
  })
}

/** Introduces itself in place of the client, whose processes are on another machine; returns the descriptor that proves it. */
function introduce(calledAs: string, socket: Socket, { paths }: Located): number | undefined {
  try {
    const fd = openSync(paths.pid, constants.O_WRONLY)
    socket.write(encodeJson('caller', { pid: process.pid, as: calledAs }))
    return fd
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES', 'EROFS')) return undefined
    throw error
  }
}

async function sayEnd(
  located: Located,
  out: Pick<LogOut, 'write'>,
  greet: (greeting: PipeGreeting) => Promise<boolean>,
): Promise<void> {
  const { id, paths, exit, orphans } = located
  const kept = readFileIfThere(paths.kept)
  if (orphans.length > 0 || (exit === undefined && kept === undefined)) throw ended(located)
  await greet({ state: 'ended', id, exit: exit ?? null, kept_bytes: kept?.length ?? 0 })
  await out.write(kept ?? '')
}

/** Until either side has closed. */
function join({ stdin, stdout }: PipeEnds, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    // The close of the socket or the end of the input tells that a side has gone.
    socket.on('error', () => socket.destroy())
    stdout.on('error', () => socket.destroy())
    socket.on('close', () => {
      stdin.destroy()
      resolve()
    })
    stdin.on('end', () => socket.destroy()).on('error', () => socket.destroy())
    stdin.pipe(socket)
    socket.pipe(stdout, { end: false })
  })
}
