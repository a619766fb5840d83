// Taking up a prior identity: only with evidence that the work goes on, and always on record (seed 002 §3.2, §3.4).
import { HeimdallError } from '../../errors.ts'
import { DIRTY_PATHS_SHOWN } from '../../limits.ts'
import type { Scope } from '../../scopes/scope.ts'
import { isRunning, livenessIn } from './alive.ts'
import { caseSensitive } from '../claims/check-scopes.ts'
import type { Coordination } from '../coordination.ts'
import { dirtyPaths, pathsWithin } from '../claims/dirty.ts'
import { changeAsOther, findAgent, speaksFor, unknownAgent } from '../change.ts'
import { type Enrolled, newSession, withSecret } from './enrol.ts'
import type { SecretKeeper } from './key-files.ts'
import { freeName } from './names.ts'
import type { ProcessRef } from './process-ref.ts'
import { revokedError } from './revoked.ts'
import type { Agent, Reader } from '../store.ts'

type Evidence =
  | {
      readonly reason: 'uncommitted_scope'
      readonly summary: string
      readonly paths: readonly string[]
      readonly tasks: readonly string[]
    }
  | { readonly reason: 'in_progress_ownership'; readonly summary: string; readonly tasks: readonly string[] }

/** Seed 002 has two reasons. A human who confirms without evidence states that the work is still in progress. */
export const UNPROVED_REASON: Evidence['reason'] = 'in_progress_ownership'

/** What to do instead, and why: the same state gives the same advice. */
export interface Recommendation {
  readonly action: 'register'
  readonly name: string
  readonly command: string
  readonly reason: string
}

export interface AdoptionOptions {
  /** Tasks in progress of the identity in another tracker, such as `bd`. */
  readonly outsideTasks?: readonly string[]
  /** A person at the terminal has confirmed it: without evidence, or of an identity that is alive. */
  readonly confirmedBy?: string | undefined
  /** The process tree that goes on as this agent, where that is a session. */
  readonly tree?: ProcessRef | undefined
  /** The process that the new session is made for, and ends with. */
  readonly process?: ProcessRef | undefined
  readonly keys?: SecretKeeper | undefined
}

/** Evidence that a session may go on as this agent, or nothing. */
export function findEvidence(
  room: Coordination,
  name: string,
  outsideTasks: readonly string[] = [],
): Evidence | undefined {
  const { agent, scopes, others, tasks } = room.store.read((rows) => {
    const found = findAgent(rows, name)
    if (found === undefined) throw unknownAgent(name, rows)
    return {
      agent: found,
      scopes: scopesOf(rows, found),
      others: scopesOfOthers(rows, found),
      tasks: ownTasks(rows, found),
    }
  })
  const allTasks = [...new Set([...tasks, ...outsideTasks])]
  const isCaseSensitive = caseSensitive(room)
  const dirty = scopes.length === 0 ? [] : pathsWithin(dirtyPaths(room.project), scopes, isCaseSensitive)
  const foreign = new Set(pathsWithin(dirty, others, isCaseSensitive))
  const paths = dirty.filter((path) => !foreign.has(path))
  if (paths.length > 0)
    return {
      reason: 'uncommitted_scope',
      summary: `${paths.length} uncommitted ${paths.length === 1 ? 'path' : 'paths'} in the scopes of ${agent.agentId}: ${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ', …' : ''}`,
      paths: paths.slice(0, DIRTY_PATHS_SHOWN),
      tasks: allTasks,
    }
  if (allTasks.length > 0)
    return {
      reason: 'in_progress_ownership',
      summary: `${agent.agentId} has ${allTasks.join(', ')} in progress`,
      tasks: allTasks,
    }
  return undefined
}

/** Gives the identity a new session: the one before is fenced off, and RESUME says who, why and with which tasks. */
export async function adopt(
  room: Coordination,
  name: string,
  options: AdoptionOptions = {},
): Promise<Enrolled & { evidence: Evidence | null; tasks: readonly string[] }> {
  const evidence = findEvidence(room, name, options.outsideTasks)
  if (evidence === undefined && options.confirmedBy === undefined)
    throw rejected(name, 'nothing is uncommitted in its scopes and it has no task in progress')
  return withSecret(room, options.keys, (secret) =>
    changeAsOther(room, { kind: 'system' }, (change) => {
      const agent = findAgent(change.rows, name)
      if (agent === undefined) throw unknownAgent(name, change.rows)
      if (agent.origin === 'remote') throw rejected(name, 'it belongs to another machine')
      if (agent.revokedMs !== null) throw revokedError(agent)
      // No evidence helps while it is alive: that would be two heads on one body.
      const sign = options.confirmedBy === undefined ? signOfLife(room, change.rows, agent, options.tree) : undefined
      if (sign !== undefined) throw rejected(name, sign)
      const tasks = [...new Set([...(evidence?.tasks ?? []), ...claimedTasks(change.rows, agent)])]
      const enrolled = newSession(room, change, agent, { secret, tree: options.tree, process: options.process })
      change.record({
        type: 'RESUME',
        actor: agent.agentId,
        actorKind: options.confirmedBy === undefined ? 'agent' : 'human',
        to: agent.agentId,
        task: tasks[0] ?? null,
        payload: {
          resume_reason: evidence?.reason ?? UNPROVED_REASON,
          confirmed_by_human: options.confirmedBy !== undefined,
          prior_session_agent: agent.agentId,
          adopted_agent: agent.agentId,
          evidence: evidence?.summary ?? `confirmed by ${options.confirmedBy ?? 'a person'} without evidence`,
          tasks,
          prior_epoch: agent.runtime.epoch,
          epoch: enrolled.agent.runtime.epoch,
          ...(options.confirmedBy === undefined ? {} : { confirmed_by: options.confirmedBy }),
        },
      })
      return { ...enrolled, evidence: evidence ?? null, tasks }
    }),
  )
}

/** Why nobody may take the identity up without a person's word, or nothing. Whoever speaks for it anyway takes nothing from anybody. */
export function signOfLife(
  room: Coordination,
  rows: Reader,
  agent: Agent,
  tree: ProcessRef | undefined,
): string | undefined {
  if (tree !== undefined && speaksFor(agent, tree)) return undefined
  if (isRunning(room, agent)) return 'the process of its session is running'
  return livenessIn(room, rows, agent, room.now()) === 'active' ? 'it is alive: it has beaten just now' : undefined
}

/** The first free name in a fixed order, so that asking twice gives the same advice. */
export function recommend(rows: Reader, reason: string): Recommendation {
  let turn = 0
  // A walk through the list of names instead of chance.
  const next = (): number => ((turn += 1) * 0.618_033_988_75) % 1
  const name = freeName((wanted) => rows.agentById(wanted) !== undefined, next)
  return { action: 'register', name, command: `bb-init --register ${name} --json`, reason }
}

function rejected(name: string, why: string): HeimdallError {
  return new HeimdallError('ADOPTION_REJECTED', `${name} cannot be adopted: ${why}`, {
    hint: 'register under a name of your own: bb-init --register NAME',
  })
}

/** What it holds; for an identity that has ended, what it held last: a session's end releases all its claims at once. */
function scopesOf(rows: Reader, agent: Agent): readonly Scope[] {
  const claims = rows.claims({ holder: agent.haid }).filter(({ displacedBy }) => displacedBy === null)
  const lastMs = Math.max(0, ...claims.map(({ endedMs }) => endedMs ?? Infinity))
  return claims.filter(({ endedMs }) => (endedMs ?? Infinity) === lastMs).flatMap(({ scopes }) => scopes)
}

/** Uncommitted paths there may be the work of their present holder. */
function scopesOfOthers(rows: Reader, agent: Agent): readonly Scope[] {
  const others = rows.claims({ state: 'active' }).filter(({ holder }) => holder !== agent.haid)
  return others.flatMap(({ scopes }) => scopes)
}

/** Beads that its claims are for: whoever goes on holds those as well (seed 002 §3.4). */
function claimedTasks(rows: Reader, agent: Agent): string[] {
  return rows.claims({ holder: agent.haid, state: 'active' }).flatMap(({ task }) => task ?? [])
}

function ownTasks(rows: Reader, agent: Agent): string[] {
  return rows.tasks({ owner: agent.haid, state: 'in_progress' }).map((task) => task.taskId)
}
