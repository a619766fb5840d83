// hm rename: another id for a running session.
import { HeimdallError } from '../../../errors.ts'
import { parseId } from '../../../ids.ts'
import type { Run } from '../../command.ts'
import type { rename } from '../../table/session.ts'
import { connectTo, locate } from './locate.ts'

export const run: Run<typeof rename> = async (context, { flags, args }) => {
  const to = parseId('session', args.new)
  const located = await locate(context, flags, args.old)
  const connection = await connectTo(located)
  try {
    const { viewers } = await connection.info()
    // It would skip the frame and never answer.
    if (viewers === undefined)
      throw new HeimdallError('SESSION_REFUSED', `session ${located.id} was started by a version that cannot do this`)
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
