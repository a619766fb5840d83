// The picture that facts about a project make: its agents, what waits, what it cost. Pure.
import { basename } from 'node:path'
import { homeOf } from '../../paths.ts'
import { NO_POLICY_NAMES } from '../../policy/bundle/no-policy.ts'
import { NO_CALLS, sumOf } from '../call-totals.ts'
import { agentStates } from './agent-states.ts'
import type { FleetFacts, RunFact } from './facts.ts'
import { AGENT_STATES, type Fleet, type FleetAgent, type FleetPolicy, type Wait } from './fleet.ts'
import { costInAll } from './model-cost.ts'
import { openWaits } from './open-waits.ts'
import { oneLine } from './plain-words.ts'

export function fleetOf(facts: FleetFacts): Fleet {
  const waits = openWaits(facts)
  const agents = agentStates(facts, waits)
  const started = facts.runs.map(({ run }) => run.start.started_at).sort()
  return {
    at: new Date(facts.nowMs).toISOString(),
    // A folder may be called anything, and its name goes to a terminal.
    project: { root: homeOf(facts.project), name: oneLine(basename(homeOf(facts.project))) },
    agents,
    waits,
    collisions: facts.known.collisions,
    counts: countsOf(agents, waits),
    calls: agents.reduce((sum, { calls }) => (calls === null ? sum : sumOf(sum, calls)), NO_CALLS),
    tokens: facts.tokensInAll,
    cost: costInAll(agents.flatMap(({ cost }) => cost ?? [])),
    since: started[0] ?? null,
    policies: policiesOf(facts.runs),
    missing: facts.missing,
  }
}

function countsOf(agents: readonly FleetAgent[], waits: readonly Wait[]): Fleet['counts'] {
  const of = (wanted: string): number => agents.filter(({ state }) => state === wanted).length
  const states = Object.fromEntries(AGENT_STATES.map((state) => [state, of(state)])) as Fleet['counts']
  return {
    ...states,
    agents: agents.length,
    waiting: waits.filter(({ snoozed_until: until }) => until === null).length,
  }
}

function policiesOf(runs: readonly RunFact[]): FleetPolicy[] {
  const found = new Map<string, FleetPolicy>()
  for (const { start, agent } of runs.map(({ run }) => run)) {
    const { policy_id: id, policy_version: version, policy_hash: hash } = start.policy
    if (hash === NO_POLICY_NAMES.policy_hash) continue
    const key = JSON.stringify([id, version, start.mode])
    const agents = [...(found.get(key)?.agents ?? []), agent.agent_id]
    found.set(key, { policy_id: id, version, mode: start.mode, agents })
  }
  return [...found.values()]
}
