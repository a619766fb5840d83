// heimdall dispatch send: put a task into the queue; with --wait, see it to its end.
import type { Coordination } from '../../../coordination/coordination.ts'
import { membershipIn } from '../../../coordination/membership.ts'
import { isTime, parseDispatch, type TaskDispatch } from '../../../dispatch/messages.ts'
import { sendTask } from '../../../dispatch/send-task.ts'
import { explainTask, showTask, waitsForPerson } from '../../../dispatch/tasks.ts'
import { buildBrief } from '../../../briefing/brief.ts'
import { EXIT, HeimdallError } from '../../../errors.ts'
import { escapeControls, printable } from '../../../ids.ts'
import { FLEET_BRIEF_BYTES_MAX, SPEC_BYTES_MAX } from '../../../limits.ts'
import { commitOf, gitIn } from '../../../spine/worktrees/git.ts'
import { isOpenTask } from '../../../coordination/tasks.ts'
import type { Answer, Context, InputOf, Run } from '../../command.ts'
import { withRoom } from '../../coordination-door.ts'
import { readInput } from '../../input-file.ts'
import { listOf, planningOf } from '../../planning-of.ts'
import type { dispatchSend } from '../../table/dispatch.ts'
import { isObject } from '../../../plain-object.ts'
import { knownPeers } from './known-peers.ts'
import { requirementsFrom } from './requirements.ts'
import { taskText, wholeRecord } from './task-record.ts'

type Input = InputOf<typeof dispatchSend>

export const run: Run<typeof dispatchSend> = async (context, input) => {
  const { flags } = input
  if (flags.timeout !== undefined && flags.wait !== true) throw new HeimdallError('USAGE', '--timeout goes with --wait')
  const spec = await wordsFrom(context, input)
  if (spec.trim() === '') throw new HeimdallError('USAGE', 'the brief is empty', { hint: SAY_WHAT })
  return await withRoom(context, async (room) => {
    refuseLong(spec, briefMax(room))
    const contract = await contractFrom(context, input, spec, room)
    const task = await sendTask(room, {
      contract,
      title: spec.trim().split('\n')[0]?.slice(0, 200) ?? contract.task.task_id,
      only: flags.worker,
    })
    await tellWhoCannot(context, room, task.taskId)
    if (flags.wait === true) return await waited(context, room, task.taskId, flags.timeout)
    return { data: wholeRecord(showTask(room, task.taskId)), text: `${task.taskId} is ${task.state}` }
  })
}

/** In a fleet a long one lies beside the log. */
const briefMax = (room: Coordination): number =>
  membershipIn(room.store) === undefined ? SPEC_BYTES_MAX : FLEET_BRIEF_BYTES_MAX

function refuseLong(spec: string, bytesMax: number): void {
  const bytes = Buffer.byteLength(spec)
  if (bytes > bytesMax)
    throw new HeimdallError('DISPATCH_INVALID', `a brief of ${bytes} bytes, limit ${bytesMax}`, {
      hint: 'put it into a file of the repository, and refer to its path',
    })
}

const SAY_WHAT = 'heimdall dispatch send "Fix the flaky login test" --wait'

async function wordsFrom(context: Context, { args, flags }: Input): Promise<string> {
  const file = flags['brief-file']
  if ((args.brief === undefined) === (file === undefined))
    throw new HeimdallError('USAGE', 'say what is to be done, as an argument or with --brief-file', {
      hint: SAY_WHAT,
    })
  if (file !== undefined || args.brief === '-') return (await readInput(context, file ?? '-')).toString('utf8')
  return args.brief ?? ''
}

async function contractFrom(
  context: Context,
  { flags }: Input,
  spec: string,
  room: Coordination,
): Promise<TaskDispatch> {
  const taskId = flags.id ?? `t-${room.newId().toLowerCase()}`
  if (flags.schema !== undefined && flags.reply !== 'json')
    throw new HeimdallError('USAGE', '--schema goes with --reply json')
  const schema = flags.schema === undefined ? undefined : await schemaFrom(await readInput(context, flags.schema))
  const { text } = buildBrief(planningOf(context), {
    task: taskId,
    spec,
    symbols: listOf(flags.symbols),
    capsules: listOf(flags.capsules),
    facts: listOf(flags.facts),
    specBytesMax: briefMax(room),
  })
  // A worker on another machine may stand elsewhere.
  const isShared = membershipIn(room.store) !== undefined && room.project.gitCommonDir !== undefined
  const commit = isShared ? await commitOf(gitIn(room.project.root, context.env), 'HEAD') : undefined
  const { TRACEPARENT: trace } = context.env
  const message = {
    type: 'TASK_DISPATCH',
    protocol_version: '2.0',
    task: {
      task_id: taskId,
      priority: flags.priority,
      reply_schema: flags.reply,
      token_budget: flags.budget ?? null,
      scopes: [...flags.scope],
      ...(commit === undefined ? {} : { commit }),
      ...(schema === undefined ? {} : { json_schema: schema }),
      idempotent: flags.idempotent === true,
      accept_partial: flags['accept-partial'] === true,
      ...(flags['resume-within'] === undefined ? {} : { resume_s: Math.ceil(flags['resume-within'] / 1_000) }),
    },
    requirements: requirementsFrom(flags),
    deadline: deadlineFrom(context, flags),
    brief: text,
    // Sent from inside of another task, or by a program that is watched: it belongs to that.
    ...(trace === undefined ? {} : { trace }),
  }
  return parseDispatch(message, membershipIn(room.store) === undefined ? undefined : FLEET_BRIEF_BYTES_MAX)
}

async function schemaFrom(bytes: Buffer): Promise<Record<string, unknown>> {
  const { schemaFault } = await import('../../../dispatch/runner/turn-result.ts')
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new HeimdallError('DISPATCH_INVALID', `the schema is not JSON: ${error.message}`, { cause: error })
  }
  const schema = isObject(value) ? { ...value } : undefined
  const fault = schema === undefined ? 'it is no object' : await schemaFault(schema)
  if (schema === undefined || fault !== undefined)
    throw new HeimdallError('DISPATCH_INVALID', `the schema cannot be used: ${fault}`, {
      hint: 'a JSON Schema of 2020-12, such as {"type": "object", "required": ["n"]}',
    })
  return schema
}

/** A time with its zone, or from now. */
function deadlineFrom(context: Context, { deadline, within }: Input['flags']): string | null {
  if (deadline !== undefined && within !== undefined)
    throw new HeimdallError('USAGE', '--deadline or --within, not both')
  if (within !== undefined) return new Date(context.clock.wallMs() + within).toISOString()
  if (deadline !== undefined && !isTime(deadline))
    throw new HeimdallError('DISPATCH_INVALID', `--deadline ${printable(deadline)} is no time with a zone`, {
      hint: 'such as 2026-05-31T21:00:00Z or 2026-05-31T21:00:00+02:00; from now: --within 30m',
    })
  return deadline ?? null
}

/** Whoever sends a task that nobody could take at present hears it now, and why. */
async function tellWhoCannot(context: Context, room: Coordination, taskId: string): Promise<void> {
  const { task } = showTask(room, taskId)
  if (task.state !== 'queued') return
  const { verdicts } = explainTask(room, taskId)
  const { peers } = await knownPeers(context, room.project)
  const known = new Set(peers('worker').map(({ name }) => name))
  const unasked = new Set(known)
  // While nobody orchestrates, nobody hears one that runs; whoever brings the task asks it.
  const mayHelp = (workerId: string, code: string): boolean =>
    code === 'max_concurrent' || (code === 'gone' && known.has(workerId))
  // One that nobody has asked yet may be able to do it.
  for (const { workerId } of verdicts) unasked.delete(workerId)
  if (unasked.size > 0) return
  if (verdicts.some(({ workerId, lacks }) => lacks.every(({ code }) => mayHelp(workerId, code)))) return
  if (verdicts.length === 0)
    context.note('no worker is known here yet; heimdall worker start -- COMMAND starts one, and the task waits for it')
  else context.note(`no worker can take it at present, and it waits: heimdall dispatch explain ${taskId} says why`)
}

/** Sends it itself while nobody else orchestrates: a worker and this command are enough. */
async function waited(
  context: Context,
  room: Coordination,
  taskId: string,
  timeoutMs: number | undefined,
): Promise<Answer> {
  const over = new AbortController()
  const stop = (): void => over.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const timer = timeoutMs === undefined ? undefined : context.clock.after(timeoutMs, stop)
  const { orchestrate } = await import('./orchestrate.ts')
  const running = await orchestrate(context, room, undefined)
  // Where another machine orchestrates, nobody here may follow the log.
  const linking = new AbortController()
  void room.store.link(linking.signal)
  try {
    await settled(context, room, taskId, over.signal)
  } finally {
    linking.abort()
    timer?.cancel()
    process.off('SIGINT', stop).off('SIGTERM', stop)
    await running?.stop()
  }
  const shown = showTask(room, taskId)
  const isOpen = isOpenTask(shown.task) && !waitsForPerson(shown.task)
  if (over.signal.aborted && isOpen)
    throw new HeimdallError(
      timeoutMs === undefined ? 'INTERRUPTED' : 'WAIT_TIMEOUT',
      `${taskId} is ${shown.task.state}`,
      {
        hint:
          shown.task.state === 'in_progress'
            ? `it goes on at its worker: heimdall dispatch show ${taskId}`
            : `it stays in the queue: heimdall dispatch explain ${taskId} says who could take it`,
      },
    )
  return {
    data: wholeRecord(shown),
    text: taskText(room, taskId),
    ...(shown.task.state === 'done' ? {} : { exit: EXIT.failure }),
  }
}

/** Each change of its state is a line for whoever waits. */
async function settled(context: Context, room: Coordination, taskId: string, signal: AbortSignal): Promise<void> {
  let told = ''
  const isOver = (): boolean => {
    const { task, attempts } = showTask(room, taskId)
    const at = attempts.at(-1)
    // How it ends is the answer of the command.
    if (!isOpenTask(task) || waitsForPerson(task)) return true
    const line =
      at === undefined || task.state !== 'in_progress'
        ? task.state
        : `${at.state} ${at.state === 'sent' ? 'to' : 'by'} ${at.workerId}`
    if (line !== told) context.note(escapeControls(`${taskId}: ${line}`))
    told = line
    return false
  }
  const from = room.store.read((rows) => rows.head())
  if (isOver()) return
  for await (const { puts } of room.store.follow(from, signal))
    if (puts.some((put) => 'row' in put && put.row['task_id'] === taskId) && isOver()) return
}
