// hm report: a hook of the agent tells its session whether a person is waited for.
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { report } from '../../table/session.ts'
import { connectTo, locate, sessionAround } from './locate.ts'
import { socketDirOf } from './socket-dir.ts'

export const run: Run<typeof report> = async (context, { flags, args }) => {
  const evidence = flags['needs-input']
  const needsInput = evidence !== undefined
  if (needsInput === (flags.working === true))
    throw new HeimdallError('USAGE', 'say one of --needs-input WHY and --working')
  const id = args.id ?? (await sessionAround(context, await socketDirOf(context, flags)))
  if (id === undefined) return { data: { id: null, needs_input: needsInput }, text: '' }
  const connection = await connectTo(await locate(context, flags, id))
  try {
    await connection.report({ source: 'hook', needs_input: needsInput, ...(needsInput ? { evidence } : {}) })
    // Frames are taken in order, so this answer says that the report was.
    await connection.status()
    return { data: { id, needs_input: needsInput }, text: '' }
  } finally {
    connection.close()
  }
}
