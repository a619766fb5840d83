// What kind of answer a program's own words ask for. Pure.
import type { WaitKind } from './fleet.ts'

const PERMISSION = /\b(?:permission|approv\w*|allow|grant)\b/i
const QUESTION = /\?\s*(?:[[(][^\])]*[\])]\s*)?$|\b(?:question|elicitation|choose|select)\b/i

/** Begins the evidence of a wait that the watcher books by itself. */
export const BUDGET = 'budget: '
export const BUDGET_SOURCE = 'policy'

/** By the words of whoever says so: a hook and OSC 7501 name the kind, a screen shows the question itself. */
export function kindOf(evidence: string | null): WaitKind {
  const words = evidence ?? ''
  if (words.startsWith(BUDGET)) return 'budget'
  if (PERMISSION.test(words)) return 'permission'
  return QUESTION.test(words) ? 'question' : 'needs input'
}

/** The notice of a shim, which stands elsewhere too: as a question of policy, or as a tool that has changed. */
const NOTICE = /\(heimdall (?:approve ([0-9a-f]{16})|mcp pins show (.+))\)$/

export interface ShimNotice {
  readonly approval: string | undefined
  readonly server: string | undefined
}

export function noticeIn(evidence: string | null): ShimNotice | undefined {
  const match = NOTICE.exec(evidence ?? '')
  return match === null ? undefined : { approval: match[1], server: match[2] }
}
