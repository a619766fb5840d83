// What each agent is doing, and on what evidence. Pure.
import type { ExitRecord } from '../../sessions/keeper.ts'
import type { RunStatus } from '../../runs/owned-run.ts'
import { isCancelled, whoEnded } from '../cancelled.ts'
import type { KeptRun } from '../kept-run.ts'
import { isStuck } from '../signs.ts'
import type { FleetFacts, PlainSession, RunFact } from './facts.ts'
import { AGENT_STATES, type AgentState, type Evidence, type FleetAgent, type Wait } from './fleet.ts'
import type { KnownAgent } from './known-agents.ts'
import { guardOf } from './guards.ts'
import { costOf } from './model-cost.ts'
import { inOrder, oneLine, spanText } from './plain-words.ts'

interface Doing {
  readonly state: AgentState
  readonly sinceMs: number
  readonly evidence: Evidence
  readonly exitCode?: number
  readonly repeats?: number
  readonly isOver?: boolean
}

/** Who needs a person first, oldest first; then who is to be looked at; then the rest. */
export function agentStates(facts: FleetFacts, waits: readonly Wait[]): FleetAgent[] {
  const { known, runs, sessions } = facts
  const atWork = [
    ...runs.map((fact) => agentOfRun(facts, fact, waits)),
    ...sessions.map((session) => agentOfSession(facts, session, waits)),
  ]
  const names = new Set(atWork.map(({ agent_id: id }) => id))
  const others = known.agents.filter(({ agent_id: id }) => !names.has(id))
  return onePerName([...atWork, ...others.map((one) => agentAlone(facts, one, waits))]).sort(
    (a, b) => rank(a) - rank(b) || inOrder(a.since, b.since) || inOrder(a.agent_id, b.agent_id),
  )
}

/** Whoever shows agents tells them apart by their names: of what is found under one name, the first tells most of it. */
const onePerName = (agents: readonly FleetAgent[]): FleetAgent[] => [
  ...new Map(agents.toReversed().map((agent) => [agent.agent_id, agent])).values(),
]

const isOf = ({ agent }: KeptRun, { haid, epoch }: KnownAgent): boolean => agent.haid === haid && agent.epoch === epoch

/** A collision is a wait like any other. */
const rank = ({ state }: FleetAgent): number => (state === 'collision' ? 0 : AGENT_STATES.indexOf(state))

function agentOfRun(facts: FleetFacts, fact: RunFact, waits: readonly Wait[]): FleetAgent {
  const { run, asked } = fact
  const known = facts.known.agents.find((agent) => isOf(run, agent))
  const own = waitsOf(waits, run.agent.agent_id)
  const doing = waitingFor(own) ?? doingInRun(facts, fact, known)
  const openMs = run.wait === null ? 0 : Math.max(0, facts.nowMs - Date.parse(run.wait.started_at))
  const { program, task } = run.start.meta ?? {}
  return {
    ...ofKnown(known, run.agent.agent_id),
    haid: run.agent.haid,
    ...shownDoing(doing, own),
    client: run.identity.client,
    program: typeof program === 'string' ? program : null,
    task: known?.task ?? (typeof task === 'string' ? { id: task, title: task } : null),
    branch: run.worktree?.branch ?? null,
    cwd: run.cwd,
    session_id: run.session.id,
    socket_dir: run.session.dir,
    run_id: run.identity.run_id,
    started_at: run.start.started_at,
    calls: run.pulse?.calls ?? null,
    tokens: facts.tokens.get(run.identity.run_id) ?? null,
    cost: run.cost === undefined ? null : costOf(run.cost),
    waited: { count: run.waits.count + (run.wait === null ? 0 : 1), ms: run.waits.ms + openMs },
    guard: guardIn(facts, run.agent.agent_id, run.pulse?.calls ?? null),
    title: oneLine(asked?.title ?? run.pulse?.title ?? ''),
    last_line: shownLine(asked?.last_line ?? run.pulse?.last_line),
  }
}

function agentAlone(facts: FleetFacts, agent: KnownAgent, waits: readonly Wait[]): FleetAgent {
  const own = waitsOf(waits, agent.agent_id)
  return {
    ...ofKnown(agent, agent.agent_id),
    ...shownDoing(waitingFor(own) ?? doingAlone(facts, agent), own),
    guard: agent.isOver || agent.isRemote ? null : guardIn(facts, agent.agent_id, null),
  }
}

const guardIn = ({ guards }: FleetFacts, agent: string, calls: FleetAgent['calls']): FleetAgent['guard'] =>
  guards === undefined ? null : guardOf(guards.get(agent), calls)

function agentOfSession(facts: FleetFacts, session: PlainSession, waits: readonly Wait[]): FleetAgent {
  const { nowMs, known } = facts
  const own = waitsOf(waits, session.id)
  // One that is over had a session of this name before.
  const agent = known.agents.find(({ agent_id: id, isOver }) => id === session.id && !isOver)
  const isIdle = session.state === 'idle'
  const doing: Doing = waitingFor(own) ?? {
    state: isIdle ? 'idle' : 'working',
    sinceMs: nowMs - session.state_ms,
    evidence: { source: 'output', seen: isIdle ? silent(session.idle_ms) : `the session is ${session.state}` },
  }
  return {
    ...ofKnown(agent, session.id),
    ...shownDoing(doing, own),
    program: session.command[0] ?? null,
    cwd: session.cwd,
    session_id: session.id,
    socket_dir: session.dir,
    started_at: session.started_at,
    guard: guardIn(facts, session.id, null),
    title: oneLine(session.title),
    last_line: shownLine(session.last_line),
  }
}

const shownLine = (line: string | undefined): string | null => (line === undefined ? null : oneLine(line))

type Doings = 'state' | 'since' | 'evidence' | 'wait_id' | 'exit_code' | 'repeats' | 'is_over'

function ofKnown(agent: KnownAgent | undefined, id: string): Omit<FleetAgent, Doings> {
  const spent = agent?.spent ?? null
  return {
    agent_id: id,
    haid: agent?.haid ?? null,
    liveness: agent?.liveness ?? 'active',
    role: agent?.role ?? null,
    client: agent?.client ?? null,
    program: null,
    task: agent?.task ?? null,
    branch: null,
    cwd: null,
    session_id: null,
    socket_dir: null,
    elsewhere: elsewhereOf(agent),
    run_id: spent?.run_id ?? null,
    started_at: agent === undefined ? null : new Date(agent.startedMs).toISOString(),
    claims: agent?.claims ?? [],
    queue: agent?.queue ?? [],
    calls: null,
    tokens: null,
    cost: spent === null ? null : costOf(spent.total),
    waited: { count: 0, ms: 0 },
    guard: null,
    title: '',
    last_line: null,
  }
}

function elsewhereOf(agent: KnownAgent | undefined): FleetAgent['elsewhere'] {
  if (agent === undefined || agent.machine === null) return null
  return { machine: agent.machine, session_id: agent.isOver ? null : agent.sessionThere }
}

const waitsOf = (waits: readonly Wait[], agent: string): readonly Wait[] =>
  waits.filter(({ agent_id: id, snoozed_until: until }) => id === agent && until === null)

function shownDoing(
  { state, sinceMs, evidence, exitCode, repeats, isOver }: Doing,
  waits: readonly Wait[],
): Pick<FleetAgent, Doings> {
  return {
    state,
    since: new Date(sinceMs).toISOString(),
    evidence: { ...evidence, seen: oneLine(evidence.seen) },
    wait_id: waits[0]?.id ?? null,
    exit_code: exitCode ?? null,
    repeats: repeats ?? null,
    is_over: isOver ?? false,
  }
}

function waitingFor([oldest]: readonly Wait[]): Doing | undefined {
  if (oldest === undefined) return undefined
  return {
    state: oldest.kind === 'collision' ? 'collision' : 'needs you',
    sinceMs: Date.parse(oldest.since),
    evidence: oldest.evidence,
  }
}

function doingInRun({ nowMs }: FleetFacts, { run, asked, lost, exit }: RunFact, known: KnownAgent | undefined): Doing {
  const { pulse } = run
  const startedMs = Date.parse(run.start.started_at)
  if (exit !== undefined) return endedWith(exit)
  if (lost !== undefined) {
    const seen = lost[0] === undefined ? 'its supervisor was killed' : `lost, still running: process ${lost[0]}`
    const isOver = lost.length === 0
    return { state: 'lost', sinceMs: startedMs, isOver, evidence: { source: 'processes', seen } }
  }
  if (pulse === undefined)
    return { state: 'working', sinceMs: startedMs, evidence: { source: 'run', seen: 'just started' } }
  const { loop, works } = pulse
  if (loop !== null) {
    const overMs = Date.parse(loop.last_at) - Date.parse(loop.first_at)
    const seen = `same ${loop.what} ${loop.count} times in ${spanText(overMs)}: ${loop.name}`
    const evidence = { source: 'record', seen }
    return { state: 'looping', sinceMs: Date.parse(loop.first_at), evidence, repeats: loop.count }
  }
  const activeMs = Date.parse(pulse.active_at)
  const silentMs = Math.max(0, nowMs - activeMs)
  const says = works === null ? '' : (works.evidence ?? `a ${works.source} says that it works`)
  if (isStuck(works !== null, silentMs, pulse.usual_silence_ms)) {
    const usual = pulse.usual_silence_ms === null ? '' : `, usually at most ${spanText(pulse.usual_silence_ms)}`
    const evidence = { source: works?.source ?? '', seen: `${says}, ${silent(silentMs)}${usual}` }
    return { state: 'stuck', sinceMs: activeMs, evidence }
  }
  if (known !== undefined && known.liveness !== 'active') return quiet(known)
  const state = asked?.state ?? pulse.state
  const busyMs = Date.parse(pulse.busy_since)
  if (works !== null) return { state: 'working', sinceMs: busyMs, evidence: { source: works.source, seen: says } }
  if (state !== 'idle')
    return { state: 'working', sinceMs: busyMs, evidence: { source: 'output', seen: `the session is ${state}` } }
  return { state: 'idle', sinceMs: activeMs, evidence: { source: 'output', seen: silent(silentMs) } }
}

const silent = (ms: number): string => `silent for ${spanText(ms)}`

/** The words say what it holds: that is what somebody else may wait for. */
function quiet({ silentMs, lastSeenMs, liveness, claims, isOver }: KnownAgent): Doing {
  const held = claims.flatMap(({ scopes }) => scopes)
  const holds = held.length === 0 ? '' : `, holds ${held[0]}${held.length > 1 ? ` and ${held.length - 1} more` : ''}`
  const seen = isOver ? `its session is over${holds}` : `${silent(silentMs)}${holds}`
  const evidence = {
    source: isOver ? 'processes' : 'heartbeat',
    seen: `${seen}${liveness === 'evicted' ? ' (evicted)' : ''}`,
  }
  return { state: 'stale', sinceMs: lastSeenMs, evidence, isOver }
}

/** What somebody has ended is no failure, whatever code it left with. */
function endedWith(exit: ExitRecord): Doing {
  const { exit_code: exitCode, reason, ended_at: endedAt, ended_by: by } = exit
  const isWanted = isCancelled(exit)
  const seen = isWanted
    ? `${by === null ? 'somebody ended it' : `ended: ${whoEnded(by)}`}, exit ${exitCode}`
    : `exit ${exitCode}${reason === 'exit' ? '' : `, ${reason}`}`
  const state = isWanted ? 'cancelled' : exitCode === 0 ? 'done' : 'failed'
  return { state, sinceMs: Date.parse(endedAt), evidence: { source: 'exit', seen }, exitCode, isOver: true }
}

const OUTCOMES: ReadonlyMap<string, AgentState> = new Map([
  ['SUCCEEDED', 'done'],
  ['CANCELLED', 'cancelled'],
] satisfies [RunStatus, AgentState][])

function doingAlone({ endings }: FleetFacts, agent: KnownAgent): Doing {
  const { haid, isOver, endedMs, claims, silentMs, lastSeenMs, liveness, task, outcome } = agent
  const ending = endings.get(haid)
  if (ending !== undefined) return endedWith(ending)
  if (outcome !== undefined) {
    const { status, exit_code: exitCode } = outcome
    return {
      state: OUTCOMES.get(status) ?? 'failed',
      isOver: true,
      sinceMs: endedMs ?? lastSeenMs,
      evidence: {
        source: 'run',
        seen: `${status === 'CANCELLED' ? 'somebody ended the run' : `the run ${status}`}${exitCode === null ? '' : `, exit ${exitCode}`}`,
      },
      ...(exitCode === null ? {} : { exitCode }),
    }
  }
  if (isOver && claims.length === 0)
    return {
      state: 'done',
      isOver: true,
      sinceMs: endedMs ?? lastSeenMs,
      evidence: { source: 'coordination', seen: 'its session is over' },
    }
  if (isOver || liveness !== 'active') return quiet(agent)
  const beat = agent.machine !== null ? `on ${agent.machine}, ` : agent.isRemote ? 'on another machine, ' : ''
  const evidence = { source: 'heartbeat', seen: `${beat}last sign of life ${spanText(silentMs)} ago` }
  const isBusy = claims.length > 0 || task !== null
  return { state: isBusy ? 'working' : 'idle', sinceMs: lastSeenMs, evidence }
}
