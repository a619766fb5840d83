// Identities of process trees: what runs in a session, or in a terminal of its own, is somebody without being told who.
import { createHash } from 'node:crypto'
import { isOver } from './alive.ts'
import type { Coordination } from '../coordination.ts'
import { enrol, newSecret, newSession } from './enrol.ts'
import { type Change, speaksFor } from '../change.ts'
import { rootOf, slug } from './haid.ts'
import { aliasOf } from './registration.ts'
import { pidOf, type ProcessRef } from './process-ref.ts'
import type { Agent, Reader } from '../store.ts'

/** The agent that was made for this tree, if there is one. */
export function agentMadeFor(room: Pick<Coordination, 'fateOf'>, rows: Reader, tree: ProcessRef): Agent | undefined {
  return rows
    .agentsOfTree(tree)
    .find((agent) => agent.runtime.process === tree && speaksFor(agent, tree) && !isOver(room, agent))
}

/** Makes it on first need. It ends with the process that the tree descends from, and no file has its secret. */
export function enrolTree(room: Coordination, change: Change, tree: ProcessRef, role: string): Agent {
  const known = agentMadeFor(room, change.rows, tree)
  if (known !== undefined) return known
  const haid = haidOfTree(room, change.rows, tree, role)
  const earlier = change.rows.agent(haid)
  const origin = { secret: newSecret(room), process: tree, tree }
  return earlier === undefined
    ? enrol(room, change, { haid, agentId: aliasOf(change.rows, haid), role, displayName: haid, ...origin }).agent
    : newSession(room, change, earlier, origin).agent
}

/** The same each time it is asked, until somebody takes it: with four digits of the tree where the plain name is another's. */
export function haidOfTree(room: Coordination, rows: Reader, tree: ProcessRef, role: string): string {
  const root = rootOf(room.rootHaid)
  for (let turn = 0; ; turn += 1) {
    const haid = turn === 0 ? `${root}/${role}` : `${root}/${role}-${hash4(`${tree} ${turn}`)}`
    if (isFree(room, rows, haid)) return haid
  }
}

/** A name whose last bearer is gone and holds nothing. */
function isFree(room: Coordination, rows: Reader, haid: string): boolean {
  const known = rows.agent(haid)
  return (
    known === undefined ||
    (known.origin === 'local' &&
      known.revokedMs === null &&
      isOver(room, known) &&
      rows.claims({ holder: haid, state: 'active' }).length === 0)
  )
}

/** The suffix of a session: its id where that can be one, otherwise what is left of it and four digits of its hash. */
export function sessionRole(sessionId: string): string {
  const plain = slug(sessionId)
  if (plain === sessionId) return plain
  return slug(`${plain.slice(0, 19)}-${hash4(sessionId)}`)
}

function hash4(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 4)
}

/** The suffix of a host that runs by itself: `claude-code`, `codex`. */
export const hostRole = (host: string): string => slug(host) || 'host'

/** The suffix of a terminal, or of whatever else a tree descends from. */
export const treeRole = (tree: ProcessRef): string => `p${pidOf(tree)}`

export interface SetApart {
  readonly agent: Agent
  /** Who it was taken for until now. */
  readonly from: Agent
}

/** A tree that met another one of the same HAID gets a name of its own, and takes along what it has claimed. */
export function setApart(room: Coordination, change: Change, from: Agent, tree: ProcessRef): SetApart {
  const agent = enrolTree(room, change, tree, treeRole(tree))
  for (const claim of change.rows.claims({ holder: from.haid, state: 'active' })) {
    if (claim.tree !== tree) continue
    change.rows.putClaim({ ...claim, holder: agent.haid })
    change.record({
      type: 'UPDATE',
      actor: agent.agentId,
      claimId: claim.claimId,
      task: claim.task,
      payload: { haid: agent.haid, prior_holder: from.haid, epoch: claim.epoch },
    })
  }
  return { agent, from }
}
