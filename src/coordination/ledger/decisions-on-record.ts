// Decisions and conflicts of a team on record: an event first, from which the ledger's pages are written (seed 000 T-4).
import { HeimdallError } from '../../errors.ts'
import { parseId, printable } from '../../ids.ts'
import { DECISION_BODY_CHARS_MAX, LABEL_CHARS_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import { parseScopes } from '../../scopes/scope.ts'
import { caseSensitive, checkParsed, contextFor } from '../claims/check-scopes.ts'
import type { Coordination } from '../coordination.ts'
import { dirtyPaths, pathsWithin } from '../claims/dirty.ts'
import { type AgentActor, changeAs, unknownAgent } from '../change.ts'
import { parseHaid, slug } from '../who/haid.ts'
import { dropBranch, type Preserved, preserveOnBranch } from '../claims/preserve.ts'
import { heartbeat } from '../who/registration.ts'

export interface DecisionRequest {
  readonly title: string
  readonly body: string
}

/** Returns the time it is filed under. */
export async function recordDecision(
  room: Coordination,
  actor: AgentActor,
  { title, body }: DecisionRequest,
): Promise<number> {
  checkTexts({ title, body })
  return changeAs(room, actor, (change, agent) => {
    change.record({ type: 'DECISION_RECORDED', payload: { title, body, haid: agent.haid } })
    return change.now.wallMs
  })
}

export interface ConflictRequest {
  readonly id: string
  readonly title: string
  readonly surfaces: readonly string[]
  readonly displacedHaid?: string | undefined
  readonly overridingIntent?: string | undefined
  readonly displacedIntent?: string | undefined
}

export interface RaisedConflict {
  /** `conflicts/{date}-{id}.md`, below the ledger's folder. */
  readonly page: string
  readonly preserved: Preserved
  /** Uncommitted paths that are on the branch now. */
  readonly paths: readonly string[]
  readonly displacedHaid: string | null
}

/** Keeps the displaced work on a branch, then records the conflict. Nothing is recorded when the work cannot be kept, and no branch is left when it cannot be recorded. */
export async function raiseConflict(
  room: Coordination,
  actor: AgentActor,
  env: Env,
  request: ConflictRequest,
): Promise<RaisedConflict> {
  const id = parseConflictId(request.id)
  const { title, overridingIntent = '', displacedIntent = '' } = request
  checkTexts({ title, body: `${overridingIntent}${displacedIntent}` || title })
  const date = new Date(room.clock.wallMs()).toISOString().slice(0, 10)
  const page = `conflicts/${date}-${id}.md`
  const known = room.store.read((rows) => rows.events({ types: ['CONFLICT_RAISED'] }))
  if (known.some(({ payload }) => payload['page'] === page))
    throw new HeimdallError('CONFLICT_EXISTS', `${page} is there already`, { hint: 'choose another id' })
  const scopes = parseScopes(request.surfaces, contextFor(room, room.project.root))
  const [held] = checkParsed(room, scopes, { haid: actor.haid, tree: actor.tree })
  const displacedHaid = request.displacedHaid ?? held?.haid ?? null
  if (displacedHaid !== null) refuseUnknown(room, displacedHaid)
  const claim = room.store
    .read((rows) => (displacedHaid === null ? [] : rows.claims({ holder: displacedHaid })))
    .findLast((claim) => claim.origin === 'local')
  const worktree = claim?.worktree ?? room.project.root
  const paths = pathsWithin(dirtyPaths({ ...room.project, root: worktree }), scopes, caseSensitive(room))
  const task = slug(claim?.task ?? '') || slug(id) || 'work'
  // An agent that may change nothing makes no branch either.
  await heartbeat(room, actor)
  const preserved = preserveOnBranch(worktree, env, {
    branch: `displaced/${slug(displacedHaid ?? 'unknown') || 'unknown'}-${task}`,
    paths,
    message: `Work displaced by conflict ${id}\n\n${title}`,
  })
  await changeAs(room, actor, (change, agent) =>
    change.record({
      type: 'CONFLICT_RAISED',
      scope: request.surfaces.join(' '),
      payload: {
        page,
        id,
        title,
        surfaces: request.surfaces,
        overriding_haid: agent.haid,
        displaced_haid: displacedHaid,
        overriding_intent: overridingIntent,
        displaced_intent: displacedIntent,
        branch: preserved.branch,
        commit: preserved.commit,
        paths: paths.slice(0, PATHS_RECORDED),
      },
    }),
  ).catch((error: unknown) => {
    const isInDoubt = error instanceof HeimdallError && error.code === 'OUTCOME_UNKNOWN'
    if (!isInDoubt) dropBranch(worktree, env, preserved)
    throw error
  })
  return { page, preserved, paths, displacedHaid }
}

/** A branch is named after the agent whose work it keeps. */
function refuseUnknown(room: Coordination, haid: string): void {
  parseHaid(haid)
  room.store.read((rows) => {
    if (rows.agent(haid) === undefined) throw unknownAgent(haid, rows)
  })
}

const PATHS_RECORDED = 200

/** It becomes part of a file's name and of a branch's, where two dots in a row mean something else. */
function parseConflictId(text: string): string {
  const id = parseId('conflict', text)
  if (!id.includes('..')) return id
  throw new HeimdallError('ID_INVALID', `conflict ${printable(id)} has two dots in a row`, {
    hint: 'use a hyphen instead',
  })
}

function checkTexts({ title, body }: DecisionRequest): void {
  if (title.trim() === '' || title.length > LABEL_CHARS_MAX || /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(title))
    throw new HeimdallError('INVALID_ARGS', `title ${printable(title)} is blank, too long or has control characters`, {
      hint: `one line of at most ${LABEL_CHARS_MAX} characters`,
    })
  if (body.trim() === '' || body.length > DECISION_BODY_CHARS_MAX)
    throw new HeimdallError(
      'INVALID_ARGS',
      `a text of ${body.length} characters, 1 to ${DECISION_BODY_CHARS_MAX} allowed`,
    )
}
