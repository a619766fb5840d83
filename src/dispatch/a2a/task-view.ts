// An assignment of a worker as an A2A task, and an A2A task of a worker as a result.
import { type Artifact, type Message, Role, type Task, TaskState } from '@a2a-js/sdk'
import type { Assignment, TaskQuestion, Stopped } from '../../coordination/dispatched.ts'
import { iso } from '../../coordination/moment.ts'
import { HeimdallError } from '../../errors.ts'
import { type Announce, parseDispatch, parseResult, resultOf, type TaskDispatch, type TaskResult } from '../messages.ts'
import type { Checks } from '../worker/admission.ts'
import { spilledSchema } from '../runner/spilled-reply.ts'
import { dataOf, dataPart, EXTENSION, REPLY_ARTIFACT, RESULT_ARTIFACT, textOf, textPart, urlPart } from './extension.ts'
import { resultFromText } from './plain-result.ts'

export function stateOf(assignment: Assignment): TaskState {
  switch (assignment.state) {
    case 'accepted':
      return TaskState.TASK_STATE_SUBMITTED
    case 'running': {
      const asks = questionIn(assignment)
      if (asks === undefined) return TaskState.TASK_STATE_WORKING
      return asks.isAuth ? TaskState.TASK_STATE_AUTH_REQUIRED : TaskState.TASK_STATE_INPUT_REQUIRED
    }
    case 'done':
      return TaskState.TASK_STATE_COMPLETED
    case 'blocked':
      // REJECTED promises that nothing has happened.
      return resultIn(assignment)?.tokens_spent === 0 ? TaskState.TASK_STATE_REJECTED : TaskState.TASK_STATE_FAILED
    case 'partial':
      // Whoever knows nothing of us reads COMPLETED as all of it.
      return contractIn(assignment).task.accept_partial ? TaskState.TASK_STATE_COMPLETED : TaskState.TASK_STATE_FAILED
    case 'canceled':
      return TaskState.TASK_STATE_CANCELED
    case 'error':
    case 'lost':
      return TaskState.TASK_STATE_FAILED
  }
}

export const isEnded = (state: TaskState | undefined): boolean =>
  state === TaskState.TASK_STATE_COMPLETED ||
  state === TaskState.TASK_STATE_FAILED ||
  state === TaskState.TASK_STATE_CANCELED ||
  state === TaskState.TASK_STATE_REJECTED

/** It waits for somebody, and goes on after that. */
export const isInterrupted = (state: TaskState | undefined): boolean =>
  state === TaskState.TASK_STATE_INPUT_REQUIRED || state === TaskState.TASK_STATE_AUTH_REQUIRED

const questionIn = ({ asks }: Assignment): TaskQuestion | undefined =>
  asks === null ? undefined : (JSON.parse(asks) as TaskQuestion)

const resultIn = ({ result }: Assignment): TaskResult | undefined =>
  result === null ? undefined : parseResult(JSON.parse(result))

/** Of one that was stopped, and could go on. */
function partIn(assignment: Assignment): TaskResult | undefined {
  const part = questionIn(assignment)?.partial?.result
  return part === undefined ? undefined : parseResult(part)
}

const contractIn = ({ contract }: Assignment): TaskDispatch => parseDispatch(JSON.parse(contract))

/** What goes with a reply beside the assignment itself. */
export interface Aside {
  readonly checks?: Checks | undefined
  readonly session_announce?: Announce | undefined
}

/** `url`: of the worker, where replies are that are too large for a result. */
export function taskOf(assignment: Assignment, url: string, aside: Aside = {}): Task {
  return {
    id: assignment.assignmentId,
    contextId: assignment.contextId,
    status: statusOf(assignment),
    artifacts: artifactsOf(assignment, url),
    history: [],
    metadata: metadataOf(assignment, aside),
  }
}

export const metadataOf = (
  assignment: Assignment,
  { checks, session_announce: announce }: Aside = {},
): Record<string, unknown> => ({
  [EXTENSION]: {
    dispatch_id: assignment.taskId,
    attempt: assignment.attempt,
    accepted_at: iso(assignment.acceptedMs),
    instance_id: assignment.instanceId,
    session_fresh: true,
    ...(assignment.runId === null ? {} : { run_id: assignment.runId }),
    ...stoppedIn(assignment),
    ...(checks === undefined ? {} : { checks }),
    ...(announce === undefined ? {} : { session_announce: announce }),
  },
})

/** INPUT_REQUIRED with a part done: until when more may be given, and what. */
function stoppedIn(assignment: Assignment): Record<string, unknown> {
  const { partial } = questionIn(assignment) ?? {}
  return partial === undefined ? {} : { substate: 'partial', resume_by: partial.resume_by, resume_needs: partial.needs }
}

/** What the extension says of one that could go on. */
export function stoppedOf({ metadata }: Task): Stopped | undefined {
  const own = metadata?.[EXTENSION] as { substate?: unknown; resume_by?: unknown; resume_needs?: unknown } | undefined
  if (own?.substate !== 'partial' || typeof own.resume_by !== 'string') return undefined
  return { resume_by: own.resume_by.slice(0, 64), needs: own.resume_needs === 'words' ? 'words' : 'tokens' }
}

export function statusOf(assignment: Assignment): NonNullable<Task['status']> {
  const line = lineOf(assignment)
  return {
    state: stateOf(assignment),
    timestamp: iso(assignment.endedMs ?? assignment.acceptedMs),
    message:
      line === undefined ? undefined : agentMessage(`${assignment.assignmentId}-status`, assignment, [textPart(line)]),
  }
}

function lineOf(assignment: Assignment): string | undefined {
  const result = resultIn(assignment)
  if (result === undefined) return questionIn(assignment)?.question
  return result.blocked_reason ?? result.error?.summary ?? result.remaining[0] ?? result.status
}

export function agentMessage(
  messageId: string,
  { contextId, assignmentId }: Pick<Assignment, 'contextId' | 'assignmentId'>,
  parts: Message['parts'],
): Message {
  return {
    messageId,
    contextId,
    taskId: assignmentId,
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
}

export function artifactsOf(assignment: Assignment, url: string): Artifact[] {
  const result = resultIn(assignment) ?? partIn(assignment)
  if (result === undefined) return []
  const spilled = spilledSchema.safeParse(result.artifacts['reply'])
  const first = resultArtifact(assignment, result)
  if (!spilled.success) return [first]
  const reply: Artifact = {
    artifactId: REPLY_ARTIFACT,
    name: REPLY_ARTIFACT,
    description: `the whole reply, ${spilled.data.bytes} bytes`,
    parts: [urlPart(`${url}/replies/${assignment.assignmentId}`, spilled.data.media_type)],
    metadata: undefined,
    extensions: [],
  }
  return [first, reply]
}

/** Where the whole reply is, of one that was too large for its result. */
export function spilledReply(
  assignment: Assignment,
): { readonly file: string; readonly mediaType: string } | undefined {
  const spilled = spilledSchema.safeParse(resultIn(assignment)?.artifacts['reply'])
  return spilled.success ? { file: spilled.data.file, mediaType: spilled.data.media_type } : undefined
}

/** A data part for programs, and a text part for everybody else. */
function resultArtifact(assignment: Assignment, result: TaskResult): Artifact {
  const text =
    typeof result.reply === 'string' && result.reply !== '' ? result.reply : (lineOf(assignment) ?? result.status)
  return {
    artifactId: RESULT_ARTIFACT,
    name: RESULT_ARTIFACT,
    description: 'TASK_RESULT of the fleet handshake',
    parts: [dataPart(result), textPart(text)],
    metadata: undefined,
    extensions: [EXTENSION],
  }
}

/** What an ended task of a peer comes to. Only the artifact of the extension is a result; anything else is read as text. */
export function resultFrom(
  task: Task,
  contract: TaskDispatch,
  isExtended: boolean,
): { readonly result: TaskResult; readonly isProse: boolean } {
  const artifact = task.artifacts.find(({ artifactId }) => artifactId === RESULT_ARTIFACT)
  const data = artifact === undefined || !isExtended ? undefined : dataOf(artifact.parts, 'TASK_RESULT')
  if (data !== undefined) return { result: readResult(data, contract), isProse: false }
  const state = task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED
  const words = [
    ...task.artifacts.map((one) => textOf(one)),
    ...(task.status?.message === undefined ? [] : [textOf(task.status.message)]),
  ]
    .filter((text) => text !== '')
    .join('\n')
  return { result: resultFromText(words, contract, state), isProse: true }
}

function readResult(data: Record<string, unknown>, contract: TaskDispatch): TaskResult {
  try {
    return parseResult(data)
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return resultOf({
      task_id: contract.task.task_id,
      attempt: contract.attempt,
      status: 'error',
      error: { summary: `the worker's result cannot be read: ${error.message}`, code: 'wrong_result', phase: 'reply' },
    })
  }
}
