// hm pipe: the other end of `hm --host`. Joins standard input and output to a session's socket, or says why there is none.
import { closeSync, constants, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { HeimdallError, isErrno } from '../../../errors.ts'
import { PIPE_LAST_LOOK_MS } from '../../../limits.ts'
import { readFileIfThere } from '../../../storage/atomic-file.ts'
import { encodeJson } from '../../../wire/encode.ts'
import { encodeGreeting, type PipeGreeting } from '../../../wire/pipe-greeting.ts'
import type { Answer, Context, Run } from '../../command.ts'
import type { pipe } from '../../table/session.ts'
import { isGone } from './kill.ts'
import { ended, locate, type Located } from './locate.ts'
import { listed } from './ls.ts'
import { TextOut } from './text-out.ts'

const STREAMED: Answer = { data: null, text: '', streamed: true }

export const run: Run<typeof pipe> = async (context, { flags, args }) => {
  const out = new TextOut(context.stdout)
  const greet = (greeting: PipeGreeting): Promise<boolean> => out.write(encodeGreeting(greeting))
  try {
    if (args.id === undefined) {
      await greet({ state: 'list', sessions: await listed(context, flags, flags.all === true) })
      return STREAMED
    }
    const located = await locate(context, flags, args.id)
    const socket = located.isRunning ? await connectIfThere(located) : undefined
    if (socket === undefined) await sayEnd(await locate(context, flags, args.id), out, greet)
    else {
      await greet({ state: 'running', id: located.id })
      const introduced = introduce(context, socket, located)
      await join(context, socket)
      if (introduced !== undefined) closeSync(introduced)
      // Whoever waits for the end of the session waits for ours.
      await isGone(located.holder, context.clock, context.clock.monoMs() + PIPE_LAST_LOOK_MS)
    }
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    const { code, message, hint = null, details = {} } = error
    await greet({ state: 'refused', code, message, hint, details })
  }
  return STREAMED
}

/** Nothing when it ended since its files were looked at. */
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

/** As the far end of a client of another machine, whose processes are not to be seen here; returns what proves it. */
function introduce({ calledAs }: Context, socket: Socket, { paths }: Located): number | undefined {
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
  out: TextOut,
  greet: (greeting: PipeGreeting) => Promise<boolean>,
): Promise<void> {
  const { id, paths, exit, orphans } = located
  const kept = readFileIfThere(paths.kept)
  if (orphans.length > 0 || (exit === undefined && kept === undefined)) throw ended(located)
  await greet({ state: 'ended', id, exit: exit ?? null, kept_bytes: kept?.length ?? 0 })
  await out.write(kept ?? '')
}

/** Until either side has closed. */
function join({ stdin, stdout }: Context, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    // Who has gone is seen by the close of the socket, or by the end of the input.
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
