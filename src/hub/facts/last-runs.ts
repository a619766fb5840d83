// The last run of an agent that is over: nobody keeps it any more, so what it cost and where it is played from stands in its record.
import { basename } from 'node:path'
import { HUB_ROWS_MAX } from '../../limits.ts'
import { factsOf, type RunFacts } from '../../runs/run-facts.ts'
import { runFolders } from '../../runs/run-folder.ts'
import { type FleetAgent, hasEnded } from '../../spine/fleet/fleet.ts'
import { firstEvent } from '../../runs/run-project.ts'
import type { RunsOfProject } from './run-project.ts'

type Task = FleetAgent['task']
type TaskOf = (runDir: string, facts: RunFacts) => Task

/** With what it was for: an agent that is over has no task any more. */
export interface LastRun extends RunFacts {
  readonly task: Task
}

export class LastRuns {
  readonly #runsDir: string
  readonly #runs: RunsOfProject
  /** A run that has ended does not change: each is looked up once. */
  readonly #known = new Map<string, LastRun>()

  constructor(runsDir: string, runs: RunsOfProject) {
    this.#runsDir = runsDir
    this.#runs = runs
  }

  /** By agent, of those that are over and have no run. */
  of(agents: readonly FleetAgent[], taskOf: TaskOf): ReadonlyMap<string, LastRun> {
    const over = agents.filter(({ run_id: run, state }) => run === null && hasEnded(state))
    const keyOf = ({ agent_id: id, since }: FleetAgent): string => `${id} ${since}`
    for (const known of this.#known.keys()) if (!over.some((agent) => keyOf(agent) === known)) this.#known.delete(known)
    const missing = new Map(over.filter((agent) => !this.#known.has(keyOf(agent))).map((one) => [one.agent_id, one]))
    if (missing.size > 0)
      for (const folder of runFolders(this.#runsDir).runs.slice(0, HUB_ROWS_MAX)) {
        if (missing.size === 0) break
        if (!this.#runs.has(basename(folder.runDir))) continue
        const agent = missing.get(String(firstEvent(folder.runDir)?.['agent_id']))
        if (agent === undefined) continue
        missing.delete(agent.agent_id)
        const facts = factsOf(folder)
        if (facts.state === 'ended') this.#known.set(keyOf(agent), { ...facts, task: taskOf(folder.runDir, facts) })
      }
    return new Map(
      over.flatMap((agent) => {
        const facts = this.#known.get(keyOf(agent))
        return facts === undefined ? [] : [[agent.agent_id, facts]]
      }),
    )
  }
}
