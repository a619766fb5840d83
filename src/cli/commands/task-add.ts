// heimdall task add: builds the brief and the contract of a task, queues it, and waits for its end if asked to.
import type { Coordination } from '../../coordination/coordination.ts'
import { followTask, isUnderWay } from '../../dispatch/follow-task.ts'
import { isTime } from '../../dispatch/messages.ts'
import { newContract, replySchema } from '../../dispatch/new-contract.ts'
import { sendTask } from '../../dispatch/send-task.ts'
import { lackOfWorkers, showTask } from '../../dispatch/tasks.ts'
import { EXIT, HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import type { Answer, Context, InputOf } from '../command.ts'
import { withStore } from '../coordination-store.ts'
import { readInput } from '../input-file.ts'
import { listOf, planningOf } from '../planning-of.ts'
import { peersFor } from './peers.ts'
import { requirementsOf, type taskAdd } from './task.ts'
import { taskText, wholeRecord } from './task-text.ts'
import { orchestrate } from './worker.ts'
import { usageError } from '../usage-error.ts'

const SAY_WHAT = 'heimdall task add "Fix the flaky login test" --wait'

async function briefOf(context: Context, text: string | undefined, file: string | undefined): Promise<string> {
  if ((text === undefined) === (file === undefined))
    throw usageError('say what is to be done, as an argument or with --brief-file', SAY_WHAT)
  const brief =
    file !== undefined || text === '-' ? (await readInput(context, file ?? '-')).toString('utf8') : (text ?? '')
  if (brief.trim() === '') throw usageError('the brief is empty', SAY_WHAT)
  return brief
}

function deadlineOf(context: Context, deadline: string | undefined, withinMs: number | undefined): string | null {
  if (deadline !== undefined && withinMs !== undefined) throw usageError('--deadline and --within exclude each other')
  if (withinMs !== undefined) return new Date(context.clock.wallMs() + withinMs).toISOString()
  if (deadline !== undefined && !isTime(deadline))
    throw new HeimdallError('DISPATCH_INVALID', `--deadline ${printable(deadline)} is not a time with a zone`, {
      hint: 'such as 2026-05-31T21:00:00Z or 2026-05-31T21:00:00+02:00; from now: --within 30m',
    })
  return deadline ?? null
}

/** Orchestrates while it waits, unless another process does: a worker and this command are enough. */
async function waited(
  context: Context,
  db: Coordination,
  taskId: string,
  timeoutMs: number | undefined,
): Promise<Answer> {
  const over = new AbortController()
  const stop = (): void => over.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const timer = timeoutMs === undefined ? undefined : context.clock.after(timeoutMs, stop)
  context.note(`waiting for ${taskId} to end; Ctrl-C stops waiting, and the task stays`)
  const running = await orchestrate(context, db, undefined)
  try {
    await followTask(db, taskId, over.signal, (state) => context.note(escapeControls(`${taskId}: ${state}`)))
  } finally {
    timer?.cancel()
    process.off('SIGINT', stop).off('SIGTERM', stop)
    await running?.stop()
  }
  const shown = showTask(db, taskId)
  const { state } = shown.task
  if (over.signal.aborted && isUnderWay(shown.task))
    throw new HeimdallError(timeoutMs === undefined ? 'INTERRUPTED' : 'WAIT_TIMEOUT', `${taskId} is ${state}`, {
      hint:
        state === 'in_progress'
          ? `it continues at its worker: heimdall task show ${taskId}`
          : `it stays in the queue: heimdall task explain ${taskId} shows which worker could take it`,
    })
  return {
    data: wholeRecord(shown),
    text: taskText(db, taskId),
    ...(state === 'done' ? {} : { exit: EXIT.failure }),
  }
}

async function warnWithoutWorker(context: Context, db: Coordination, taskId: string): Promise<void> {
  const { peers } = await peersFor(context, db.project)
  const names = peers('worker').map(({ name }) => name)
  const lack = lackOfWorkers(db, taskId, names)
  if (lack === 'none')
    context.note('no worker is known here yet, and the task waits for one: heimdall worker start -- COMMAND')
  if (lack === 'unable')
    context.note(`no worker can take the task now, and it waits: heimdall task explain ${taskId} says why`)
}

export async function add(context: Context, { args, flags }: InputOf<typeof taskAdd>): Promise<Answer> {
  if (flags.timeout !== undefined && flags.wait !== true) throw usageError('--timeout requires --wait')
  if (flags.schema !== undefined && flags.reply !== 'json') throw usageError('--schema requires --reply json')
  const spec = await briefOf(context, args.text, flags['brief-file'])
  const deadline = deadlineOf(context, flags.deadline, flags.within)
  const schema = flags.schema === undefined ? undefined : await readInput(context, flags.schema)
  const task = {
    ...(flags.id === undefined ? {} : { task_id: flags.id }),
    priority: flags.priority,
    reply_schema: flags.reply,
    token_budget: flags.budget ?? null,
    scopes: [...flags.scope],
    ...(schema === undefined ? {} : { json_schema: await replySchema(schema.toString('utf8')) }),
    idempotent: flags.idempotent === true,
    accept_partial: flags['accept-partial'] === true,
    ...(flags['resume-within'] === undefined ? {} : { resume_s: Math.ceil(flags['resume-within'] / 1_000) }),
  }
  return await withStore(context, async (db) => {
    const contract = await newContract(db, planningOf(context), context.env, {
      spec,
      symbols: listOf(flags.symbols),
      capsules: listOf(flags.capsules),
      facts: listOf(flags.facts),
      task,
      requirements: requirementsOf(flags),
      deadline,
      trace: context.env['TRACEPARENT'],
    })
    const title = spec.trim().split('\n')[0]?.slice(0, 200) ?? ''
    const { taskId, state } = await sendTask(db, { contract, title, only: flags.worker })
    await warnWithoutWorker(context, db, taskId)
    if (flags.wait === true) return await waited(context, db, taskId, flags.timeout)
    return { data: wholeRecord(showTask(db, taskId)), text: `${taskId} is ${state}` }
  })
}
