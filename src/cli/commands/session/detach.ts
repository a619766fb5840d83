// hm detach: send the viewers of a session away; the session goes on.
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { detach } from '../../table/session.ts'
import { connectTo, locate, sessionAround } from './locate.ts'
import { socketDirOf } from './socket-dir.ts'
import { requireViewers } from './versions.ts'

export const run: Run<typeof detach> = async (context, { flags, args }) => {
  const named = args.id ?? (await sessionAround(context, await socketDirOf(context, flags)))
  if (named === undefined) throw new HeimdallError('USAGE', 'which session? This terminal is in none')
  const located = await locate(context, flags, named)
  const connection = await connectTo(located)
  try {
    const { id } = located
    const viewers = await requireViewers(connection, id)
    await connection.detachOthers()
    // Frames are taken in order, so this answer says that they were sent away.
    await connection.status()
    return { data: { id, detached: viewers }, text: `Detached ${viewers} viewer(s) from session ${id}` }
  } finally {
    connection.close()
  }
}
