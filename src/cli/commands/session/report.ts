// hm report: a hook of the agent tells its session whether a person is waited for.
import { HeimdallError } from '../../../errors.ts'
import { agentAbove } from '../../../person.ts'
import type { Run } from '../../command.ts'
import type { report } from '../../table/session.ts'
import { connectTo, locate, type Located, sessionAround } from './locate.ts'
import { socketDirOf } from './socket-dir.ts'

export const run: Run<typeof report> = async (context, { flags, args }) => {
  const evidence = flags['needs-input']
  const needsInput = evidence !== undefined
  if (needsInput === (flags.working === true))
    throw new HeimdallError('USAGE', 'say one of --needs-input WHY and --working')
  const id = args.id ?? (await sessionAround(context, await socketDirOf(context, flags)))
  if (id === undefined) return { data: { id: null, needs_input: needsInput }, text: '' }
  const located = await locate(context, flags, id)
  refuseForOthers(located, args.id !== undefined)
  const connection = await connectTo(located)
  try {
    await connection.report({ source: 'hook', needs_input: needsInput, ...(needsInput ? { evidence } : {}) })
    // Frames are taken in order, so this answer says that the report was.
    await connection.status()
    return { data: { id, needs_input: needsInput }, text: '' }
  } finally {
    connection.close()
  }
}

/** Whether an agent waits is for itself to say, or for a person. One that is in no session is not the session that it names. */
function refuseForOthers({ id, holder }: Located, isNamed: boolean): void {
  const agent = agentAbove()
  if (agent === undefined || (agent.supervisorPid === undefined && !isNamed)) return
  if (agent.supervisorPid !== undefined && agent.supervisorPid === holder?.supervisorPid) return
  throw new HeimdallError(
    'IDENTITY_BORROWED',
    `nobody but session ${id} and a person says what it waits for: ${agent.reason}`,
    {
      hint: 'leave the id out: then it is about the session that you are in',
    },
  )
}
