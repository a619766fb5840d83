// What a hook refuses although claims cannot be read: for that nobody has to be asked who holds what.
import { HeimdallError } from '../../errors.ts'
import type { HookVerdict } from '../../hosts/hooks/hook-answer.ts'
import type { HookCall } from '../../hosts/hooks/hook-call.ts'
import { findProject } from '../../paths.ts'
import { withAliases } from './git-aliases.ts'
import { refusedAnyway } from './guarded-places.ts'
import { folderOf, writtenPaths } from './hook-place.ts'
import type { HookSurroundings } from './pass-slip.ts'

export function refusedWithoutStore(call: HookCall, { env, cwd }: HookSurroundings): HookVerdict | undefined {
  if (call.tool === undefined || call.event !== 'before-tool') return undefined
  const folder = folderOf(call, cwd)
  try {
    const tool = withAliases(call.tool, folder, env)
    const reason = refusedAnyway(tool, writtenPaths(tool, folder, env), findProject(folder, env), env)
    return reason === undefined ? undefined : { kind: 'deny', reason }
  } catch (error) {
    // The folder is gone: that is why nothing could be read, and it is reported as such.
    if (error instanceof HeimdallError) return undefined
    throw error
  }
}
