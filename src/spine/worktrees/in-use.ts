// Who is at work in a worktree: processes that are in its folder, and the session above them.
import { basename } from 'node:path'
import { contains, type Env, runsDirOf } from '../../paths.ts'
import { lineOf } from '../../person.ts'
import { isStillAlive, lookAtProcesses } from '../../processes.ts'
import { supervisedBy } from '../../supervisor-process.ts'
import { readSheet, sheetPaths } from '../kept-run.ts'

export interface AtWork {
  readonly pid: number
  readonly program: string
  /** The session that runs it, if one does. */
  readonly session: string | undefined
}

/** Nobody where the system does not tell which folder a process is in. */
export function atWorkIn(path: string): AtWork[] {
  const table = lookAtProcesses()
  return table
    .all()
    .filter(({ pid, isZombie }) => {
      const folder = isZombie ? undefined : table.folderOf(pid)
      // A git that outlived its caller makes it still, from elsewhere.
      return (folder !== undefined && contains(path, folder)) || isMaking(table.commandWords(pid), path)
    })
    .map(({ pid }) => ({
      pid,
      program: basename(table.commandWords(pid)[0] ?? 'a program'),
      session: lineOf(table, pid)
        .map((above) => supervisedBy(table, above))
        .find((id) => id !== undefined),
    }))
}

const isMaking = (words: readonly string[], path: string): boolean =>
  basename(words[0] ?? '') === 'git' && words[1] === 'worktree' && words.includes(path)

/** The session that an agent runs in there: by the sheet of its run, and by processes for sessions that are no run. */
export function sessionIn(path: string, env: Env): string | undefined {
  const run = sheetPaths(runsDirOf(env))
    .map(readSheet)
    .find((one) => one?.project.root === path && isStillAlive(one.session.supervisor))
  return run?.session.id ?? atWorkIn(path).find(({ session }) => session !== undefined)?.session
}
