// hm rename: another id for a running session.
import { HeimdallError } from '../../../errors.ts'
import { parseId } from '../../../ids.ts'
import { settle } from '../../../sessions/settle.ts'
import type { Run } from '../../command.ts'
import type { rename } from '../../table/session.ts'
import { connectTo, locate, whoEnds } from './locate.ts'
import { requireViewers } from './versions.ts'

export const run: Run<typeof rename> = async (context, { flags, args }) => {
  const to = parseId('session', args.new)
  const located = await locate(context, flags, args.old)
  const connection = await connectTo(located)
  try {
    await requireViewers(connection, located.id)
    // The session itself takes only an id that is free: what a lost one has left is ended from here.
    await settle(located.dir, to, { by: whoEnds(context), clock: context.clock })
    await connection.callAs(context.calledAs)
    const { id } = await connection.rename(to)
    return { data: { id, before: located.id }, text: `Session ${located.id} is now ${id}` }
  } catch (error) {
    const refusal = error instanceof HeimdallError ? error.details?.['refusal'] : undefined
    if (refusal !== 'SESSION_ID_IN_USE') throw error
    throw new HeimdallError('SESSION_ID_IN_USE', `session ${to} is in use`, { hint: 'choose another id', cause: error })
  } finally {
    connection.close()
  }
}
