// A machine that is called otherwise since it joined or left a fleet is still who it was: agents that it made under an earlier name are its own, where the key is here.
import { HeimdallError } from '../../errors.ts'
import { isSecretOf } from '../change.ts'
import type { Coordination } from '../coordination.ts'
import { formerNames } from '../membership.ts'
import type { Agent, Reader } from '../store.ts'
import { parseHaid, rootHaid } from './haid.ts'
import { readKey } from './key-files.ts'

type Room = Pick<Coordination, 'project' | 'rootHaid'>

/** The HAID that this machine acts under as `role`, or as everybody: the one of today, unless one of an earlier name is there to go on with. */
export function haidHere(room: Room, rows: Reader, role?: string): string {
  const names = formerNames(rows)
  const below = (root: string): string => (role === undefined ? root : `${root}/${role}`)
  const today = below(room.rootHaid)
  if (names.length === 0) return today
  const { human } = parseHaid(room.rootHaid)
  const earlier = names.map((host) => below(rootHaid({ email: undefined, user: human, host, root: room.project.root })))
  return [today, ...earlier].find((haid) => isKeptHere(room, rows.agent(haid))) ?? today
}

/** The key of its session is on this machine. */
export function isKeptHere({ project }: Pick<Room, 'project'>, agent: Agent | undefined): boolean {
  if (agent === undefined) return false
  try {
    const secret = readKey(project, agent.haid, agent.runtime.secretHash)
    return secret !== undefined && isSecretOf(agent, secret)
  } catch (error) {
    // Another user's, or one that others can read, is no key.
    if (!(error instanceof HeimdallError) || error.code !== 'IDENTITY_UNPROVEN') throw error
    return false
  }
}
