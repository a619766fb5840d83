// What `hm run` and `heimdall run` do around a start: tell the program what it is shown in, and wait for its end.
import { HeimdallError } from '../../../errors.ts'
import { readExitRecord } from '../../../sessions/session-files.ts'
import type { StartedSession } from '../../../wire/handover.ts'
import type { SessionOptions } from '../../../wire/session-options.ts'
import type { Context } from '../../command.ts'

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
