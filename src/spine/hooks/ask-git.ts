// A question to git in the middle of a hook.
import { execFileSync } from 'node:child_process'
import { GIT_ANSWER_BYTES_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'

/** What it prints; nothing where it says no, which it does with its exit code, or is not there. */
export function askGit(cwd: string, env: Env, args: readonly string[]): string {
  try {
    return execFileSync('git', [...args], {
      cwd,
      env: { ...env },
      maxBuffer: GIT_ANSWER_BYTES_MAX,
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    })
  } catch (error) {
    if (error instanceof Error && ('status' in error || 'code' in error)) return ''
    throw error
  }
}
