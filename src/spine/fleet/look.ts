// One look at the fleet of a project: reads sheets, the store and what lies beside them, and makes one picture of it. Nothing that cannot be read stops the rest.
import { basename } from 'node:path'
import { existsSync } from 'node:fs'
import type { CoordinationOptions } from '../../coordination/coordination.ts'
import { openView } from '../../coordination/view.ts'
import { fateOf } from '../../coordination/who/process-ref.ts'
import { HeimdallError } from '../../errors.ts'
import { homeOf, type Project, runsDirOf } from '../../paths.ts'
import { NO_POLICY_NAMES } from '../../policy/bundle/no-policy.ts'
import type { Request } from '../../runs/approvals.ts'
import { NO_CALLS, sumOf } from '../call-totals.ts'
import { type ExitRecord, readExitRecord } from '../../sessions/session-files.ts'
import type { KeptRun } from '../kept-run.ts'
import { openRuns, settleLostRuns } from '../open-runs.ts'
import { agentStates } from './agent-states.ts'
import type { FleetFacts, RunFact } from './facts.ts'
import { AGENT_STATES, type Fleet, type FleetAgent, type FleetPolicy, type Guard, type Wait } from './fleet.ts'
import { changedTools, endingsOf, openApprovals } from './beside.ts'
import { type KnownAgents, knownAgents, NOBODY_KNOWN } from './known-agents.ts'
import { readLater } from './later.ts'
import { costInAll } from './model-cost.ts'
import { openWaits } from './open-waits.ts'
import { NOTHING_SPENT, tokensOf } from './spent.ts'
import { askSession, plainSessions, sessionIds } from './asked-sessions.ts'
import { oneLine } from './plain-words.ts'

export interface FleetOptions extends CoordinationOptions {
  /** Where plain sessions and records of ended ones lie. */
  readonly socketDir: string
  /** Each session of a run is asked for its state and its last line, and trails of hooks are read; else its keeper's word is taken. */
  readonly asksSessions: boolean
  /** Who looks, for the record of what is settled on the way: runs that nobody keeps any more. */
  readonly by: string
  readonly note: (line: string) => void
}

/** What is known of a project's agents now. */
export async function lookAtFleet(options: FleetOptions): Promise<Fleet> {
  return fleetOf(await gather(options))
}

/** The picture that facts make. Pure. */
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
  return { ...states, agents: agents.length, waiting: waits.filter(({ later_until: later }) => later === null).length }
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

async function gather(options: FleetOptions): Promise<FleetFacts> {
  const { project, env, clock, socketDir, asksSessions } = options
  const missing: Fleet['missing'][number][] = []
  const tried = <T>(what: string, read: () => T, otherwise: T): T => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      missing.push({ what, code: error.code, message: oneLine(error.message) })
      return otherwise
    }
  }
  const triedLater = async <T>(what: string, read: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await read()
    } catch (error) {
      return tried(
        what,
        () => {
          throw error
        },
        otherwise,
      )
    }
  }
  const runsDir = runsDirOf(env)
  const ids = sessionIds(socketDir)
  let all = tried('runs', () => openRuns(runsDir), [])
  if (all.some(({ isLost }) => isLost)) {
    await settleLostRuns(runsDir, options)
    all = openRuns(runsDir)
  }
  const open = all.filter(({ run }) => run.project.coordinationDir === project.coordinationDir)
  const known = tried('coordination', () => knownIn(options), NOBODY_KNOWN)
  const ofRuns = new Set(open.map(({ run }) => `${run.session.dir}\0${run.session.id}`))
  const [asked, sessions] = await Promise.all([
    Promise.all(open.map(async ({ run }) => (asksSessions ? await askSession(run.session) : undefined))),
    plainSessions({ dir: socketDir, ids, project, isOfRun: (id) => ofRuns.has(`${socketDir}\0${id}`) }),
  ])
  const tokens = await triedLater('token ledger', () => tokensOf(options), NOTHING_SPENT)
  const approvals: (readonly Request[])[] = []
  for (const { run } of open)
    approvals.push(await triedLater('approvals', () => openApprovals(runsDir, run.folder), []))
  return {
    project,
    nowMs: clock.wallMs(),
    known,
    runs: open.map(({ run, isLost }, i) => ({
      run,
      isLost,
      exit: isLost ? tried('sessions', () => exitOfLost(run), undefined) : undefined,
      approvals: approvals[i] ?? [],
      asked: asked[i],
    })),
    sessions,
    tools: await triedLater('pins', () => changedTools(options), []),
    endings: tried('sessions', () => endingsOf(known, socketDir, project), new Map()),
    guards: asksSessions ? await triedLater('hooks', () => guardsOf(project), new Map()) : undefined,
    tokens: tokens.byRun,
    tokensInAll: tokens.inAll,
    later: tried('later', () => readLater(env), new Map()),
    missing,
  }
}

/** Loaded here: who only wants to know who waits reads no trails. */
async function guardsOf(project: Project): Promise<ReadonlyMap<string, Guard>> {
  const { guardsIn } = await import('./trail-guards.ts')
  return guardsIn(project)
}

/** Between the end of a session and its keeper's word the record of that end is there already; an older one is another's. */
function exitOfLost({ session, start }: KeptRun): ExitRecord | undefined {
  const exit = readExitRecord(session.dir, session.id)
  return exit !== undefined && exit.ended_at >= start.started_at ? exit : undefined
}

function knownIn(options: CoordinationOptions): KnownAgents {
  if (!existsSync(options.project.coordinationDir)) return NOBODY_KNOWN
  const view = openView({ ...options, fateOf: options.fateOf ?? fateOf })
  if (view === undefined) return NOBODY_KNOWN
  try {
    return knownAgents(view)
  } finally {
    view.store.close()
  }
}
