// Shows a session in this terminal: after a start, for `attach`, or until a human has answered it.
import { HeimdallError } from '../errors.ts'
import { readExitRecord } from '../sessions/session-files.ts'
import { attach, untilAnswered } from '../sessions/view/attach.ts'
import type { Leave, ViewTarget } from '../sessions/view/view.ts'
import { TypedAnswer } from '../sessions/view/view-keys.ts'
import type { StartedSession } from '../wire/handover.ts'
import type { SessionOptions } from '../wire/session-options.ts'
import { sessionPaths } from '../wire/session-paths.ts'
import type { Answer, Context } from './command.ts'
import { TextOut } from './text-out.ts'

interface ShowFlags {
  readonly detach?: boolean | undefined
  readonly inline?: boolean | undefined
}

/** Attaches until the command ends (its exit code) or the viewer leaves (0). */
export async function attachTo(context: Context, target: ViewTarget): Promise<Answer> {
  const { stdin, stdout, env, clock, note, calledAs, json } = context
  const config = await context.settings()
  const out = new TextOut(stdout)
  const leave = await attach(
    {
      stdin,
      stdout,
      env,
      clock,
      note,
      calledAs,
      detachKey: config.detach_key.value as number,
      hasColor: context.style.color.isColorSupported,
      // With --json a pipe gets one object and no output.
      write: (bytes) => (json && !stdout.isTTY ? Promise.resolve(true) : out.write(bytes)),
    },
    target,
  )
  const id = leave.id ?? target.id
  if (stdout.isTTY) note(`[${wordsFor(leave, `${context.isSeedName ? 'hm' : 'heimdall'} attach ${id} returns`)}]`)
  const code = leave.reason === 'exited' ? leave.code : null
  return { data: { id, reason: leave.reason, exit_code: code }, text: '', ...(code === null ? {} : { exit: code }) }
}

function wordsFor(leave: Leave, returns: string): string {
  switch (leave.reason) {
    case 'exited':
      return `session exited with code ${leave.code}`
    case 'answered':
    case 'detached':
      return `${leave.reason}; ${returns}`
    case 'disconnected':
      return `disconnected by another client; ${returns}`
    case 'SIGTERM':
    case 'SIGHUP':
    case 'end of input':
      return `left on ${leave.reason}; ${returns}`
  }
}

const PLAIN = { isInline: false, isReadOnly: false, isSafe: false, isAlone: false, staysToEnd: false } as const

/** The session will be drawn in this terminal, not passed through. */
export const isDrawn = ({ stdin, stdout }: Context, { detach, inline }: ShowFlags): boolean =>
  detach !== true && inline !== true && stdin.isTTY && stdout.isTTY

/** Shows a session that was just started, from its first byte to its end. */
export async function showStarted(
  context: Context,
  { id, socket }: StartedSession,
  dir: string,
  { inline }: ShowFlags,
): Promise<Answer> {
  return await attachTo(context, {
    ...PLAIN,
    id,
    dir,
    socketPath: socket,
    isInline: inline === true,
    staysToEnd: true,
    from: 0,
  })
}

/** Asks this terminal for its colours before the start. If the start fails, the terminal is restored. */
export async function colored<T>(
  context: Context,
  start: (colors: SessionOptions['colors']) => Promise<T>,
): Promise<T> {
  const { colorsOf } = await import('../sessions/view/outer-abilities.ts')
  const colors = await colorsOf(context, context.env, context.clock)
  try {
    return await start(colors ?? null)
  } catch (error) {
    context.stdin.setRawMode(false)
    throw error
  }
}

export async function waitForExit(dir: string, { id, socket }: StartedSession): Promise<number> {
  const { openConnection } = await import('../client/connection.ts')
  const connection = await openConnection(socket).catch((error: unknown) => {
    // It has ended and stopped listening already: the exit record says how.
    if (error instanceof HeimdallError && error.code === 'SESSION_NOT_FOUND') return undefined
    throw error
  })
  if (connection !== undefined)
    for await (const event of connection.subscribe({ from: 'live', readOnly: true }))
      if (event.type === 'exit') return event.code
  const record = readExitRecord(dir, id)
  if (record === undefined) throw new HeimdallError('SESSION_LOST', `session ${id} ended without a record`)
  return record.exit_code
}

/** Attaches to a waiting session until a human has answered it. True when the terminal or its input is gone. */
export async function attachUntilAnswered(
  context: Context,
  { dir, id }: { readonly dir: string; readonly id: string },
): Promise<boolean> {
  const over = new AbortController()
  const answered = new AbortController()
  const { clock } = context
  const typed = new TypedAnswer()
  const socketPath = sessionPaths(dir, id).socket
  const watching = untilAnswered({ socketPath, clock, typed, signal: over.signal }).then(
    (isAnswered) => (isAnswered ? answered.abort() : undefined),
    // The view reports a session that cannot be reached.
    (error: unknown) => {
      if (!(error instanceof HeimdallError)) throw error
    },
  )
  try {
    const { data } = await attachTo(context, {
      ...PLAIN,
      id,
      dir,
      socketPath,
      from: 'snapshot',
      answered: answered.signal,
      onTyped: (bytes) => typed.take(bytes, clock.monoMs()),
    })
    return ['SIGTERM', 'SIGHUP', 'end of input'].includes((data as { readonly reason: string }).reason)
  } catch (error) {
    // It has ended meanwhile.
    if (!(error instanceof HeimdallError) || error.code !== 'SESSION_NOT_FOUND') throw error
    return false
  } finally {
    over.abort()
    await watching
  }
}
