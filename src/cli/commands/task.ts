// heimdall task: tasks for workers, from adding one to its result, and tasks that agents have started themselves.
import { findAgent } from '../../coordination/change.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import type { Task } from '../../coordination/store.ts'
import { endTask, isOpenTask, listTasks, startTask, taskNamed, unknownTask } from '../../coordination/tasks.ts'
import { MODEL_TIERS, PRIORITIES, REPLY_SCHEMAS, type TaskDispatch } from '../../dispatch/messages.ts'
import { needsOf } from '../../dispatch/needs.ts'
import { isDispatched } from '../../dispatch/parking.ts'
import { reviewOf } from '../../dispatch/review.ts'
import { orchestratedBy } from '../../dispatch/peers.ts'
import { answerTask } from '../../dispatch/questions.ts'
import type { Route } from '../../dispatch/routing.ts'
import { cancelTask, explainNeeds, explainTask, retryTask, showTask } from '../../dispatch/tasks.ts'
import { escapeControls } from '../../ids.ts'
import { redacted } from '../../runs/redacted.ts'
import { agentFlag } from '../agent-flag.ts'
import { type Answer, type Command, command, type Context, type FlagSpec, spec } from '../command.ts'
import { actorFor, withStore, withStoreToRead } from '../coordination-store.ts'
import { textOrInput } from '../input-file.ts'
import { listOf } from '../planning-of.ts'
import { renderTable } from '../render/style.ts'
import { peersFor } from './peers.ts'
import {
  aboutTask,
  AGENT_RECORD,
  agentRecord,
  RECORD,
  record,
  stateText,
  stateWords,
  taskText,
  WHOLE_RECORD,
  wholeRecord,
} from './task-text.ts'

const STATES = ['queued', 'parked', 'in_progress', 'triage', 'done', 'partial', 'failed', 'canceled'] as const
export const taskArg = { name: 'task', help: 'task id, or a unique prefix of it' } as const
/** What brings queued tasks to workers. */
export const SENDERS = 'heimdall up, heimdall worker serve, or heimdall task add --wait'
export const waitFlag = { help: 'wait until the task has ended or needs a human' } as const
const needsFlags = {
  mcp: { value: 'NAMES', help: 'MCP servers that must answer, separated by commas' },
  needs: { value: 'NAMES', help: 'capabilities the worker must have: terminal, file, …' },
  tier: { choices: MODEL_TIERS, help: 'lowest model tier' },
  'read-only': { help: 'the task writes nothing: it needs neither a clean tree nor a worktree' },
  worker: { value: 'NAME', help: 'only this worker' },
  scope: {
    value: 'PATH',
    multiple: true,
    help: 'paths that the task claims; workers that hold paths nearby are preferred',
  },
} as const satisfies Record<string, FlagSpec>

interface NeedsFlags {
  readonly mcp?: string | undefined
  readonly needs?: string | undefined
  readonly tier?: (typeof MODEL_TIERS)[number] | undefined
  readonly 'read-only'?: boolean | undefined
}

export const requirementsOf = (flags: NeedsFlags): TaskDispatch['requirements'] => ({
  repository: [],
  required_mcp: listOf(flags.mcp),
  required_capabilities: listOf(flags.needs),
  min_model_tier: flags.tier ?? null,
  writes: flags['read-only'] !== true,
})

export const taskAdd = spec({
  names: ['heimdall task add'],
  changes: true,
  summary: 'Add a task for a worker that can do it',
  about:
    'Puts the task into the queue. An orchestrator sends it to a worker that has what the task requires: the hub ' +
    '(heimdall up), heimdall worker serve, or this command with --wait. Where no worker runs, it offers to start one, ' +
    'and remembers the answer.',
  args: [{ name: 'text', help: 'what to do; - reads it from stdin', optional: true }],
  flags: {
    id: { value: 'ID', help: 'id of the task; default: generated' },
    'brief-file': { value: 'FILE', help: 'read the text from a file' },
    symbols: { value: 'IDS', help: 'symbols that the text refers to' },
    capsules: { value: 'IDS', help: 'capsules that the text refers to' },
    facts: { value: 'KEYS', help: 'facts that the text refers to' },
    priority: { choices: PRIORITIES, default: 'normal', help: 'priority in the queue' },
    reply: { choices: REPLY_SCHEMAS, default: 'prose', help: 'format of the reply' },
    schema: { value: 'FILE', help: 'with --reply json: JSON Schema of the reply' },
    budget: { type: 'integer', value: 'TOKENS', help: 'output and uncached input tokens for all attempts' },
    deadline: { value: 'TIME', help: 'when the task must have ended: ISO 8601 with a zone' },
    within: { type: 'duration', value: 'TIME', help: 'deadline from now: 30m' },
    idempotent: { help: 'the task may run again after an attempt of unknown outcome' },
    'accept-partial': { help: 'a partial result completes the task' },
    'resume-within': {
      type: 'duration',
      value: 'TIME',
      help: 'how long a task stopped at its budget waits for more tokens: heimdall task answer TASK 4000',
    },
    ...needsFlags,
    after: { value: 'TASK', help: 'begin with the branch of this task, once it has ended' },
    'choose-worker': { help: 'ask again which worker to start' },
    wait: waitFlag,
    timeout: { type: 'duration', value: 'TIME', help: 'with --wait: give up waiting after this time' },
  },
  examples: {
    'heimdall task add "Fix the flaky login test" --wait': 'adds a task, and prints its result',
    'heimdall task add --brief-file task.md --mcp context_mode --budget 40000 --reply structured':
      'requires a worker whose MCP server context_mode answers',
  },
  output: WHOLE_RECORD,
})

function routeAnswer({ style }: Context, { chosen, verdicts }: Route, sender: string | undefined): Answer {
  const rows = verdicts.map(({ workerId, lacks, score }) => [
    workerId === chosen ? `* ${workerId}` : `  ${workerId}`,
    score === null
      ? lacks.map(({ text }) => text).join('; ')
      : `can: ${MODEL_TIERS[score[0]] ?? 'unknown tier'}, ${score[1] === 0 ? 'claims' : 'no claims'} nearby, ${Math.round(score[2] * 100)} % busy`,
  ])
  return {
    data: {
      chosen: chosen ?? null,
      orchestrated_by: sender ?? null,
      workers: verdicts.map(({ workerId, lacks, score }) => ({ worker: workerId, lacks, score })),
    },
    text: [
      rows.length === 0 ? 'no worker is known' : renderTable(style, ['  WORKER', 'WHY'], rows),
      sender === undefined
        ? `no process sends queued tasks now: ${SENDERS}`
        : `${sender} sends queued tasks to workers`,
    ].join('\n'),
  }
}

const isToReview = (db: Coordination, task: Task): boolean => {
  const review = isDispatched(task) ? reviewOf(showTask(db, task.taskId)) : null
  return review === 'ready' || review === 'proposed'
}

export const idNamed = (db: Coordination, name: string): string => db.store.read((rows) => taskNamed(rows, name)).taskId

function listed(context: Context, db: Coordination, tasks: readonly Task[]): Answer {
  const ownerOf = ({ owner: haid }: Task): string =>
    haid === null ? '-' : db.store.read((rows) => findAgent(rows, haid)?.agentId ?? haid)
  const rows = tasks.map((task) => {
    const shown = isDispatched(task) ? showTask(db, task.taskId) : undefined
    const one = shown === undefined ? agentRecord(task) : record(shown)
    const by = typeof one['worker'] === 'string' ? one['worker'] : ownerOf(task)
    const state = shown === undefined ? stateWords(task.state) : stateText(shown)
    const about = shown === undefined ? task.title : aboutTask(shown)
    return { one, cells: [task.taskId, one['kind'], state, by, about].map((cell) => escapeControls(String(cell))) }
  })
  const header = ['TASK', 'KIND', 'STATE', 'OWNER', 'ABOUT']
  return {
    data: rows.map(({ one }) => one),
    text:
      rows.length === 0
        ? 'no tasks'
        : renderTable(
            context.style,
            header,
            rows.map(({ cells }) => cells),
          ),
  }
}

export const commands: readonly Command[] = [
  command({ ...taskAdd, run: async (context, input) => (await import('./task-add.ts')).add(context, input) }),
  command({
    names: ['heimdall task list'],
    summary: 'List tasks that are queued, in progress, ready for review or wait for a human',
    flags: {
      all: { help: 'include tasks that have ended' },
      state: { choices: STATES, help: 'only tasks in this state' },
    },
    examples: {
      'heimdall task list': 'lists tasks of workers, and tasks that agents have started themselves',
      'heimdall task list --state failed': 'lists tasks that have failed',
    },
    output: `array, each one of: ${RECORD}; or ${AGENT_RECORD}`,
    run: (context, { flags }) =>
      withStoreToRead<Answer>(
        context,
        (db) => {
          const { state } = flags
          const tasks = listTasks(db, state === undefined ? {} : { state })
          return listed(
            context,
            db,
            flags.all === true || state !== undefined
              ? tasks
              : tasks.filter((task) => isOpenTask(task) || isToReview(db, task)),
          )
        },
        () => ({ data: [], text: 'no tasks' }),
      ),
  }),
  command({
    names: ['heimdall task show'],
    summary: 'Show a task with its attempts and its result',
    args: [taskArg],
    examples: { 'heimdall task show T-9 --json': 'prints everything about T-9' },
    output: `${WHOLE_RECORD}; or ${AGENT_RECORD}`,
    run: (context, { args }) =>
      withStoreToRead(
        context,
        (db) => {
          const task = db.store.read((rows) => taskNamed(rows, args.task))
          const { taskId } = task
          if (isDispatched(task)) return { data: wholeRecord(showTask(db, taskId)), text: taskText(db, taskId) }
          const { text } = listed(context, db, [task])
          return {
            data: agentRecord(task),
            text: task.summary === null ? text : `${text}\n\n${escapeControls(task.summary)}`,
          }
        },
        () => {
          throw unknownTask(args.task)
        },
      ),
  }),
  command({
    names: ['heimdall task cancel'],
    changes: true,
    summary: 'Cancel a task, and end its process tree at the worker',
    args: [taskArg],
    flags: { reason: { value: 'TEXT', default: 'cancelled', help: 'reason to record' } },
    examples: { 'heimdall task cancel T-9': 'removes T-9 from the queue, or ends it' },
    output: RECORD,
    run: (context, { args, flags }) =>
      withStore(context, async (db) => {
        const { taskId, state } = await cancelTask(db, idNamed(db, args.task), flags.reason)
        const text = state === 'canceled' ? `${taskId} is cancelled` : `${taskId} is being ended at its worker`
        return { data: record(showTask(db, taskId)), text }
      }),
  }),
  command({
    names: ['heimdall task retry'],
    changes: true,
    summary: 'Send a task again that has failed, is parked or waits for a human',
    args: [taskArg],
    flags: { budget: { type: 'integer', value: 'TOKENS', help: 'new token budget for all attempts' }, wait: waitFlag },
    examples: { 'heimdall task retry T-9 --budget 80000': 'sends T-9 again with a larger budget' },
    output: RECORD,
    run: (context, { args, flags }) =>
      withStore(context, async (db) => {
        const { taskId, state } = await retryTask(db, idNamed(db, args.task), flags.budget)
        if (flags.wait === true) return await (await import('./task-wait.ts')).waitForTask(context, db, taskId)
        return { data: record(showTask(db, taskId)), text: `${taskId} is ${state}` }
      }),
  }),
  command({
    names: ['heimdall task answer'],
    changes: true,
    summary: 'Answer the question of the worker that runs a task',
    about:
      'heimdall status shows the question; the task continues with the answer. Permissions are granted where the ' +
      'worker runs. Answers are stored, so an answer that looks like a secret is rejected.',
    args: [taskArg, { name: 'text', help: 'the answer; without it, or with -, read from stdin', optional: true }],
    examples: { 'heimdall task answer T-9 "the second one"': 'passes the answer to the worker of T-9' },
    output: RECORD,
    run: (context, { args }) =>
      withStore(context, async (db) => {
        const taskId = idNamed(db, args.task)
        const text = await textOrInput(context, args.text, `answer to ${taskId}`)
        await answerTask(db, taskId, text)
        return { data: record(showTask(db, taskId)), text: `${taskId} continues with that answer` }
      }),
  }),
  command({
    names: ['heimdall task explain'],
    summary: 'Show which worker would get a task, and why',
    args: [{ ...taskArg, optional: true }],
    flags: needsFlags,
    examples: {
      'heimdall task explain T-9': 'shows why T-9 waits, or which worker is next for it',
      'heimdall task explain --mcp trek': 'checks a task before it is added',
    },
    output:
      'chosen (worker, or null), orchestrated_by (process or machine that sends tasks, or null), workers (in order of preference: worker, lacks (code and text), score)',
    hidden: true,
    run: (context, { args, flags }) =>
      withStoreToRead(
        context,
        async (db) => {
          const sender = orchestratedBy(db, (await peersFor(context, db.project)).dir)
          if (args.task !== undefined) return routeAnswer(context, explainTask(db, idNamed(db, args.task)), sender)
          const contract = { requirements: requirementsOf(flags) }
          const needs = needsOf(contract, { briefTokens: 1, not: [], only: flags.worker ?? null })
          return routeAnswer(context, explainNeeds(db, needs, flags.scope), sender)
        },
        () => {
          if (args.task !== undefined) throw unknownTask(args.task)
          return routeAnswer(context, { chosen: undefined, verdicts: [] }, undefined)
        },
      ),
  }),
  command({
    names: ['heimdall task start'],
    summary: 'Record that an agent has started a task',
    args: [{ name: 'task', help: 'task id' }],
    flags: { agent: agentFlag, title: { value: 'TEXT', help: 'title; default: the task id' } },
    examples: { 'heimdall task start T-9 --agent amber-otter': 'makes amber-otter the owner of T-9' },
    output: AGENT_RECORD,
    hidden: true,
    run: (context, { flags, args }) =>
      withStore(context, async (db) => {
        const title = redacted(flags.title ?? args.task)
        const actor = await actorFor(context, db, flags.agent)
        const task = await startTask(db, actor, { taskId: redacted(args.task), title })
        return { data: agentRecord(task), text: `${task.taskId} is in progress` }
      }),
  }),
  command({
    names: ['heimdall task done'],
    summary: 'End a task that an agent has started, and write its page to the ledger',
    args: [{ name: 'task', help: 'task id' }],
    flags: {
      agent: agentFlag,
      summary: { value: 'TEXT', help: 'outcome in two to four sentences', required: true },
      failed: { help: 'the task has failed' },
    },
    examples: { 'heimdall task done T-9 --summary "Parser rewritten."': 'ends T-9' },
    output: AGENT_RECORD,
    hidden: true,
    run: (context, { flags, args }) =>
      withStore(context, async (db) => {
        const state = flags.failed === true ? 'failed' : 'done'
        const actor = await actorFor(context, db, flags.agent)
        const end = { taskId: redacted(args.task), state, summary: redacted(flags.summary) } as const
        const task = await endTask(db, actor, end)
        return { data: agentRecord(task), text: `${task.taskId} is ${task.state}` }
      }),
  }),
]
