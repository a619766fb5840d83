// The letters of an agent on a hue of its own: never amber, never rose, and never the hue alone.
import { createContext, type CSSProperties, type ReactNode, useContext } from 'react'
import { initials, lettersIn } from './format.ts'

/** OKLCH hues of holders. */
const HUES = [250, 195, 155, 125, 300, 340, 220, 275]

/** Of those whose own hue a neighbour has; the same on every screen. */
let moved: ReadonlyMap<string, number> = new Map()

/** By the name, so that an agent has its hue on every day, unless a neighbour on the map has it too. */
export const hueOf = (name: string): number => moved.get(name) ?? HUES[placeOf(name)] ?? 250

function placeOf(name: string): number {
  let sum = 0x811c9dc5
  for (const char of name) sum = Math.imul(sum ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return ((sum >>> 16) ^ sum) & 7
}

interface Holder {
  readonly agent_id: string
  readonly claims: readonly { readonly scopes: readonly string[] }[]
}

/** Holders by the first path that they hold: who stands within seven of another has another hue. Up to eight all differ. */
export function keepNeighboursApart(agents: Iterable<Holder>): void {
  const holders = [...agents]
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
  moved = next
}

/** Letters by name: where two agents would share theirs, each gets a third. */
export function lettersOf(names: Iterable<string>): ReadonlyMap<string, string> {
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

export const Letters = createContext<ReadonlyMap<string, string>>(new Map())

export function AgentMark({ name, large = false }: { readonly name: string; readonly large?: boolean }): ReactNode {
  const letters = useContext(Letters).get(name) ?? initials(name)
  return (
    <span
      className={large ? 'mark large' : 'mark'}
      style={{ '--hue': hueOf(name) } as CSSProperties}
      aria-hidden="true"
    >
      {letters}
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
