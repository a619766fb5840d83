// Where an agent's terminal is: a socket of this machine, or a session of another one, through the user's own ssh.
import type { Endpoint } from '../../client/endpoint.ts'
import type { Clock } from '../../clock.ts'
import { loadConfig, type MachineEntry } from '../../config.ts'
import { slug } from '../../coordination/who/haid.ts'
import { HeimdallError } from '../../errors.ts'
import { RemoteSession } from '../../sessions/remote/remote-session.ts'
import type { FleetAgent } from '../../spine/fleet/fleet.ts'
import { sessionPaths } from '../../wire/session-paths.ts'
import type { ProjectRoom } from '../project-room.ts'

export interface Reach {
  readonly room: ProjectRoom
  readonly clock: Clock
}

/** Whether there is one to be looked for. The id is that of an agent of the project, and never made a path of before. */
export const hasSession = ({ session_id: id, socket_dir: dir, elsewhere }: FleetAgent): boolean =>
  (id !== null && dir !== null) || (elsewhere !== null && elsewhere.session_id !== null)

export async function wayToSession(agent: FleetAgent, { room, clock }: Reach): Promise<Endpoint> {
  const { session_id: id, socket_dir: dir, elsewhere } = agent
  if (id !== null && dir !== null) return sessionPaths(dir, id).socket
  if (elsewhere === null || elsewhere.session_id === null)
    throw new HeimdallError('SESSION_NOT_FOUND', `${agent.agent_id} has no session here`)
  const { machine, session_id: there } = elsewhere
  const { env } = room.fleetOptions
  const { value } = (await loadConfig({ cwd: room.root, env })).machines
  const known = (value as readonly MachineEntry[]).find(({ name }) => slug(name) === machine)
  if (known === undefined)
    throw new HeimdallError('REMOTE_UNREACHABLE', `what ssh calls ${machine} is not known here`, {
      hint: `in your own heimdall.toml: [[machines]] with name = "${machine}" and ssh = the name that ssh knows it by`,
    })
  // The hub has no terminal to ask for a password in.
  return RemoteSession.find({ host: known.ssh, env, clock, isUnattended: true }, there)
}
