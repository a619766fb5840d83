// What a hook answers while a fleet's engine is away: nothing can be put on record or claimed, but what others are known to hold is in this machine's copy.
import { refusalText, writeScopes, writeStanding } from '../../coordination/claims/writes.ts'
import { oldCopyText } from '../../coordination/membership.ts'
import { openView } from '../../coordination/view.ts'
import { treeByParents } from '../../coordination/who/place.ts'
import type { HookVerdict } from '../../hosts/hooks/hook-answer.ts'
import type { HookCall } from '../../hosts/hooks/hook-call.ts'
import { findProject } from '../../paths.ts'
import { folderOf, namedPaths, writtenPaths } from './hook-place.ts'
import type { HookSurroundings } from './pass-slip.ts'
import { pathsByGit } from './paths-by-git.ts'

/** Nothing where there is nothing to refuse by. */
export function judgeFromCopy(call: HookCall, around: HookSurroundings): HookVerdict | undefined {
  const { tool, event } = call
  if (tool === undefined || event !== 'before-tool') return undefined
  const { env, clock } = around
  const folder = folderOf(call, around.cwd)
  const project = findProject(folder, env)
  const written = writtenPaths(tool, folder, env)
  const view = openView({ project, clock })
  if (view === undefined) return undefined
  try {
    const tree = treeByParents(around.pid)
    const own =
      tree === undefined
        ? undefined
        : view.store
            .read((rows) => rows.agentsOfTree(tree))
            .find(({ runtime }) => runtime.process === tree && runtime.endedMs === null)
    const paths = [...namedPaths(written), ...pathsByGit(tool, folder, env)]
    const { held } = writeStanding(view, writeScopes(view, paths), { haid: own?.haid, tree })
    if (held.length > 0) return { kind: 'deny', reason: refusalText(held, oldCopyText(view.store, view.now())) }
    return {
      kind: 'pass',
      warning: 'heimdall: the fleet’s engine is away; nobody is known to hold this, and nothing was claimed',
    }
  } finally {
    view.store.close()
  }
}
