// Before a tool writes, and after it has run: claims decide before, and what a shell command did unasked is looked at after.
import { loadConfig } from '../../config.ts'
import type { Conflict } from '../../coordination/claims/conflicts.ts'
import { refusalText, settleWrite, writeScopes } from '../../coordination/claims/writes.ts'
import { oldCopyText } from '../../coordination/membership.ts'
import { strayWrites } from '../../coordination/claims/stray-writes.ts'
import { heartbeat } from '../../coordination/who/registration.ts'
import type { HookVerdict } from '../../hosts/hooks/hook-answer.ts'
import type { HookTool } from '../../hosts/hooks/hook-call.ts'
import type { HookRoom } from './hook-room.ts'
import type { PlannedWrite } from './known-verdict.ts'
import { leaveTrail, readTrail, type TrailLine } from '../../coordination/trail.ts'

const PASS: HookVerdict = { kind: 'pass' }

export async function beforeTool(hook: HookRoom): Promise<HookVerdict> {
  const { planned } = hook
  const { tool } = hook.call
  if (tool === undefined || planned === undefined) return PASS
  const verdict = await judge(hook, planned)
  leaveTrail(hook.room.project, hook.tree, {
    ...lineOf(hook, tool),
    ...(verdict.kind === 'deny' ? { denied: true as const } : {}),
  })
  return verdict
}

function lineOf({ call, around }: HookRoom, tool: HookTool): TrailLine {
  const { event, host, sessionId: session } = call
  return { at: around.clock.wallMs(), event, host, session, tool: tool.name, use: tool.useId }
}

async function judge({ room, actor, folder, around, call }: HookRoom, planned: PlannedWrite): Promise<HookVerdict> {
  const { tool, named, byGit, never } = planned
  if (never !== undefined) return deny(never)
  if (byGit.length > 0) {
    const settled = await settleWrite(room, actor, writeScopes(room, byGit), { claims: false })
    if (!settled.allowed) return deny(refusalText(settled.held, oldCopyText(room.store, room.now())))
  }
  const { claim_on_write: claims } = await loadConfig({ cwd: folder, env: around.env })
  const outcome = await settleWrite(room, actor, writeScopes(room, named), {
    claims: claims.value === true,
  })
  if (!outcome.allowed) return deny(refusalText(outcome.held, oldCopyText(room.store, room.now())))
  return {
    kind: 'pass',
    context: outcome.left.length === 0 ? undefined : outcome.left.map(leftText).join(' '),
    ...(tool.isUnread ? { warning: unreadText(call.host, tool) } : {}),
  }
}

const deny = (reason: string): HookVerdict => ({ kind: 'deny', reason })

const unreadText = (host: string, { name, isShell }: HookTool): string =>
  isShell
    ? `heimdall: nobody can tell what that ${name} command runs, so not every claim was checked`
    : `heimdall: ${host} did not say where ${name} writes, so no claim was checked`

const leftText = ({ wanted, agentId, liveness }: Conflict): string =>
  `${wanted} was claimed by ${agentId}, which is ${liveness}; heimdall claim takeover ${wanted} makes it yours.`

/** A shell command may have written where nobody could tell before: while it ran, who else was at work here? */
export async function afterTool(hook: HookRoom): Promise<HookVerdict> {
  const { call, room, actor, tree } = hook
  const { tool } = call
  if (tool === undefined) return PASS
  const trail = readTrail(room.project, tree).lines
  leaveTrail(room.project, tree, lineOf(hook, tool))
  await heartbeat(room, actor)
  const before = trail.findLast(
    ({ event, use, tool: name }) =>
      event === 'before-tool' && (use === undefined ? name === tool.name : use === tool.useId),
  )
  const missed = before === undefined && trail.length > 0
  if (!tool.isShell || before === undefined)
    return missed ? { kind: 'pass', warning: `heimdall: no hook was asked before ${tool.name}` } : PASS
  const incursions = await strayWrites(room, actor, before.at)
  return incursions.length === 0
    ? PASS
    : { kind: 'pass', context: `That command wrote where others are at work. ${refusalText(incursions)}` }
}
