// The identity that a run acts as: a new agent, or a known one whose last session is over, under the rules of adoption where it left work.
import { HeimdallError } from '../../errors.ts'
import { isOver, isRunning, livenessIn } from './alive.ts'
import { changeAsOther, findAgent } from '../change.ts'
import type { Coordination } from '../coordination.ts'
import type { Env } from '../../paths.ts'
import type { Caller } from './caller.ts'
import { type Enrolled, newSession, startedBy, withSecret } from './enrol.ts'
import { parseAgentId } from './names.ts'
import { pidOf, type ProcessRef } from './process-ref.ts'
import { register } from './registration.ts'
import { AGENT_VARIABLES } from './variables.ts'
import type { Agent, Reader } from '../store.ts'

export interface Enlisting {
  /** Made up when absent. */
  readonly name: string | undefined
  readonly role: string
  /** Starts the run, and holds the identity until the run has a process of its own. */
  readonly process: ProcessRef
  /** Of whoever starts the run, for an identity that only they can prove to be theirs. */
  readonly env: Env
}

/** No file gets the secret: it is for the environment of the run, and nobody else sees it. */
export async function enlist(room: Coordination, enlisting: Enlisting): Promise<Enrolled> {
  const { name, role, process } = enlisting
  if (name === undefined)
    return await register(room, { role, process, startedBy: (await starterSaid(room, enlisting))?.haid })
  const find = (): Agent | undefined => room.store.read((rows) => findAgent(rows, parseAgentId(name)))
  const seen = find()
  const added = seen === undefined ? await registered(room, enlisting, name) : undefined
  if (added !== undefined) return added
  const known = seen ?? find()
  // Taken, but not by this name: what is wrong with it is said by whoever registers.
  if (known === undefined) return await register(room, { name, role, process })
  if (isRunning(room, known)) throw atWork(known)
  const isProven = await isCaller(room, enlisting, known)
  const starter = isProven ? undefined : await starterOf(room, enlisting)
  if (starter?.refused !== undefined) throw starter.refused.error
  const next = await withSecret(room, undefined, (secret) =>
    changeAsOther(room, { kind: 'system' }, (change) => {
      const agent = change.rows.agent(known.haid)
      if (agent === undefined || agent.revokedMs !== null || agent.origin === 'remote') return undefined
      // Looked at again: somebody may have been quicker.
      if (isRunning(room, agent)) throw atWork(agent)
      if (!isProven && !isLeft(room, change.rows, agent)) return undefined
      if (starter !== undefined && startedBy(change.rows, agent) !== starter.haid) throw nameOfAnother(starter, agent)
      return newSession(room, change, agent, { secret, process, startedBy: starter?.haid })
    }),
  )
  // It has left work, or may be alive: then there has to be evidence, or a refusal that says what to do instead.
  if (next !== undefined) return next
  const { adopt } = await import('./adoption.ts')
  return await adopt(room, name, { process })
}

/** Nothing where the name is taken, perhaps since somebody looked: of several who start at once, one is the first. */
async function registered(room: Coordination, enlisting: Enlisting, name: string): Promise<Enrolled | undefined> {
  const { role, process } = enlisting
  try {
    return await register(room, { name, role, process, startedBy: (await starterSaid(room, enlisting))?.haid })
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'DUPLICATE_AGENT_ID') return undefined
    throw error
  }
}

/** Its last session is over, and nothing is left of its work that another could be mistaken about. */
function isLeft(room: Coordination, rows: Reader, agent: Agent): boolean {
  if (!isOver(room, agent) && livenessIn(room, rows, agent, room.now()) !== 'evicted') return false
  return rows.claims({ holder: agent.haid, state: 'active' }).length === 0
}

/**
 * The agent that starts this one, by processes; nothing for a person and for a script. What it has started itself it may
 * start again; a name that is somebody else's is no proof, also when that one has just been ended.
 */
async function starterOf(room: Coordination, { env }: Pick<Enlisting, 'env'>): Promise<Caller | undefined> {
  const { agentAbove } = await import('../../person.ts')
  if (agentAbove() === undefined) return undefined
  const { askingHere, caller } = await import('./caller.ts')
  return caller(room, askingHere(env))
}

/** For the record of a new agent: processes are looked at only where variables say that there may be somebody. */
async function starterSaid(room: Coordination, { env }: Enlisting): Promise<Caller | undefined> {
  const starter = AGENT_VARIABLES.some((name) => (env[name] ?? '') !== '') ? await starterOf(room, { env }) : undefined
  return starter?.refused === undefined ? starter : undefined
}

function nameOfAnother({ haid }: Caller, { agentId }: Agent): HeimdallError {
  return new HeimdallError('IDENTITY_BORROWED', `${haid} may not go on as ${agentId}, which it has not started`, {
    hint: `run under another name; a person starts ${agentId} again, in a terminal of their own`,
  })
}

/** Registered by a command before, with a key: whoever has the key may start it. */
async function isCaller(room: Coordination, { name, env }: Enlisting, known: Agent): Promise<boolean> {
  if (isOver(room, known)) return false
  // Loaded here: nearly always the agent is new, or was a run's before.
  const { askingHere, caller } = await import('./caller.ts')
  const found = caller(room, askingHere(env, name))
  return found.refused === undefined && found.proof !== 'none' && found.agent?.haid === known.haid
}

function atWork({ agentId, runtime }: Agent): HeimdallError {
  const process = runtime.process ?? runtime.tree
  return new HeimdallError(
    'AGENT_AT_WORK',
    `${agentId} is at work already${process === null ? '' : `: process ${pidOf(process)}`}`,
    {
      hint: `heimdall attach ${agentId} shows it, heimdall kill ${agentId} ends it; or run under another name`,
      details: { agent_id: agentId },
    },
  )
}
