// Commands of git with names of the user's choice: what they stand for is in git's configuration, and what that does is judged like any other command.
import type { HookTool } from '../../hosts/hooks/hook-call.ts'
import { aliasWrites, type GitAlias, type ShellWrites, together } from '../../shell/writes.ts'
import { HOOK_ALIASES_MAX } from '../../limits.ts'
import { type Env, homeDir } from '../../paths.ts'
import { askGit } from './ask-git.ts'
import { absolute } from './hook-place.ts'

/** The tool with what its aliases do; one alias may stand for another. */
export function withAliases(tool: HookTool, folder: string, env: Env): HookTool {
  if (tool.aliases.length === 0) return tool
  const found: (HookTool | ShellWrites)[] = [tool]
  const open = [...tool.aliases]
  for (let alias = open.shift(); alias !== undefined && found.length <= HOOK_ALIASES_MAX; alias = open.shift()) {
    const value = valueOf(alias, folder, env)
    if (value === undefined) continue
    const more = aliasWrites(alias, value)
    found.push(more)
    open.push(...more.aliases)
  }
  return { ...tool, ...together(found), aliases: [] }
}

function valueOf({ name, cwd }: GitAlias, folder: string, env: Env): string | undefined {
  // A name that no key of git's can have is no alias.
  if (!/^[\w-]+$/.test(name)) return undefined
  const at = absolute(folder, { path: '', cwd: cwd ?? '' }, homeDir(env))
  const value = askGit(at, env, ['config', '--get', `alias.${name}`]).trimEnd()
  return value === '' ? undefined : value
}
