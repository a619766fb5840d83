// What a task needs of a worker, as one canonical text: tasks with the same text are served by the same workers.
import { hashText } from './short-hash.ts'
import type { MODEL_TIERS, TaskDispatch } from './messages.ts'

export interface Needs {
  readonly mcp: readonly string[]
  readonly tools: readonly string[]
  readonly tier: (typeof MODEL_TIERS)[number] | null
  readonly writes: boolean
  /** Ids of the repository that the work is in; empty where it needs none. */
  readonly repository: readonly string[]
  /** Tokens that the brief alone takes, rounded up to a power of two so that few kinds of needs exist. */
  readonly window: number
  /** Workers that have shown that they cannot, or were busy a moment ago. */
  readonly not: readonly string[]
  /** Named by whoever sent the task. */
  readonly only: string | null
}

export function needsOf(
  { requirements }: Pick<TaskDispatch, 'requirements'>,
  { briefTokens, not, only }: { briefTokens: number; not: readonly string[]; only: string | null },
): Needs {
  return {
    mcp: sorted(requirements.required_mcp),
    tools: sorted(requirements.required_capabilities),
    tier: requirements.min_model_tier,
    writes: requirements.writes,
    repository: sorted(requirements.repository),
    window: 2 ** Math.ceil(Math.log2(Math.max(1, briefTokens))),
    not: sorted(not),
    only,
  }
}

/** Keys always in this order, lists sorted. */
export const needsText = (needs: Needs): string => JSON.stringify(needs)

export const readNeeds = (text: string): Needs => JSON.parse(text) as Needs

const sorted = (words: readonly string[]): string[] => [...new Set(words)].sort()

/** Names the agent of a worker for an attempt, after the title of its task. Attempts that continue one share its agent. */
export function agentNameFor(workerId: string, { dispatch_id: id, attempt, task }: TaskDispatch): string {
  const stem = slug(workerId, 20)
  const taskId = id ?? task.task_id
  const ending = hashText(`${taskId}#${task.continues ?? attempt}`).slice(0, 6)
  const room = AGENT_NAME_CHARS_MAX - stem.length - ending.length - 2
  return [stem === '' ? 'worker' : stem, room < 4 ? '' : slug(task.title ?? '', room), ending]
    .filter((part) => part !== '')
    .join('-')
}

/** Its session has a socket of that name, and paths of sockets are short. */
const AGENT_NAME_CHARS_MAX = 32

/** Lower-case words with hyphens; cut between words where there is more than one. */
function slug(text: string, charsMax: number): string {
  const whole = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  if (whole.length <= charsMax) return whole
  const cut = whole.slice(0, charsMax + 1)
  return cut.slice(0, Math.max(cut.lastIndexOf('-'), 0) || charsMax)
}
