// What a hook answers by reading alone: what no agent may write, and what others hold. The answer comes first, and needs no write to the store.
import { refusalText, writeScopes, writeStanding } from '../../coordination/claims/writes.ts'
import { withRoomToRead } from '../../coordination/frame.ts'
import { oldCopyText } from '../../coordination/membership.ts'
import { caller } from '../../coordination/who/caller.ts'
import { HeimdallError } from '../../errors.ts'
import type { HookVerdict } from '../../hosts/hooks/hook-answer.ts'
import type { HookCall, HookTool } from '../../hosts/hooks/hook-call.ts'
import { HOOK_RECORD_MS } from '../../limits.ts'
import { findProject } from '../../paths.ts'
import { withAliases } from './git-aliases.ts'
import { refusedAnyway } from './guarded-places.ts'
import { folderOf, type HookPath, isWriting, namedPaths, writtenPaths } from './hook-place.ts'
import { askingFor, hookOptions } from './hook-room.ts'
import type { HookSurroundings } from './pass-slip.ts'
import { pathsByGit } from './paths-by-git.ts'

/** What a tool is about to write. */
export interface PlannedWrite {
  readonly tool: HookTool
  readonly named: readonly HookPath[]
  /** Only git knows them: what goes into a commit, what a command would throw away. */
  readonly byGit: readonly HookPath[]
  /** Why it is refused, whichever agent holds the path. */
  readonly never: string | undefined
}

/** Nothing for an event before which nothing is checked, and where the folder is gone. */
export function plannedWrite(call: HookCall, { cwd, env }: HookSurroundings): PlannedWrite | undefined {
  if (call.tool === undefined || call.event !== 'before-tool') return undefined
  const folder = folderOf(call, cwd)
  try {
    const project = findProject(folder, env)
    const tool = withAliases(call.tool, folder, env)
    const written = writtenPaths(tool, folder, env)
    const never = refusedAnyway(tool, written, project, env)
    return { tool, named: namedPaths(written), byGit: pathsByGit(tool, folder, env), never }
  } catch (error) {
    // The folder is gone: the act that follows meets the same and reports it.
    if (error instanceof HeimdallError) return undefined
    throw error
  }
}

/** Nothing where nothing is coordinated, and where not even reading is possible. */
export async function knownVerdict(
  call: HookCall,
  around: HookSurroundings,
  { tool, named, byGit, never }: PlannedWrite,
  note: (line: string) => void,
): Promise<HookVerdict | undefined> {
  if (never !== undefined) return { kind: 'deny', reason: never }
  try {
    const options = { ...(await hookOptions(call, around)), busyMs: HOOK_RECORD_MS }
    const asking = askingFor(call, around)
    return await withRoomToRead(
      { options, note },
      (room): HookVerdict => {
        const { haid, refused } = caller(room, asking)
        if (refused?.error.code === 'AGENT_REVOKED' && isWriting(tool))
          return { kind: 'deny', reason: refused.error.message }
        const writer = { haid: refused === undefined ? haid : undefined, tree: asking.place?.tree }
        const { held } = writeStanding(room, writeScopes(room, [...byGit, ...named]), writer)
        if (held.length === 0) return { kind: 'pass' }
        return { kind: 'deny', reason: refusalText(held, oldCopyText(room.store, room.now())) }
      },
      () => undefined,
    )
  } catch (error) {
    if (error instanceof HeimdallError) return undefined
    throw error
  }
}
