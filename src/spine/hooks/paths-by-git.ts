// What only git knows of a command: what goes into a commit, and what would be taken away without being named. Git is asked before, since afterwards it is gone.
import { resolve } from 'node:path'
import type { HookTool } from '../../hosts/hooks/hook-call.ts'
import type { GitLoss } from '../../shell/writes.ts'
import { type Env, homeDir } from '../../paths.ts'
import { askGit } from './ask-git.ts'
import { commitPaths } from './commit-paths.ts'
import { absolute, type HookPath } from './hook-place.ts'

/** Of all that a tool has git do. */
export const pathsByGit = (tool: Pick<HookTool, 'commit' | 'losses'>, folder: string, env: Env): HookPath[] => [
  ...(tool.commit === null ? [] : commitPaths(tool.commit, folder, env)),
  ...lostPaths(tool.losses, folder, env),
]

function lostPaths(losses: readonly GitLoss[], folder: string, env: Env): HookPath[] {
  return losses.flatMap(({ cwd: below, question }) => {
    const cwd = absolute(folder, { path: '', cwd: below }, homeDir(env))
    const answer = askGit(cwd, env, question.args)
    if (answer === '') return []
    if (question.answer === 'would-remove')
      return removals(answer).map((path) => ({ path: resolve(cwd, path), isPattern: false, isGone: true as const }))
    const root = askGit(cwd, env, ['rev-parse', '--show-toplevel']).trimEnd()
    return answer
      .split('\0')
      .filter((path) => path !== '')
      .map((path) => ({ path: resolve(root, path), isPattern: false }))
  })
}

/** `Would remove a`, and with odd characters in it `Would remove "a\tb"`. */
const removals = (answer: string): string[] =>
  answer.split('\n').flatMap((line) => {
    const name = /^Would remove ([^]+)$/.exec(line)?.[1]
    if (name === undefined) return []
    return [name.startsWith('"') ? name.slice(1, -1).replaceAll(/\\([0-7]{3}|[^])/g, unescaped) : name]
  })

const NAMED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\u0007', b: '\b', f: '\f', v: '\v' }

const unescaped = (_: string, sign: string): string =>
  /^\d/.test(sign) ? String.fromCharCode(Number.parseInt(sign, 8)) : (NAMED[sign] ?? sign)
