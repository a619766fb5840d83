// What `hm run` and `heimdall run` do around a start: check how it is asked for, tell the program what it is shown in, show it, or wait for its end.
import { HeimdallError } from '../../../errors.ts'
import { readExitRecord } from '../../../sessions/session-files.ts'
import type { StartedSession } from '../../../wire/handover.ts'
import type { SessionOptions } from '../../../wire/session-options.ts'
import type { Answer, Context } from '../../command.ts'

interface StartFlags {
  readonly detach?: boolean | undefined
  readonly wait?: boolean | undefined
  readonly inline?: boolean | undefined
}

/** `example`: a line as it should have been. */
export function checkStart({ detach, wait }: StartFlags, command: readonly string[], example: string): void {
  if (command.length === 0)
    throw new HeimdallError('USAGE', 'no command to run', { hint: `put it after --: ${example}` })
  if (wait === true && detach !== true)
    throw new HeimdallError('USAGE', '--wait goes with --detach; without it, run stays attached anyway')
}

/** It is about to be drawn here, and not passed on as it comes. */
export const isDrawn = ({ stdin, stdout }: Context, { detach, inline }: StartFlags): boolean =>
  detach !== true && inline !== true && stdin.isTTY && stdout.isTTY

/** From its first byte to its end, and able to type. */
export async function showStarted(
  context: Context,
  { id, socket }: StartedSession,
  dir: string,
  { inline }: StartFlags,
): Promise<Answer> {
  // Loaded here: a session that is only started needs no terminal emulator.
  const { attachTo } = await import('./attach.ts')
  return await attachTo(context, {
    id,
    dir,
    socketPath: socket,
    isInline: inline === true,
    isReadOnly: false,
    isSafe: false,
    isAlone: false,
    staysToEnd: true,
    from: 0,
  })
}

/** Asks this terminal for its colours first. Where the start fails, the terminal is left as it was. */
export async function colored<T>(
  context: Context,
  start: (colors: SessionOptions['colors']) => Promise<T>,
): Promise<T> {
  const { colorsOf } = await import('./view/outer-colors.ts')
  const colors = await colorsOf(context, context.env, context.clock)
  try {
    return await start(colors ?? null)
  } catch (error) {
    context.stdin.setRawMode(false)
    throw error
  }
}

export async function waitForExit(dir: string, { id, socket }: StartedSession): Promise<number> {
  const { openConnection } = await import('../../../client/connection.ts')
  const connection = await openConnection(socket).catch((error: unknown) => {
    // It ended, and stopped answering, before we came: the record says how.
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
