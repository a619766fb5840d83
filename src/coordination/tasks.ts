// Tasks as far as coordination needs them: who works on what, and what came of it.
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { didYouMean } from '../suggest.ts'
import { NOTE_BODY_CHARS_MAX } from '../limits.ts'
import { checkLabel } from './claims/claims.ts'
import type { Coordination } from './coordination.ts'
import { type AgentActor, changeAs } from './change.ts'
import type { Agent, Reader, Task } from './store.ts'
import { isOver } from './who/alive.ts'

export const checkTaskId = (taskId: string): void => checkLabel('task', taskId)

/**
 * Starting a task that the same agent has in progress already changes nothing; that of an agent who is over passes on. A dispatched task is started by the
 * agent of the worker that has it, once it was sent.
 */
export async function startTask(
  room: Coordination,
  actor: AgentActor,
  task: { readonly taskId: string; readonly title: string },
): Promise<Task> {
  checkTaskId(task.taskId)
  checkLabel('title', task.title)
  return changeAs(room, actor, (change, agent) => {
    const known = change.rows.task(task.taskId)
    const isOpen = known !== undefined && isOpenTask(known)
    const owner = isOpen && known.owner !== null ? change.rows.agent(known.owner) : undefined
    // Nobody is left to go on with it but whoever starts it now.
    const isLeft = owner !== undefined && owner.haid !== agent.haid && isOver(room, owner)
    if (isOpen && known.owner !== null && !isLeft) return own(change.rows, agent, known)
    if (isOpen && !isLeft && known.state !== 'in_progress')
      throw new HeimdallError('TASK_FORBIDDEN', `task ${printable(task.taskId)} was dispatched and is ${known.state}`, {
        hint: `heimdall task cancel ${printable(task.taskId)} takes it out of the queue`,
      })
    const started: Task = isOpen
      ? { ...known, owner: agent.haid }
      : {
          ...task,
          owner: agent.haid,
          state: 'in_progress',
          startedMs: change.now.wallMs,
          endedMs: null,
          summary: null,
          dispatch: null,
        }
    change.rows.putTask(started)
    change.record({ type: 'TASK_START', task: task.taskId, payload: { title: task.title } })
    return started
  })
}

/** The end of a task with what came of it; `completed/` gets its page from this. */
export async function endTask(
  room: Coordination,
  actor: AgentActor,
  end: { readonly taskId: string; readonly state: 'done' | 'failed'; readonly summary: string },
): Promise<Task> {
  if (end.summary.trim() === '' || end.summary.length > NOTE_BODY_CHARS_MAX)
    throw new HeimdallError(
      'INVALID_ARGS',
      `a summary of ${end.summary.length} characters, 1 to ${NOTE_BODY_CHARS_MAX} allowed`,
    )
  return changeAs(room, actor, (change, agent) => {
    const known = change.rows.task(end.taskId)
    if (known?.state !== 'in_progress')
      throw new HeimdallError('TASK_NOT_FOUND', `no task ${printable(end.taskId)} is in progress`, {
        hint: didYouMean(
          end.taskId,
          namesOf(change.rows.tasks({ state: 'in_progress' })),
          'heimdall task list shows what is',
        ),
      })
    own(change.rows, agent, known)
    if (known.dispatch !== null)
      throw new HeimdallError('TASK_FORBIDDEN', `task ${printable(end.taskId)} was dispatched: its result ends it`, {
        hint: 'a worker reports through its final frame or the file that HEIMDALL_RESULT_FILE names',
      })
    const ended: Task = { ...known, state: end.state, endedMs: change.now.wallMs, summary: end.summary }
    change.rows.putTask(ended)
    const scopes = change.rows
      .claims({ holder: agent.haid, task: end.taskId })
      .flatMap((claim) => claim.scopes.map(({ raw }) => raw))
    change.record({
      type: 'TASK_END',
      task: end.taskId,
      payload: {
        state: end.state,
        title: known.title,
        summary: end.summary,
        haid: agent.haid,
        scopes: [...new Set(scopes)],
      },
    })
    return ended
  })
}

function own(rows: Reader, agent: Agent, task: Task): Task {
  if (task.owner === agent.haid) return task
  const owner = task.owner === null ? 'nobody' : (rows.agent(task.owner)?.agentId ?? task.owner)
  throw new HeimdallError('TASK_FORBIDDEN', `task ${printable(task.taskId)} is in progress with ${owner}`)
}

/** Not ended yet. */
export function isOpenTask({ state }: Pick<Task, 'state'>): boolean {
  return state === 'queued' || state === 'parked' || state === 'in_progress' || state === 'triage'
}

export function listTasks(
  room: Coordination,
  query: { readonly owner?: string; readonly state?: Task['state'] } = {},
): Task[] {
  return room.store.read((rows) => rows.tasks(query))
}

/** The task of this id, or the only one whose id starts with `name`. */
export function taskNamed(rows: Reader, name: string): Task {
  const exact = rows.task(name)
  if (exact !== undefined) return exact
  const all = rows.tasks({})
  const found = name === '' ? [] : all.filter(({ taskId }) => taskId.startsWith(name))
  const [task] = found
  if (task === undefined) throw unknownTask(name, all)
  if (found.length === 1) return task
  throw new HeimdallError('TASK_NOT_FOUND', `${printable(name)} is the prefix of ${found.length} task ids`, {
    hint: `name one: ${namesOf(found).slice(0, 5).join(', ')}${found.length > 5 ? ', …' : ''}`,
  })
}

export function unknownTask(name: string, known: readonly Task[] = []): HeimdallError {
  return new HeimdallError('TASK_NOT_FOUND', `no task ${printable(name)}`, {
    hint: didYouMean(name, namesOf(known), 'heimdall task list --all shows all tasks'),
  })
}

const namesOf = (tasks: readonly Task[]): string[] => tasks.map(({ taskId }) => taskId)
