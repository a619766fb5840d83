// Coordination of a temporary project with a clock, a boot and agents that a test owns.
import { onTestFinished } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import type { ClaimRequest } from '../../src/coordination/claims/claims.ts'
import { type Coordination, openCoordination } from '../../src/coordination/coordination.ts'
import type { AgentActor } from '../../src/coordination/change.ts'
import { register } from '../../src/coordination/who/registration.ts'
import type { Fate, ProcessRef } from '../../src/coordination/who/process-ref.ts'
import { findProject } from '../../src/paths.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder, type TemporaryProject, temporaryProject } from '../support/project.ts'

export const MINUTE = 60_000

export interface RoomOptions {
  readonly clock?: Clock
  readonly boot?: string
  readonly host?: string
  readonly project?: TemporaryProject
  readonly root?: string
  readonly fateOf?: (ref: ProcessRef) => Fate
}

export function openRoom(options: RoomOptions = {}): Coordination {
  const root = options.root ?? options.project?.root ?? temporaryFolder()
  const env = options.project?.env ?? { USER: 'ana' }
  const room = openCoordination({
    project: findProject(root, env),
    env,
    clock: options.clock ?? fakeClock(),
    staleMinutes: 15,
    machine: { boot: options.boot ?? 'boot-1', host: options.host ?? 'box' },
    ...(options.fateOf === undefined ? {} : { fateOf: options.fateOf }),
  })
  onTestFinished(() => room.store.close())
  return room
}

export { temporaryProject }

export async function enter(room: Coordination, name: string, role = 'agent'): Promise<AgentActor> {
  const { agent, secret } = await register(room, { name, role })
  return { kind: 'agent', haid: agent.haid, secret }
}

export function wants(
  room: Coordination,
  scopes: string | readonly string[],
  more: Partial<ClaimRequest> = {},
): ClaimRequest {
  return {
    scopes: typeof scopes === 'string' ? [scopes] : scopes,
    cwd: room.project.root,
    task: null,
    ttlMinutes: 120,
    ...more,
  }
}
