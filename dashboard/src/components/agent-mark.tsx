// The letters of an agent on a hue of its own: never amber, never rose, and never the hue alone.
import { createContext, type CSSProperties, type ReactNode, useContext, useMemo } from 'react'
import { initials, lettersIn } from './format.ts'

/** OKLCH hues of holders. */
const HUES = [250, 195, 155, 125, 300, 340, 220, 275]

interface Marks {
  /** Letters by name. */
  readonly letters: ReadonlyMap<string, string>
  /** Hues of holders, which differ from those of their neighbours on the map. */
  readonly hues: ReadonlyMap<string, number>
}

export const AgentMarks = createContext<Marks>({ letters: new Map(), hues: new Map() })

export interface MarksOf {
  readonly hueOf: (name: string) => number
  readonly lettersOf: (name: string) => string
}

/** How agents are marked on every screen. */
export function useMarks(): MarksOf {
  const { letters, hues } = useContext(AgentMarks)
  return useMemo(
    () => ({
      // By the name, so that an agent keeps its hue unless a neighbour on the map has it too.
      hueOf: (name: string) => hues.get(name) ?? HUES[placeOf(name)] ?? 250,
      lettersOf: (name: string) => letters.get(name) ?? initials(name),
    }),
    [letters, hues],
  )
}

export const marksOf = (agents: readonly Holder[]): Marks => ({
  letters: distinctLetters(agents.map(({ agent_id }) => agent_id)),
  hues: distinctHues(agents),
})

function placeOf(name: string): number {
  let sum = 0x811c9dc5
  for (const char of name) sum = Math.imul(sum ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return ((sum >>> 16) ^ sum) & 7
}

interface Holder {
  readonly agent_id: string
  readonly claims: readonly { readonly scopes: readonly string[] }[]
}

/** Holders in the order of the first path that they hold: within seven places, hues differ. */
function distinctHues(agents: readonly Holder[]): ReadonlyMap<string, number> {
  const holders = agents
    .flatMap(({ agent_id: name, claims }) => {
      const [first] = claims.flatMap(({ scopes }) => scopes).toSorted()
      return first === undefined ? [] : [{ name, first }]
    })
    .toSorted((one, other) => (one.first < other.first ? -1 : one.first > other.first ? 1 : 0))
  const near: number[] = []
  const next = new Map<string, number>()
  for (const { name } of holders) {
    let place = placeOf(name)
    while (near.includes(place)) place = (place + 1) % HUES.length
    next.set(name, HUES[place] ?? 250)
    near.push(place)
    if (near.length >= HUES.length) near.shift()
  }
  return next
}

/** Letters by name: where two agents would share theirs, each gets a third. */
function distinctLetters(names: readonly string[]): ReadonlyMap<string, string> {
  const byLetters = new Map<string, string[]>()
  for (const name of names) {
    const letters = initials(name)
    byLetters.set(letters, [...(byLetters.get(letters) ?? []), name])
  }
  const found = new Map<string, string>()
  for (const [letters, shared] of byLetters)
    for (const name of shared) {
      const last = name.split('-').at(-1) ?? name
      found.set(name, shared.length === 1 ? letters : `${letters}${lettersIn(last)[1]?.toUpperCase() ?? ''}`)
    }
  return found
}

export function AgentMark({ name, large = false }: { readonly name: string; readonly large?: boolean }): ReactNode {
  const { hueOf, lettersOf } = useMarks()
  return (
    <span
      className={large ? 'mark large' : 'mark'}
      style={{ '--hue': hueOf(name) } as CSSProperties}
      aria-hidden="true"
    >
      {lettersOf(name)}
    </span>
  )
}

/** Letters and name. */
export function AgentName({ name }: { readonly name: string }): ReactNode {
  return (
    <span className="row agent-name">
      <AgentMark name={name} />
      <span className="cut">{name}</span>
    </span>
  )
}
