// hm kill: ask a session to end, and if wanted see that it did.
import { Watch } from '../../../client/watch.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { kill } from '../../table/session.ts'
import { connectTo, locate } from './locate.ts'

export const run: Run<typeof kill> = async (context, { flags, args }) => {
  const located = await locate(context, flags, args.id)
  const { id } = located
  if (!located.isRunning) {
    const code = located.exit?.exit_code ?? null
    return { data: { id, ended: true, exit_code: code }, text: `Session ${id} had ended already` }
  }
  const connection = await connectTo(located)
  try {
    const watch = flags.wait === true ? new Watch(connection.subscribe({ from: 'live' }), context.clock) : undefined
    await connection.kill()
    // Frames are taken in order, so this answer says that the kill was.
    await connection.status()
    if (watch === undefined)
      return { data: { id, ended: false, exit_code: null }, text: `Kill signal sent to session ${id}` }
    const hasEnded = await watch.until(({ exitCode }) => exitCode !== undefined, flags.timeout)
    if (!hasEnded)
      throw new HeimdallError('SESSION_WAIT_TIMEOUT', `session ${id} did not end in time`, { hint: `hm status ${id}` })
    const code = watch.seen.exitCode ?? null
    return { data: { id, ended: true, exit_code: code }, text: `Session ${id} ended with exit code ${code}` }
  } finally {
    connection.close()
  }
}
