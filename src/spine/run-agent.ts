// Who a run acts as: the identity that it takes at its start, with the scopes that it is to hold, and gives back if nothing comes of it.
import type { AgentActor } from '../coordination/change.ts'
import type { Coordination } from '../coordination/coordination.ts'
import { enlist } from '../coordination/who/enlist.ts'
import { endFor, heldBy, type KeptIdentity } from '../coordination/who/kept.ts'
import { NOT_STARTED } from '../coordination/who/outcome.ts'
import { processRef } from '../coordination/who/process-ref.ts'
import { HeimdallError } from '../errors.ts'
import { LEDGER_LEASE_MINUTES_DEFAULT } from '../limits.ts'
import type { RunWish } from './run-wish.ts'

export interface RunAgent {
  readonly agentId: string
  readonly haid: string
  readonly role: string
  readonly epoch: number
  readonly secret: string
}

/** How it is undone goes to `undo` as soon as there is something to undo. */
export async function takeAgent(room: Coordination, wish: RunWish, undo: (() => unknown)[]): Promise<RunAgent> {
  const { agent, secret } = await enlist(room, {
    name: wish.agent,
    role: wish.role ?? 'agent',
    process: ownProcess(),
    env: wish.env,
  })
  const { haid, agentId } = agent
  const { epoch } = agent.runtime
  undo.push(() => endFor(room, { haid, epoch }, 'the run could not be started', NOT_STARTED))
  if (wish.scopes !== undefined && wish.scopes.length > 0)
    await claimAtStart(room, { kind: 'agent', haid, secret }, wish.scopes, wish.task ?? null)
  return { agentId, haid, role: wish.role ?? agent.role, epoch, secret }
}

/** Given back with the identity, whatever way that ends. */
async function claimAtStart(
  room: Coordination,
  actor: AgentActor,
  scopes: readonly string[],
  task: string | null,
): Promise<void> {
  const { claimScopes } = await import('../coordination/claims/claims.ts')
  const result = await claimScopes(room, actor, {
    scopes,
    cwd: room.project.root,
    task,
    ttlMinutes: LEDGER_LEASE_MINUTES_DEFAULT,
    archivesLapsed: true,
  })
  if (result.granted) return
  const { agentId, held } = result.conflicts[0] ?? { agentId: 'somebody', held: '' }
  throw new HeimdallError('RESERVATION_CONFLICT', `${agentId} holds ${held}`, {
    hint: 'heimdall claim list shows who holds what',
  })
}

/**
 * From here on the identity lives with the session's process: the starter may be gone before the watcher has bound it to the
 * command, and an agent whose process is gone could be taken by another.
 */
export async function holdIdentity(room: Coordination, kept: KeptIdentity, supervisorPid: number): Promise<void> {
  const supervisor = processRef(supervisorPid)
  if (supervisor !== undefined) await heldBy(room, kept, supervisor)
}

/** Until the session has a process, the identity is over when its starter is gone. */
function ownProcess(): string {
  const own = processRef(process.pid)
  if (own === undefined) throw new HeimdallError('PROCESSES_UNREADABLE', 'this process cannot be found')
  return own
}
