// hm kill: ask a session to end, and if wanted see that it did.
import { Watch } from '../../../client/watch.ts'
import { type Clock, pause } from '../../../clock.ts'
import { HeimdallError } from '../../../errors.ts'
import { SESSION_ANSWER_MS } from '../../../limits.ts'
import { readStat } from '../../../processes.ts'
import { type Holder, isSupervisorAlive, readExitRecord } from '../../../supervisor/session-files.ts'
import { sendSignal } from '../../../supervisor/signals.ts'
import type { Answer, Context, InputOf, Run } from '../../command.ts'
import type { kill } from '../../table/session.ts'
import { connectTo, locate, type Located, whoEnds } from './locate.ts'

export const run: Run<typeof kill> = async (context, { flags, args }) => {
  const located = await locate(context, flags, args.id)
  const { id, holder, orphans } = located
  if (orphans.length > 0) return await endLost(context, located)
  if (!located.isRunning) {
    const code = located.exit?.exit_code ?? null
    return { data: { id, ended: true, exit_code: code }, text: `Session ${id} had ended already` }
  }
  if (!isStopped(holder)) return await askToEnd(context, flags, located)
  context.note(`the supervisor of session ${id} was stopped (SIGSTOP); it goes on, to end the session`)
  sendSignal(holder.supervisorPid, 'SIGCONT')
  try {
    return await askToEnd(context, flags, located)
  } catch (error) {
    if (!(error instanceof HeimdallError && error.code === 'SESSION_SILENT')) throw error
    sendSignal(holder.supervisorPid, 'SIGKILL')
    await isGone(holder, context.clock, context.clock.monoMs() + SESSION_ANSWER_MS)
    return await endLost(context, located)
  }
}

const isStopped = (holder: Holder | undefined): holder is Holder =>
  holder !== undefined && readStat(holder.supervisorPid)?.isStopped === true

/** There is nobody to ask, so it is done here: asked, given the grace time, and then not asked. */
async function endLost(context: Context, { dir, id }: Located): Promise<Answer> {
  const { settle } = await import('../../../supervisor/settle.ts')
  await settle(dir, id, { by: whoEnds(context), clock: context.clock })
  const exit = readExitRecord(dir, id)
  const text = `Session ${id} had lost its supervisor; ended ${exit?.swept ?? 0} processes that it had left`
  return { data: { id, ended: true, exit_code: exit?.exit_code ?? null }, text }
}

async function askToEnd(context: Context, flags: InputOf<typeof kill>['flags'], located: Located): Promise<Answer> {
  const { id, holder } = located
  const deadlineMs = context.clock.monoMs() + (flags.timeout ?? Number.POSITIVE_INFINITY)
  const connection = await connectTo(located)
  try {
    const watch = flags.wait === true ? new Watch(connection.subscribe({ from: 'live' }), context.clock) : undefined
    await connection.kill()
    if (watch === undefined) {
      // Frames are taken in order, so this answer says that the kill was. A watcher sees the end itself, and after it nobody answers.
      await connection.status()
      return { data: { id, ended: false, exit_code: null }, text: `Kill signal sent to session ${id}` }
    }
    const hasEnded = await watch.until(({ exitCode }) => exitCode !== undefined, flags.timeout)
    if (!hasEnded || !(await isGone(holder, context.clock, deadlineMs)))
      throw new HeimdallError('SESSION_WAIT_TIMEOUT', `session ${id} did not end in time`, { hint: `hm status ${id}` })
    const code = watch.seen.exitCode ?? null
    return { data: { id, ended: true, exit_code: code }, text: `Session ${id} ended with exit code ${code}` }
  } finally {
    connection.close()
  }
}

const LOOK_MS = 20

/** The child's end comes first; its supervisor goes when the rest of the tree has been swept and nothing of it is left. */
async function isGone(holder: Holder | undefined, clock: Clock, deadlineMs: number): Promise<boolean> {
  if (holder === undefined) return true
  while (isSupervisorAlive(holder)) {
    if (clock.monoMs() >= deadlineMs) return false
    await pause(clock, LOOK_MS)
  }
  return true
}
