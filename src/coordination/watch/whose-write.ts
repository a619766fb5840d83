// Whose a write was that nobody asked about. It is not guessed: an agent has written what no other could have, or what it has open.
import { join } from 'node:path'
import { WATCH_MARK_MS } from '../../limits.ts'
import { contains } from '../../paths.ts'
import { lookAtProcesses } from '../../processes.ts'
import { type Conflict } from '../claims/conflicts.ts'
import { wasAtWork } from '../claims/stray-writes.ts'
import type { Coordination } from '../coordination.ts'
import type { Moment } from '../moment.ts'
import { readTrail } from '../trail.ts'
import { isOver, livenessIn } from '../who/alive.ts'
import { silenceMs } from '../who/liveness.ts'
import { pidOf, type ProcessRef } from '../who/process-ref.ts'
import type { Agent, Reader } from '../store.ts'
import type { Sample, TreeWrites } from './tree-writes.ts'

/** `unclear`: the holder has not, and several others could have. `elsewhere`: nothing shows that it was this agent. */
export type Whose =
  | { readonly by: 'own' | 'elsewhere' }
  | { readonly by: 'unclear'; readonly suspects: readonly string[] }

export interface SeenWrite {
  /** From the root on. */
  readonly path: string
  readonly conflict: Conflict
  readonly atMs: number
  /** It was written after this. */
  readonly since: Sample
}

export function whoseWrite(
  room: Coordination,
  own: Agent,
  tree: ProcessRef,
  writes: TreeWrites,
  writing: SeenWrite,
): Whose {
  const { path, conflict } = writing
  if (writes.isWriting(tree, join(room.project.root, path))) return { by: 'own' }
  // The agent itself first: of most writes of others that is all there is to look at.
  if (!hasLikely(room, tree, writes, writing)) return { by: 'elsewhere' }
  const others = suspects(room, own, tree, writes)
  const holder = others.find(({ haid }) => haid === conflict.haid)
  const claim = room.store.read((rows) => rows.claim(conflict.claimId))
  // In another work tree the holder has files of its own; in this one its writes are what the claim is for.
  if (holder !== undefined && claim?.worktree === room.project.root && couldHave(room, holder, writes, writing))
    return { by: 'elsewhere' }
  const rest = others.filter((agent) => agent.haid !== conflict.haid && couldHave(room, agent, writes, writing))
  return rest.length === 0
    ? { by: 'own' }
    : { by: 'unclear', suspects: [own.agentId, ...rest.map(({ agentId }) => agentId)] }
}

/** Everybody else who is at work, or was just now; what was registered inside of the tree is the same agent under another name. */
export function suspects(room: Coordination, own: Agent, tree: ProcessRef, writes: TreeWrites): Agent[] {
  const now = room.now()
  return room.store.read((rows) =>
    rows
      .agents()
      .filter(({ haid, origin, runtime }) => haid !== own.haid && origin === 'local' && runtime.tree !== tree)
      .filter((agent) => wasHere(room, rows, agent, now))
      .filter(({ runtime }) => ![runtime.tree, runtime.process].some((ref) => isWithin(writes, tree, ref))),
  )
}

/** One that has ended may have written last of all, and one that begins has no process of its own yet. */
function wasHere(room: Coordination, rows: Reader, agent: Agent, now: Moment): boolean {
  const { endedMs } = agent.runtime
  if (endedMs !== null) return now.wallMs - endedMs < WATCH_MARK_MS
  if (isOver(room, agent)) return silenceMs(agent.beat, agent.seen, now) < WATCH_MARK_MS
  return livenessIn(room, rows, agent, now) !== 'evicted'
}

const isWithin = (writes: TreeWrites, tree: ProcessRef, ref: ProcessRef | null): boolean =>
  ref !== null && writes.isMember(tree, pidOf(ref))

/** Of another, who is in doubt a suspect: unless it was idle, or is at work elsewhere. */
function couldHave(room: Coordination, { runtime }: Agent, writes: TreeWrites, writing: SeenWrite): boolean {
  const { tree } = runtime
  // No process to look at: it lives by its beats, and may be anywhere.
  if (tree === null || room.fateOf(tree) !== 'alive') return true
  const { path, atMs, since } = writing
  if (writes.isWriting(tree, join(room.project.root, path))) return true
  const folder = lookAtProcesses().folderOf(pidOf(tree))
  if (folder !== undefined && !contains(room.project.root, folder)) return false
  const { lines } = readTrail(room.project, tree)
  if (lines.length === 0) return writes.hasWritten(tree, since, 'nobody') !== false
  return wasAtWork(lines, atMs) || writes.hasWritten(tree, since, 'first') !== false
}

/** Of the agent itself, who in doubt is none: something has to show that it was at work. */
function hasLikely(room: Coordination, tree: ProcessRef, writes: TreeWrites, { atMs, since }: SeenWrite): boolean {
  const { lines } = readTrail(room.project, tree)
  if (lines.length === 0) return writes.hasWritten(tree, since, 'nobody') === true
  return wasAtWork(lines, atMs) || writes.hasWritten(tree, since, 'first') === true
}
