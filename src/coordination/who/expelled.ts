// Agents of a machine that a person has taken out of the fleet. It can append nothing any more, so what is decided here about its agents stands.
import { changeAsOther } from '../change.ts'
import type { Coordination } from '../coordination.ts'
import { otherMachine } from '../membership.ts'
import { livenessIn } from './alive.ts'
import { endExpired } from './enrol.ts'

interface Ended {
  /** Ids of claims that are free from here on. */
  readonly freed: readonly string[]
  /** Agents that were heard within the stale time: what they hold stays theirs until they have been silent for it. */
  readonly active: readonly string[]
}

interface Expelled {
  readonly machine: string
  /** Agents that other members have given signs of: made under a name that their machine had before. */
  readonly elsewhere: ReadonlySet<string>
  /** The person who says so, and whether active agents are meant as well. */
  readonly by: string
  readonly isForced: boolean
}

/**
 * Those that have been silent for the stale time are over, and what they held is archived as expired, in one entry. Of
 * those that are active the same holds only by the word of a person who says so: they may be at work at this moment.
 */
export function endAgentsOn(room: Coordination, { machine, elsewhere, by, isForced }: Expelled): Promise<Ended> {
  return changeAsOther(room, { kind: 'human', name: by }, (change) => {
    const there = change.rows
      .agents()
      .filter(({ haid }) => otherMachine(room, change.rows, haid) === machine && !elsewhere.has(haid))
    const isLeft = (agent: (typeof there)[number]): boolean =>
      !isForced && livenessIn(room, change.rows, agent, change.now) === 'active'
    const active = there.filter(isLeft).map(({ agentId }) => agentId)
    const freed = there
      .filter((agent) => !active.includes(agent.agentId))
      .flatMap((agent) => endExpired(change, agent, `${machine} was expelled`))
    return { freed, active }
  })
}
