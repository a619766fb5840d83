// The answer to nearly every hook, by one look at the store: nothing is written, or what is written is held by the one who writes. Whatever else there is to say, the long way says it.
import { writeScopes, writeStanding } from '../../coordination/claims/writes.ts'
import { hasNews, ledgerSignature } from '../../coordination/ledger/ledger-files.ts'
import { openView, type View } from '../../coordination/view.ts'
import type { Agent } from '../../coordination/store.ts'
import { fateOf, type ProcessRef } from '../../coordination/who/process-ref.ts'
import { HeimdallError } from '../../errors.ts'
import type { HookCall } from '../../hosts/hooks/hook-call.ts'
import { HOOK_BEAT_MS } from '../../limits.ts'
import { refusedAnyway } from './guarded-places.ts'
import { namedPaths, writtenPaths } from './hook-place.ts'
import { type Asked, askedOf, type HookSurroundings, leavePass, putSlip, stateBefore } from './pass-slip.ts'

/** True when the host may go on and nobody has anything to be told. */
export function mayPass(call: HookCall, around: HookSurroundings): boolean {
  try {
    const asked = askedOf(call, around)
    return asked !== undefined && passes(asked)
  } catch (error) {
    // A broken store, a folder that is gone: the long way meets the same and reports it.
    if (error instanceof HeimdallError) return false
    throw error
  }
}

function passes(asked: Asked): boolean {
  const { call, tool, folder, project, tree, around } = asked
  const { env, clock } = around
  const on = stateBefore(asked)
  const view = openView({ project, clock })
  if (view === undefined) return false
  try {
    if (hasNews(view, ledgerSignature(project))) return false
    const agent = beatingAgent(view, tree)
    if (agent === undefined || isAnyRevokedAtWork(view)) return false
    const isNothingHeld = !isAnythingHeld(view, agent)
    // After a shell command somebody has to look whether it wrote where others are at work.
    if (call.event === 'after-tool' && tool.isShell && !isNothingHeld) return false
    if (call.event === 'before-tool') {
      const paths = writtenPaths(tool, folder, env)
      if (refusedAnyway(tool, paths, project, env) !== undefined) return false
      const { held, left, free } = writeStanding(view, writeScopes(view, namedPaths(paths)), { haid: agent.haid, tree })
      if (held.length + left.length + free.length > 0) return false
    }
    if (on !== undefined) putSlip(asked, on, { beatMs: agent.beat.at.monoMs, isNothingHeld })
  } finally {
    view.store.close()
  }
  leavePass(asked)
  return true
}

/** One that has given a sign of life just now; any other gives one, which is the long way. */
function beatingAgent(view: View, tree: ProcessRef): Agent | undefined {
  const now = view.now()
  return view.store
    .read((rows) => rows.agentsOfTree(tree))
    .find(
      ({ runtime, beat, revokedMs }) =>
        runtime.process === tree &&
        runtime.endedMs === null &&
        revokedMs === null &&
        beat.at.boot === now.boot &&
        now.monoMs - beat.at.monoMs < HOOK_BEAT_MS,
    )
}

/** Whether this host descends from one of them takes a look at processes. */
const isAnyRevokedAtWork = (view: View): boolean =>
  view.store
    .read((rows) => rows.revokedAgents())
    .some(({ runtime }) =>
      [runtime.process, runtime.tree].some((process) => process !== null && fateOf(process) !== 'gone'),
    )

const isAnythingHeld = (view: View, agent: Agent): boolean =>
  view.store.read((rows) => rows.claims({ state: 'active' })).some(({ holder }) => holder !== agent.haid)
