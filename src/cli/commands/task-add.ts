// heimdall task add: builds the brief and the contract of a task, queues it, and waits for its end if asked to.
import type { Coordination } from '../../coordination/coordination.ts'
import { membershipIn } from '../../coordination/membership.ts'
import { isTime } from '../../dispatch/messages.ts'
import { newContract, replySchema } from '../../dispatch/new-contract.ts'
import { orchestratedBy } from '../../dispatch/peers.ts'
import { sendTask } from '../../dispatch/send-task.ts'
import { lackOfWorkers, showTask } from '../../dispatch/tasks.ts'
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import { quoted } from '../../quoted.ts'
import type { Answer, Context, InputOf } from '../command.ts'
import { withStore } from '../coordination-store.ts'
import { readInput } from '../input-file.ts'
import { listOf, planningOf } from '../planning-of.ts'
import { peersFor } from './peers.ts'
import { requirementsOf, SENDERS, type taskAdd } from './task.ts'
import { wholeRecord } from './task-text.ts'
import { waitForTask } from './task-wait.ts'
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

/** Says what keeps the task from its worker, and starts one where that is what the user wants. */
async function findWorker(context: Context, db: Coordination, taskId: string, flags: AddFlags): Promise<void> {
  const { dir, peers } = await peersFor(context, db.project)
  const running = peers('worker').map(({ name }) => name)
  const lack = lackOfWorkers(db, taskId, running)
  const isAsked = flags['choose-worker'] === true
  // On a machine alone a worker whose process is gone may still have its lease.
  const isAlone = membershipIn(db.store) === undefined
  if ((isAsked || (running.length === 0 && (isAlone || lack !== undefined))) && flags.worker === undefined) {
    const { offerWorker } = await import('./worker-offer.ts')
    try {
      if (await offerWorker(context, dir, running, isAsked)) return
    } catch (error) {
      // The task is queued by now; to fail here would have the caller add it a second time.
      if (!(error instanceof HeimdallError)) throw error
      context.note(`warning: ${error.message}; ${escapeControls(taskId)} is queued and waits for a worker`)
      if (error.hint !== undefined) context.note(`hint: ${error.hint}`)
    }
  }
  if (lack === 'none')
    context.note('no worker is known here yet, and the task waits for one: heimdall worker start -- COMMAND')
  if (lack === 'unable')
    context.note(`no worker can take the task now, and it waits: heimdall task explain ${quoted(taskId)} says why`)
  if (flags.wait !== true && orchestratedBy(db, dir) === undefined)
    context.note(`no process sends queued tasks now: ${SENDERS}`)
}

type AddFlags = InputOf<typeof taskAdd>['flags']

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
    ...(flags.after === undefined ? {} : { after: flags.after }),
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
    await findWorker(context, db, taskId, flags)
    if (flags.wait === true) return await waitForTask(context, db, taskId, flags.timeout)
    return { data: wholeRecord(showTask(db, taskId)), text: `${taskId} is ${state}` }
  })
}
