// Begins a session of seed 002 (§3, §7): registers a name, or adopts a prior identity with evidence or a human's confirmation.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { HeimdallError, isProgramMissing } from '../../errors.ts'
import type { Env } from '../../paths.ts'
import { findAgent } from '../change.ts'
import type { Coordination } from '../coordination.ts'
import type { Agent } from '../store.ts'
import { adopt, findEvidence, recommend, signOfLife, UNPROVED_REASON } from './adoption.ts'
import { askingHere, caller, nameToRecord, recordRefusal } from './caller.ts'
import { keysOf } from './key-files.ts'
import type { ProcessRef } from './process-ref.ts'
import { register } from './registration.ts'

export interface BeginRequest {
  readonly adopt: string | undefined
  readonly register: string | undefined
  readonly role: string
  readonly cwd: string
  readonly env: Env
  readonly tree: ProcessRef | undefined
  readonly note: (line: string) => void
  /** Asks a human to confirm an adoption that is in doubt; answers with the human's name. Absent where no one can be asked. */
  readonly confirm?: ((doubt: string, agentId: string | null) => Promise<string | undefined>) | undefined
}

export interface BegunSession {
  readonly agent: Agent
  readonly mode: 'adopt' | 'register'
  readonly reason: string
  /** Of an adoption. */
  readonly resumed?: {
    readonly resume_reason: string
    readonly confirmed_by_human: boolean
    readonly evidence: string | null
    readonly tasks: readonly string[]
  }
}

/** Every failure carries a recommendation, the same for the same state (seed 002 §7). */
export async function beginSession(room: Coordination, request: BeginRequest): Promise<BegunSession> {
  try {
    return await begin(room, request)
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    const { code, message, hint, details } = error
    const recommendation = room.store.read((rows) => recommend(rows, message))
    throw new HeimdallError(code, message, {
      hint: hint ?? recommendation.command,
      details: { ...details, recommendation },
      cause: error,
    })
  }
}

async function begin(room: Coordination, request: BeginRequest): Promise<BegunSession> {
  const { adopt: prior, register: name, role, tree } = request
  if (prior !== undefined && name !== undefined)
    throw new HeimdallError('AMBIGUOUS_SESSION', '--adopt and --register exclude each other')
  if (prior !== undefined) return await resumed(room, prior, request)
  if (name !== undefined) {
    const { agent } = await register(room, { name, role, tree }, keysOf(room))
    return { agent, mode: 'register', reason: `${agent.agentId} was free` }
  }
  // No identity is adopted unless it is named; a free name is recommended instead.
  throw new HeimdallError('AMBIGUOUS_SESSION', 'neither --adopt ID nor --register NAME was given')
}

async function resumed(room: Coordination, name: string, request: BeginRequest): Promise<BegunSession> {
  const { tree, env, confirm } = request
  const outsideTasks = await beadsInProgress(name, request)
  const doubt = doubtOf(room, name, outsideTasks, tree)
  const agentId = room.store.read((rows) => findAgent(rows, name)?.agentId) ?? null
  const confirmedBy = doubt === undefined ? undefined : await confirm?.(doubt, agentId)
  try {
    const found = await adopt(room, name, { outsideTasks, confirmedBy, tree, keys: keysOf(room) })
    const { agent, evidence, tasks } = found
    return {
      agent,
      mode: 'adopt',
      reason: evidence?.summary ?? `confirmed by ${confirmedBy ?? ''}`,
      resumed: {
        resume_reason: evidence?.reason ?? UNPROVED_REASON,
        confirmed_by_human: confirmedBy !== undefined,
        evidence: evidence?.summary ?? null,
        tasks,
      },
    }
  } catch (error) {
    // An attempt to adopt a living identity is recorded under the caller's name.
    if (error instanceof HeimdallError && error.code === 'ADOPTION_REJECTED')
      await recordRefusal(room, error, { by: nameToRecord(caller(room, askingHere(env))), to: agentId })
    throw error
  }
}

/** Why a human has to confirm the adoption, or nothing. */
function doubtOf(
  room: Coordination,
  name: string,
  outsideTasks: readonly string[],
  tree: ProcessRef | undefined,
): string | undefined {
  if (findEvidence(room, name, outsideTasks) === undefined) return `Nothing shows that this session continues ${name}.`
  const sign = room.store.read((rows) => {
    const agent = findAgent(rows, name)
    return agent === undefined ? undefined : signOfLife(room, rows, agent, tree)
  })
  return sign === undefined ? undefined : `${name} may be at work: ${sign}.`
}

/** Beads in progress that the agent owns, where the `bd` command exists. */
async function beadsInProgress(agent: string, { cwd, env, note }: BeginRequest): Promise<string[]> {
  try {
    const { stdout } = await promisify(execFile)('bd', ['list', '--status', 'in_progress', '--json'], {
      cwd,
      env: { ...env },
      timeout: 5_000,
      maxBuffer: 8 << 20,
    })
    return ownedBeads(stdout, agent)
  } catch (error) {
    // Without `bd`, our own tasks are the evidence that is left.
    if (isProgramMissing(error)) return []
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    note(`warning: bd list failed and counts as no evidence: ${why}`)
    return []
  }
}

function ownedBeads(output: string, agent: string): string[] {
  let beads: unknown
  try {
    beads = JSON.parse(output)
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
  if (!Array.isArray(beads)) return []
  return beads.flatMap((bead: unknown) => {
    if (typeof bead !== 'object' || bead === null) return []
    const { id, assignee, owner, status } = bead as Record<string, unknown>
    return typeof id === 'string' && status === 'in_progress' && (assignee === agent || owner === agent) ? [id] : []
  })
}
