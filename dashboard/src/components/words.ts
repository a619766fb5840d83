// One word and one glyph for each state, decision and kind of wait; the same as in a terminal.
import type {
  AgentCard,
  CardState,
  Call,
  ConversationRow,
  DecisionWord,
  WaitCardKind,
} from '../../../src/hub/contract.ts'
import type { IconName } from './icons.tsx'

interface Word {
  readonly word: string
  readonly glyph: IconName
  /** The class that colours it; the glyph and the word say the same without it. */
  readonly tone: string
}

export const STATE: Readonly<Record<CardState, Word>> = {
  needs_you: { word: 'Needs you', glyph: 'lamp', tone: 'needs-you' },
  collision: { word: 'Collision', glyph: 'bow', tone: 'collision' },
  looping: { word: 'Looping', glyph: 'loop', tone: 'looping' },
  stuck: { word: 'Stuck', glyph: 'loop', tone: 'looping' },
  working: { word: 'Working', glyph: 'dot', tone: 'working' },
  idle: { word: 'Idle', glyph: 'ring', tone: 'idle' },
  lost: { word: 'Lost', glyph: 'broken', tone: 'stale' },
  stale: { word: 'Stale', glyph: 'broken', tone: 'stale' },
  done: { word: 'Done', glyph: 'check', tone: 'done' },
  cancelled: { word: 'Cancelled', glyph: 'stop', tone: 'cancelled' },
  failed: { word: 'Failed', glyph: 'cross', tone: 'failed' },
}

/** Stale: no sign of life for long. Evicted: the process is gone, and its claims may be taken. */
export const stateOf = ({ state, liveness }: Pick<AgentCard, 'state' | 'liveness'>): Word =>
  state === 'stale' && liveness === 'evicted' ? { ...STATE.stale, word: 'Evicted' } : STATE[state]

export const WAIT: Readonly<Record<WaitCardKind, Word>> = {
  permission: { word: 'Permission', glyph: 'keyboard', tone: 'needs-you' },
  question: { word: 'Question', glyph: 'lamp', tone: 'needs-you' },
  needs_input: { word: 'Needs input', glyph: 'lamp', tone: 'needs-you' },
  collision: { word: 'Collision', glyph: 'bow', tone: 'collision' },
  budget: { word: 'Budget', glyph: 'coin', tone: 'needs-you' },
  tool_changed: { word: 'Tool changed', glyph: 'pin', tone: 'needs-you' },
}

const DECISION: Readonly<Record<DecisionWord, Word & { readonly would: string }>> = {
  allowed: { word: 'Allowed', would: 'Would allow', glyph: 'check', tone: 'plain' },
  refused_with_hint: { word: 'Refused with a hint', would: 'Would refuse', glyph: 'back', tone: 'refused' },
  throttled: { word: 'Throttled', would: 'Would throttle', glyph: 'pause', tone: 'plain' },
  blocked: { word: 'Blocked', would: 'Would block', glyph: 'barred', tone: 'refused' },
  run_ended: { word: 'Run ended', would: 'Would end the run', glyph: 'stop', tone: 'refused' },
  undecided: { word: 'Not decided', would: 'Not decided', glyph: 'ring', tone: 'plain' },
}

/** In observe nothing is held back, and the word says so. */
export function decisionWord(call: Pick<Call, 'decision' | 'enforced'>): Word {
  const entry = DECISION[call.decision]
  return call.enforced || call.decision === 'allowed' ? entry : { ...entry, word: entry.would }
}

const LABEL_GLYPH: readonly (readonly [RegExp, IconName])[] = [
  [/^Passed/, 'arrow'],
  [/^Needs input/, 'lamp'],
  [/^Incursion/, 'bow'],
  [/^Resume/, 'resume'],
  [/^(Claim|Released|Taken)/, 'lock'],
  [/^Refused/, 'back'],
  [/^Blocked/, 'barred'],
  [/^Throttled/, 'pause'],
  [/^Run ended/, 'stop'],
]

/** The glyph of a row of a conversation, by the label that the hub gave it. */
export function rowGlyph(row: ConversationRow): IconName {
  const known = LABEL_GLYPH.find(([label]) => label.test(row.label))
  if (known !== undefined) return known[1]
  return row.kind === 'note' ? 'arrow' : row.kind === 'wait' ? 'lamp' : row.kind === 'run' ? 'prompt' : 'dot'
}

export function rowTone(row: ConversationRow): string {
  if (row.kind === 'incursion' || /^(Refused|Blocked|Run ended)/.test(row.label)) return 'is-clash'
  return row.kind === 'wait' || row.label === 'Needs input' ? 'is-lamp' : ''
}

/** The agent that waits; a wait without one belongs to the project. */
export const whoWaits = ({ agent_id }: { readonly agent_id: string | null }): string => agent_id ?? 'this project'

const SEEN_BY: Readonly<Record<string, string>> = {
  osc: 'its own signal',
  screen: 'its screen',
  hook: 'a hook of its host',
  output: 'its output',
  exit: 'its end',
}

/** Who says so, for people; what has a good name already keeps it. */
export const seenBy = (source: string): string => SEEN_BY[source] ?? source
