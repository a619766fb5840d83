// May somebody write there? The one answer behind hooks, shim and watcher: who holds the paths, until when, and what to do about it.
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { LEASE_MINUTES_DEFAULT, SCOPES_PER_CLAIM_MAX } from '../../limits.ts'
import { parseScope, type Scope } from '../../scopes/scope.ts'
import { escapeText } from '../../scopes/tokens.ts'
import type { AgentActor } from '../change.ts'
import type { Coordination } from '../coordination.ts'
import type { Agent, Reader } from '../store.ts'
import type { View } from '../view.ts'
import type { ProcessRef } from '../who/process-ref.ts'
import { contextFor } from './check-scopes.ts'
import { type Conflict, findConflicts, isBinding } from './conflicts.ts'

/** A path that is to be written, or a pattern of such paths. */
export interface WritePath {
  /** Absolute, or from the root of the project on. */
  readonly path: string
  readonly isPattern: boolean
}

export interface WriteScope {
  readonly scope: Scope
  readonly isPattern: boolean
}

/** Those that lie in the project; what lies elsewhere is nobody's claim. */
export function writeScopes(view: Pick<View, 'project' | 'store'>, paths: readonly WritePath[]): WriteScope[] {
  const context = contextFor(view, view.project.root)
  return paths.flatMap(({ path, isPattern }) => {
    try {
      const scope = parseScope(isPattern ? path : escapeText(path), context)
      // What others are told is the path from the root on, whoever wrote it from where.
      return [{ scope: { ...scope, raw: scope.canonical }, isPattern }]
    } catch (error) {
      if (error instanceof HeimdallError && ['PATH_OUTSIDE_ROOT', 'SCOPE_INVALID'].includes(error.code)) return []
      throw error
    }
  })
}

/** Who writes: an identity, and the agents that were registered in the same process tree. */
interface Writer {
  readonly haid: string | undefined
  readonly tree: ProcessRef | undefined
}

export interface WriteStanding {
  /** Claims of others that bind: there is no writing there. */
  readonly held: readonly Conflict[]
  /** Of others that are long gone: to be told, and in nobody's way. */
  readonly left: readonly Conflict[]
  /** What nobody holds. */
  readonly free: readonly Scope[]
}

export function writeStanding(view: View, scopes: readonly WriteScope[], writer: Writer): WriteStanding {
  const now = view.now()
  return view.store.read((rows) => {
    const isOurs = ownership(rows, writer)
    const held = new Map<string, Conflict>()
    const left = new Map<string, Conflict>()
    const free: Scope[] = []
    for (const { scope, isPattern } of scopes) {
      const { holders } = findConflicts(view, rows, [scope], now)
      const others = holders.filter((conflict) => !isOurs(conflict))
      for (const conflict of others) (isBinding(conflict) ? held : left).set(conflict.claimId, conflict)
      if (holders.length === 0 && !isPattern) free.push(scope)
    }
    return { held: [...held.values()], left: [...left.values()], free }
  })
}

/** What was registered in the same tree is the same agent under another name of its own choice. */
function ownership(rows: Reader, { haid, tree }: Writer): (conflict: Conflict) => boolean {
  const ours = new Set(
    tree === undefined
      ? []
      : rows
          .agentsOfTree(tree)
          .filter(isSpoken)
          .map((agent) => agent.haid),
  )
  if (haid !== undefined) ours.add(haid)
  return (conflict) => ours.has(conflict.haid)
}

const isSpoken = ({ runtime }: Agent): boolean => runtime.client === null && runtime.endedMs === null

export type WriteOutcome =
  | { readonly allowed: true; readonly claimed: readonly string[]; readonly left: readonly Conflict[] }
  | { readonly allowed: false; readonly held: readonly Conflict[] }

/** Decides for good: a refusal is on record as INCURSION, and with `claims` what was free is the writer's from here on. */
export async function settleWrite(
  room: Coordination,
  actor: AgentActor,
  scopes: readonly WriteScope[],
  { claims }: { readonly claims: boolean },
): Promise<WriteOutcome> {
  const standing = writeStanding(room, scopes, { haid: actor.haid, tree: actor.tree })
  if (standing.held.length > 0) {
    await recordIncursions(room, actor, standing.held)
    return { allowed: false, held: standing.held }
  }
  const wanted = claims ? standing.free.slice(0, SCOPES_PER_CLAIM_MAX) : []
  if (wanted.length === 0) {
    const { heartbeat } = await import('../who/registration.ts')
    await heartbeat(room, actor)
    return { allowed: true, claimed: [], left: standing.left }
  }
  const { claimScopes } = await import('./claims.ts')
  const result = await claimScopes(room, actor, {
    scopes: wanted.map(({ canonical }) => canonical),
    cwd: room.project.root,
    task: null,
    intent: FIRST_WRITE,
    ttlMinutes: LEASE_MINUTES_DEFAULT,
  })
  // Somebody was faster between the look and the claim; the claim itself has put that on record.
  if (!result.granted && result.conflicts.some(isBinding))
    return { allowed: false, held: result.conflicts.filter(isBinding) }
  return { allowed: true, claimed: result.granted ? wanted.map(({ canonical }) => canonical) : [], left: standing.left }
}

/** Why a claim was made that nobody asked for. */
const FIRST_WRITE = 'first write'

export async function recordIncursions(
  room: Coordination,
  actor: AgentActor,
  held: readonly Conflict[],
): Promise<void> {
  const [{ changeAs }, { recordIncursion }] = await Promise.all([import('../change.ts'), import('./incursions.ts')])
  await changeAs(room, actor, (change, agent) => {
    for (const conflict of held) recordIncursion(change, agent, conflict)
  })
}

/** What the writer is told, the same at every door: what is held, by whom, until when, and what to do now. `old`: how old the copy is that says so. */
export function refusalText(held: readonly Conflict[], old?: string): string {
  const lines = held.slice(0, HOLDERS_SHOWN).map(heldLine)
  const more = held.length > HOLDERS_SHOWN ? [`And ${held.length - HOLDERS_SHOWN} more claims stand in the way.`] : []
  const age = old === undefined ? [] : [`As far as is known, for ${old}.`]
  return [...lines, ...more, ...age, adviceText(held)].join(' ')
}

const HOLDERS_SHOWN = 4

function heldLine({ wanted, agentId, liveness, held, task, expiresAt }: Conflict): string {
  const by = `${agentId} (${liveness})`
  const what = held === wanted ? '' : ` as ${shown(held)}`
  return `${shown(wanted)} is held by ${by}${what}${task === null ? '' : ` for ${shown(task)}`}, lease until ${expiresAt}.`
}

/** Names and tasks are other people's text: none of it may pass for ours. */
const shown = (text: string): string => (/^[\w./@#*:+-]+$/.test(text) ? text : printable(text))

function adviceText([first]: readonly Conflict[]): string {
  if (first === undefined) return ''
  const { agentId, wanted } = first
  return (
    `Do not write there by another way. Work on something else, or ask for it: heimdall note send --to ${agentId} ` +
    `--category BLOCKED --subject "need ${shown(wanted)}" --body "…"; heimdall claim wait ${shown(wanted)} waits for the release.`
  )
}
