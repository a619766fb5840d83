// Builds the TASK_DISPATCH of a new task from a request of the command line or the page.
import { buildBrief } from '../briefing/brief.ts'
import type { Planning } from '../briefing/planning.ts'
import type { Coordination } from '../coordination/coordination.ts'
import { membershipIn } from '../coordination/membership.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_BRIEF_BYTES_MAX, SPEC_BYTES_MAX } from '../limits.ts'
import type { Env } from '../paths.ts'
import { isObject } from '../plain-object.ts'
import { commitOf, gitIn } from '../spine/worktrees/git.ts'
import { DISPATCH_PROTOCOL, parseDispatch, type TaskDispatch } from './messages.ts'
import { repositoryIds } from './peers.ts'

export interface TaskRequest {
  readonly spec: string
  /** Ids that the brief refers to. */
  readonly symbols?: readonly string[]
  readonly capsules?: readonly string[]
  readonly facts?: readonly string[]
  /** Fields of the message; `task_id` is generated when absent. */
  readonly task: Partial<TaskDispatch['task']>
  readonly requirements?: Omit<TaskDispatch['requirements'], 'repository'>
  readonly deadline: string | null
  /** `traceparent` of the task or program that adds this one. */
  readonly trace?: string | undefined
}

export async function newContract(
  room: Coordination,
  planning: Planning,
  env: Env,
  request: TaskRequest,
): Promise<TaskDispatch> {
  const isFleet = membershipIn(room.store) !== undefined
  // A long brief of a fleet is stored next to the log.
  const bytesMax = isFleet ? FLEET_BRIEF_BYTES_MAX : SPEC_BYTES_MAX
  const bytes = Buffer.byteLength(request.spec)
  if (bytes > bytesMax)
    throw new HeimdallError('DISPATCH_INVALID', `the brief has ${bytes} bytes, limit ${bytesMax}`, {
      hint: 'put it into a file of the repository, and refer to its path',
    })
  const taskId = request.task.task_id ?? `t-${room.newId().toLowerCase()}`
  const { text } = buildBrief(planning, {
    task: taskId,
    spec: request.spec,
    symbols: request.symbols ?? [],
    capsules: request.capsules ?? [],
    facts: request.facts ?? [],
    specBytesMax: bytesMax,
  })
  // The checkout of a worker on another machine may be at another commit.
  const isShared = isFleet && room.project.gitCommonDir !== undefined
  const commit = isShared ? await commitOf(gitIn(room.project.root, env), 'HEAD') : undefined
  const requirements = request.requirements ?? READS_AND_WRITES
  const isAboutFiles = requirements.writes || (request.task.scopes ?? []).length > 0 || commit !== undefined
  const repository = isAboutFiles ? await repositoryIds(room.project, env) : []
  return parseDispatch(
    {
      type: 'TASK_DISPATCH',
      protocol_version: DISPATCH_PROTOCOL,
      task: { ...request.task, task_id: taskId, ...(commit === undefined ? {} : { commit }) },
      requirements: { ...requirements, repository },
      deadline: request.deadline,
      brief: text,
      ...(request.trace === undefined ? {} : { trace: request.trace }),
    },
    isFleet ? FLEET_BRIEF_BYTES_MAX : undefined,
  )
}

const READS_AND_WRITES = { required_mcp: [], required_capabilities: [], min_model_tier: null, writes: true } as const

/** The JSON Schema of a reply, rejected unless a reply can be validated with it. */
export async function replySchema(text: string): Promise<Record<string, unknown>> {
  const { schemaFault } = await import('./runner/turn-result.ts')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new HeimdallError('DISPATCH_INVALID', `the schema is not JSON: ${error.message}`, { cause: error })
  }
  const schema = isObject(value) ? { ...value } : undefined
  const fault = schema === undefined ? 'not an object' : await schemaFault(schema)
  if (schema === undefined || fault !== undefined)
    throw new HeimdallError('DISPATCH_INVALID', `invalid schema: ${fault}`, {
      hint: 'a JSON Schema of 2020-12, such as {"type": "object", "required": ["n"]}',
    })
  return schema
}
