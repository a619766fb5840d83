// hm kill: ask sessions to end, and if wanted see that they did.
import type { SessionConnection } from '../../../client/connection.ts'
import { Watch } from '../../../client/watch.ts'
import { type Clock, pause } from '../../../clock.ts'
import { HeimdallError } from '../../../errors.ts'
import { parseId } from '../../../ids.ts'
import { KILLED_AT_ONCE, KILLED_ELSEWHERE_AT_ONCE, SESSION_ANSWER_MS } from '../../../limits.ts'
import { readStat } from '../../../processes.ts'
import { isSupervisorAlive, readExitRecord } from '../../../sessions/session-files.ts'
import { type Holder, parseHolder } from '../../../wire/pid-file.ts'
import { sendSignal } from '../../../signals.ts'
import type { Answer, Context, InputOf, Run } from '../../command.ts'
import { exitOf } from '../../manners.ts'
import type { kill } from '../../table/session.ts'
import { connectTo, locate, type Located, whoEnds } from './locate.ts'
import { infoIfKnown } from './versions.ts'

type Flags = InputOf<typeof kill>['flags']

export const run: Run<typeof kill> = async (context, { flags, args }) => {
  // All of them first: where one is no id at all, the line was not meant as it stands, and nothing is ended.
  const [first, ...more] = new Set(args.id.map((text) => parseId('session', text)))
  return first === undefined || more.length === 0
    ? await endOne(context, flags, first ?? '')
    : await endEach(context, flags, [first, ...more])
}

/** One that cannot be ended does not keep the others; the exit code is that of the first such one. */
async function endEach(context: Context, flags: Flags, ids: readonly string[]): Promise<Answer> {
  const ends = new Map<string, Answer | HeimdallError>()
  const left = [...ids]
  const { clock } = context
  const deadlineMs = flags.timeout === undefined ? undefined : clock.monoMs() + flags.timeout
  const endNext = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      // The time is for all of them: whose turn comes late has less of it.
      const timeout = deadlineMs === undefined ? undefined : Math.max(0, deadlineMs - clock.monoMs())
      ends.set(id, await endOne(context, { ...flags, timeout }, id).catch(ifKnown))
    }
  }
  const atOnce = flags.host === undefined ? KILLED_AT_ONCE : KILLED_ELSEWHERE_AT_ONCE
  await Promise.all(Array.from({ length: atOnce }, endNext))
  const inOrder = ids.map((id) => ({ id, end: ends.get(id) }))
  const failed = inOrder.flatMap(({ end }) => (end instanceof HeimdallError ? end : []))
  const text = inOrder.flatMap(({ end }) => (end === undefined || end instanceof HeimdallError ? [] : end.text))
  for (const { message, hint } of context.json ? [] : failed)
    context.note(`error: ${message}${hint === undefined ? '' : `\nhint: ${hint}`}`)
  return {
    data: { sessions: inOrder.map(({ id, end }) => whatBecame(id, end)) },
    text: text.join('\n'),
    ...(failed[0] !== undefined && { exit: exitOf(failed[0], context.calledAs, context.isSeedName) }),
  }
}

function ifKnown(error: unknown): HeimdallError {
  if (error instanceof HeimdallError) return error
  throw error
}

function whatBecame(id: string, end: Answer | HeimdallError | undefined): unknown {
  if (!(end instanceof HeimdallError)) return { ...(end?.data as object), error: null }
  const { code, message, hint = null, details = {} } = end
  return { id, ended: false, exit_code: null, error: { code, message, hint, ...details } }
}

async function endOne(context: Context, flags: Flags, text: string): Promise<Answer> {
  const located = await locate(context, flags, text)
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
    // Since it was looked at, it may have gone, and its number to somebody else.
    if (isSupervisorAlive(holder)) sendSignal(holder.supervisorPid, 'SIGKILL')
    await isGone(holder, context.clock, context.clock.monoMs() + SESSION_ANSWER_MS)
    return await endLost(context, located)
  }
}

const isStopped = (holder: Holder | undefined): holder is Holder =>
  holder !== undefined && readStat(holder.supervisorPid)?.isStopped === true

/** There is nobody to ask, so it is done here: asked, given the grace time, and then not asked. */
async function endLost(context: Context, { dir, id }: Located): Promise<Answer> {
  const { settle } = await import('../../../sessions/settle.ts')
  await settle(dir, id, { by: whoEnds(context), clock: context.clock })
  const exit = readExitRecord(dir, id)
  const text = `Session ${id} had lost its supervisor; ended ${exit?.swept ?? 0} processes that it had left`
  return { data: { id, ended: true, exit_code: exit?.exit_code ?? null }, text }
}

async function askToEnd(context: Context, flags: Flags, located: Located): Promise<Answer> {
  const { id } = located
  const deadlineMs = context.clock.monoMs() + (flags.timeout ?? Number.POSITIVE_INFINITY)
  const connection = await connectUnlessCut(located)
  if (connection === undefined) return await endCutOff(context, flags, located, deadlineMs)
  try {
    // Processes of another machine are seen off there.
    const holder = located.elsewhere === undefined ? await runnerOf(connection, located.holder) : undefined
    const watch = flags.wait === true ? new Watch(connection.subscribe({ from: 'live' }), context.clock) : undefined
    await connection.callAs(context.calledAs)
    await connection.kill()
    if (watch === undefined) {
      // Frames are taken in order, so this answer says that the kill was. A watcher sees the end itself, and after it nobody answers.
      await connection.status()
      return { data: { id, ended: false, exit_code: null }, text: `Kill signal sent to session ${id}` }
    }
    const hasEnded = await watch.until(({ exitCode }) => exitCode !== undefined, flags.timeout)
    if (!hasEnded || !(await isGone(holder, context.clock, deadlineMs))) throw notInTime(id)
    await located.elsewhere?.gone()
    const code = watch.seen.exitCode ?? null
    return { data: { id, ended: true, exit_code: code }, text: `Session ${id} ended with exit code ${code}` }
  } finally {
    connection.close()
  }
}

/** Nothing when its socket is gone and its supervisor is not: nobody can speak to it any more, but its pid is known. */
async function connectUnlessCut(located: Located): Promise<SessionConnection | undefined> {
  try {
    return await connectTo(located)
  } catch (error) {
    const isCut = error instanceof HeimdallError && error.code === 'SESSION_NOT_FOUND'
    if (isCut && located.holder?.supervisorStart !== undefined) return undefined
    throw error
  }
}

/** Its supervisor takes SIGTERM for the same wish. Proven by its start time: the number alone could be anybody's. */
async function endCutOff(
  { clock }: Context,
  flags: Flags,
  { dir, id, holder }: Located,
  deadlineMs: number,
): Promise<Answer> {
  if (holder !== undefined && isSupervisorAlive(holder)) sendSignal(holder.supervisorPid, 'SIGTERM')
  if (flags.wait !== true)
    return { data: { id, ended: false, exit_code: null }, text: `Kill signal sent to session ${id}` }
  if (!(await isGone(holder, clock, deadlineMs))) throw notInTime(id)
  const code = readExitRecord(dir, id)?.exit_code ?? null
  return { data: { id, ended: true, exit_code: code }, text: `Session ${id} ended with exit code ${code}` }
}

const notInTime = (id: string): HeimdallError =>
  new HeimdallError('SESSION_WAIT_TIMEOUT', `session ${id} did not end in time`, { hint: `hm status ${id}` })

/** Whom to see off: the session says so itself, where its pid file names somebody else or nobody. */
async function runnerOf(connection: SessionConnection, holder: Holder | undefined): Promise<Holder | undefined> {
  if (holder?.supervisorStart !== undefined) return holder
  const info = await infoIfKnown(connection)
  // A session that speaks only what seed 001 says: its pid file is all there is.
  if (info === undefined) return holder
  const { supervisor_pid: pid } = info
  return parseHolder(`${pid}\n0\nsupervisor_start ${readStat(pid)?.startTicks ?? 0}\n`)
}

const LOOK_MS = 20

/** The child's end comes first; its supervisor goes when the rest of the tree has been swept and nothing of it is left. */
export async function isGone(holder: Holder | undefined, clock: Clock, deadlineMs: number): Promise<boolean> {
  if (holder === undefined) return true
  while (isSupervisorAlive(holder)) {
    if (clock.monoMs() >= deadlineMs) return false
    await pause(clock, LOOK_MS)
  }
  return true
}
