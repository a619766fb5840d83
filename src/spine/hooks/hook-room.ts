// What a hook on the long way has around it: the repository's coordination, and who the host session is in it.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { AgentActor } from '../../coordination/change.ts'
import type { Coordination, CoordinationOptions } from '../../coordination/coordination.ts'
import { withRoom } from '../../coordination/frame.ts'
import { storePath } from '../../coordination/store-path.ts'
import { roomOptions } from '../../coordination/room-options.ts'
import type { Agent } from '../../coordination/store.ts'
import { actAs, askingHere, type Caller, caller, type CallOrigin } from '../../coordination/who/caller.ts'
import type { ProcessRef } from '../../coordination/who/process-ref.ts'
import { HeimdallError } from '../../errors.ts'
import { fleetDoor } from '../../fleet/door.ts'
import type { HookCall } from '../../hosts/hooks/hook-call.ts'
import { placeOf } from '../../coordination/who/place.ts'
import { folderOf } from './hook-place.ts'
import type { PlannedWrite } from './known-verdict.ts'
import type { HookSurroundings } from './pass-slip.ts'

export interface HookRoom {
  readonly call: HookCall
  /** Of the tool that is about to run; nothing for other events. */
  readonly planned: PlannedWrite | undefined
  readonly around: HookSurroundings
  /** The folder that the host works in. */
  readonly folder: string
  readonly room: Coordination
  readonly found: Caller
  readonly actor: AgentActor
  readonly agent: Agent
  /** The process that all of this host session descends from; a name for it where no process tells. */
  readonly tree: ProcessRef
  readonly note: (line: string) => void
}

export interface HookOptions {
  readonly planned: PlannedWrite | undefined
  /** How long to wait for another process that writes to the store. */
  readonly busyMs: number
  readonly note: (line: string) => void
}

export async function hookOptions(call: HookCall, { cwd, env, clock }: HookSurroundings): Promise<CoordinationOptions> {
  return await roomOptions({ cwd: folderOf(call, cwd), env, clock, fleet: fleetDoor })
}

/** Acts as the agent of the host session, registered by then. What changed is in the ledger when this returns. `otherwise` where nothing is coordinated. */
export async function inRoom<T>(
  call: HookCall,
  around: HookSurroundings,
  { planned, busyMs, note }: HookOptions,
  act: (room: HookRoom) => Promise<T>,
  otherwise: T,
): Promise<T> {
  const folder = folderOf(call, around.cwd)
  const options = { ...(await hookOptions(call, around)), busyMs }
  // A folder that is no repository does not become a place of coordination because a host was started in it.
  if (options.project.gitCommonDir === undefined && !existsSync(storePath(options.project))) return otherwise
  const asking = askingFor(call, around)
  return await withRoom({ options, asking, note }, async (room) => {
    const found = caller(room, asking)
    const actor = await actAs(room, asking, found)
    const agent = room.store.read((rows) => rows.agent(actor.haid))
    if (agent === undefined) throw new HeimdallError('INTERNAL', `${actor.haid} acts and is not registered`)
    return await act({ call, planned, around, folder, room, found, actor, agent, tree: treeOf(call, asking), note })
  })
}

/**
 * Processes say whose hook this is. Inside an editor they do not: there the host's own id of the session is a name like
 * any other, with a key file of its own.
 */
export function askingFor(call: HookCall, { env, pid }: HookSurroundings): CallOrigin {
  const here = pid === undefined ? askingHere(env) : { env, place: placeOf(pid) }
  if (isPlaced(here) || call.sessionId === undefined) return here
  return { ...here, role: `${call.host}-${hash4(call.sessionId)}` }
}

const isPlaced = ({ place, env }: CallOrigin): boolean =>
  place?.session !== undefined || place?.host !== undefined || (env['HEIMDALL_SECRET'] ?? '') !== ''

function treeOf(call: HookCall, asking: CallOrigin): ProcessRef {
  if (asking.place !== undefined && isPlaced(asking)) return asking.place.tree
  return `session ${call.host} ${call.sessionId ?? 'unknown'}`
}

const hash4 = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 4)
