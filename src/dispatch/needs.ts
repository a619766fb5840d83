// What a task needs of a worker, as one canonical text: tasks with the same text are served by the same workers.
import { hashText } from './short-hash.ts'
import type { MODEL_TIERS, TaskDispatch } from './messages.ts'

export interface Needs {
  readonly mcp: readonly string[]
  readonly tools: readonly string[]
  readonly tier: (typeof MODEL_TIERS)[number] | null
  readonly writes: boolean
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
    window: 2 ** Math.ceil(Math.log2(Math.max(1, briefTokens))),
    not: sorted(not),
    only,
  }
}

/** Keys always in this order, lists sorted. */
export const needsText = (needs: Needs): string => JSON.stringify(needs)

export const readNeeds = (text: string): Needs => JSON.parse(text) as Needs

const sorted = (words: readonly string[]): string[] => [...new Set(words)].sort()

/** Names an agent of a worker for one attempt. */
export function agentNameFor(workerId: string, taskId: string, attempt: number): string {
  const stem = workerId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 32)
  return `${stem === '' ? 'worker' : stem}-${hashText(`${taskId}#${attempt}`).slice(0, 8)}`
}
