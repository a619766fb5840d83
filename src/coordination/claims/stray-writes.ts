// Writes that nobody asked about before: files inside what others hold that changed while one agent alone was at work there.
import { FILE_TIME_STEP_MS } from '../../limits.ts'
import type { AgentActor } from '../change.ts'
import type { Coordination } from '../coordination.ts'
import type { Agent } from '../store.ts'
import { readTrail, type TrailLine } from '../trail.ts'
import { type Conflict, isBinding, type Standing, standingOf } from './conflicts.ts'
import { changedFiles } from './held-files.ts'
import { recordIncursions, writeScopes, writeStanding } from './writes.ts'

/**
 * Claims of others that the agent has written into since then, on record by now. Whose a write was is not guessed: one
 * that the holder or a third could have made as well is nobody's.
 */
export async function strayWrites(
  room: Coordination,
  actor: AgentActor,
  sinceMs: number,
): Promise<readonly Conflict[]> {
  const theirs = claimsOfOthers(room, actor)
  if (theirs.length === 0) return []
  const paths = changedFiles(
    room.project.root,
    theirs.flatMap(({ claim }) => claim.scopes),
    // What is written right after a moment may be stamped with one before it.
    sinceMs - FILE_TIME_STEP_MS,
  )
  if (paths.length === 0) return []
  const scopes = writeScopes(
    room,
    paths.map((path) => ({ path, isPattern: false })),
  )
  const { held } = writeStanding(room, scopes, { haid: actor.haid, tree: actor.tree })
  const strays = isAlone(room, actor, sinceMs) ? held.filter((conflict) => !mayBeHolders(room, conflict, sinceMs)) : []
  if (strays.length > 0) await recordIncursions(room, actor, strays)
  return strays
}

/** Those that bind. */
export function claimsOfOthers(room: Coordination, actor: Pick<AgentActor, 'haid' | 'tree'>): Standing[] {
  const now = room.now()
  return room.store.read((rows) =>
    rows
      .claims({ state: 'active' })
      .filter(({ holder, tree }) => holder !== actor.haid && (tree === null || tree !== actor.tree))
      .map((claim) => standingOf(room, rows, claim, now))
      .filter(isBinding),
  )
}

/** Nobody else whose hooks are heard had a tool at work in this checkout meanwhile. */
function isAlone(room: Coordination, actor: AgentActor, sinceMs: number): boolean {
  const agents = room.store.read((rows) => rows.agents())
  return agents
    .filter((agent) => agent.haid !== actor.haid && agent.runtime.endedMs === null && agent.runtime.tree !== null)
    .filter((agent) => room.fateOf(agent.runtime.tree ?? '') === 'alive' && agent.runtime.tree !== actor.tree)
    .every((agent) => !wasAtWork(linesOf(room, agent), sinceMs))
}

/** The holder works in this checkout, and nothing shows that it was idle. */
function mayBeHolders(room: Coordination, { claimId, haid }: Conflict, sinceMs: number): boolean {
  const { claim, holder } = room.store.read((rows) => ({ claim: rows.claim(claimId), holder: rows.agent(haid) }))
  if (claim === undefined || holder === undefined || claim.worktree !== room.project.root) return false
  const lines = linesOf(room, holder)
  const isGone = holder.runtime.tree !== null && room.fateOf(holder.runtime.tree) === 'gone'
  return !isGone && (lines.length === 0 || wasAtWork(lines, sinceMs))
}

const linesOf = (room: Coordination, { runtime }: Agent): readonly TrailLine[] =>
  runtime.tree === null ? [] : readTrail(room.project, runtime.tree).lines

/** A tool was begun and not ended by then, or begun since. */
export function wasAtWork(lines: readonly TrailLine[], sinceMs: number): boolean {
  const open = new Set<string>()
  for (const { at, event, use, tool, denied } of lines) {
    const key = use ?? tool ?? ''
    if (event === 'before-tool' && denied !== true) open.add(key)
    if (event === 'after-tool') {
      if (at >= sinceMs && open.has(key)) return true
      open.delete(key)
    }
    if (event === 'turn-end' || event === 'session-end') open.clear()
  }
  return open.size > 0
}
