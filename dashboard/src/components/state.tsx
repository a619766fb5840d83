// A glyph, a word, then colour.
import type { ReactNode } from 'react'
import type { AgentCard, CardState, Call, WaitCardKind } from '../../../src/hub/contract.ts'
import { Icon } from './icons.tsx'
import { decisionWord, stateOf, WAIT } from './words.ts'

export function StateWord({
  state,
  liveness = 'active',
}: {
  readonly state: CardState
  /** Where it is that of an agent. */
  readonly liveness?: AgentCard['liveness']
}): ReactNode {
  const { word, glyph, tone } = stateOf({ state, liveness })
  return (
    <span className={`state ${tone}`}>
      <Icon name={glyph} size={13} />
      {word}
    </span>
  )
}

export function WaitWord({ kind }: { readonly kind: WaitCardKind }): ReactNode {
  const { word, glyph, tone } = WAIT[kind]
  return (
    <span className={`state ${tone}`}>
      <Icon name={glyph} size={14} />
      {word}
    </span>
  )
}

export function DecisionWord({
  call,
  isShort = false,
}: {
  readonly call: Pick<Call, 'decision' | 'enforced'>
  readonly isShort?: boolean
}): ReactNode {
  const { word, glyph, tone } = decisionWord(call)
  return (
    <span className={`state ${tone}`}>
      <Icon name={glyph} size={13} />
      {isShort ? word.replace(' with a hint', ', hint') : word}
    </span>
  )
}
