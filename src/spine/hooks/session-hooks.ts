// The life of a host session: it begins and is briefed, takes a prompt, ends a turn, is compacted, and is over.
import { endSession } from '../../coordination/who/enrol.ts'
import { heartbeat } from '../../coordination/who/registration.ts'
import { fateOf } from '../../coordination/who/process-ref.ts'
import { clearTrails, leaveTrail, readTrail, type TrailLine } from '../../coordination/trail.ts'
import { listClaims } from '../../coordination/claims/claims.ts'
import type { HookVerdict } from '../../hosts/hooks/hook-answer.ts'
import { sessionBrief, unreadNotes } from './brief.ts'
import { coverageOf, missedCalls } from './coverage.ts'
import type { HookRoom } from './hook-room.ts'
import { bookCost } from './session-cost.ts'
import { inRun } from './person-waits.ts'

const PASS: HookVerdict = { kind: 'pass' }

function leave({ call, around, room, tree, agent }: HookRoom, more: Partial<TrailLine> = {}): void {
  const { event, host, sessionId: session, transcript } = call
  const at = around.clock.wallMs()
  leaveTrail(room.project, tree, { at, event, host, session, agent: agent.agentId, transcript, ...more })
}

/** From here on the session is an agent with a run, and knows who else is at work. */
export async function sessionStart(hook: HookRoom): Promise<HookVerdict> {
  const { room, actor, agent, tree } = hook
  clearTrails(room.project, (one) => fateOf(one) === 'gone')
  leave(hook)
  await heartbeat(room, actor)
  await inRun(hook, () => undefined)
  const coverage = coverageOf(room.project, readTrail(room.project, tree))
  return { kind: 'pass', context: await sessionBrief(room, agent, coverage) }
}

export async function prompt(hook: HookRoom): Promise<HookVerdict> {
  const { room, actor, agent } = hook
  leave(hook)
  await heartbeat(room, actor)
  const notes = unreadNotes(room, agent)
  return notes === '' ? PASS : { kind: 'pass', context: notes }
}

/** What hooks should have been asked about in this turn, and were not, is noticed now: the session is advisory from here on. */
export async function turnEnd(hook: HookRoom): Promise<HookVerdict> {
  const { call, room, actor, tree } = hook
  const missed = missedCalls(call, readTrail(room.project, tree))
  leave(hook, { missed })
  await heartbeat(room, actor)
  await bookCost(hook)
  return missed.length === 0
    ? PASS
    : {
        kind: 'pass',
        warning: `heimdall: ${missed.length} calls of this turn were made without asking a hook, so claims are advice now; heimdall doctor says why`,
      }
}

export async function subagentEnd({ room, actor }: HookRoom): Promise<HookVerdict> {
  await heartbeat(room, actor)
  return PASS
}

/** What the agent held is what it will have to know again. */
export async function beforeCompact(hook: HookRoom): Promise<HookVerdict> {
  const { room, agent, actor, around, note } = hook
  leave(hook)
  await heartbeat(room, actor)
  const held = listClaims(room, { holder: agent.haid }).flatMap(({ claim }) => claim.scopes.map(({ raw }) => raw))
  const { writeSessionCapsule } = await import('./session-capsule.ts')
  writeSessionCapsule(room.project, around.clock, note, agent.agentId, held)
  return PASS
}

/** A `/clear` ends a talk and not the agent; and of an agent of a run, the watcher sees the end. */
export async function sessionEnd(hook: HookRoom): Promise<HookVerdict> {
  const { call, room, actor, found } = hook
  leave(hook)
  await bookCost(hook)
  if (found.as !== 'session' && found.proof !== 'secret' && call.reason !== 'clear' && call.reason !== 'resume')
    await endSession(room, actor)
  return PASS
}
