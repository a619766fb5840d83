// Runs the check of the settings on the files that a merge would make, in a checkout that is removed afterwards.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { Env, Project } from '../../paths.ts'
import { readStat } from '../../processes.ts'
import { copyFiles, includedFiles } from './carry-over.ts'
import { git, type Git, gitIn } from './git.ts'
import { registeredWorktrees } from './registered.ts'
import { failureOfCommand } from './shell-command.ts'

/** Undefined when the check succeeds. The setup of worktrees runs first, because a check needs what that installs. */
export async function failureOfCheck({
  project,
  commit,
  command,
  setup,
  env,
  clock,
}: {
  readonly project: Project
  readonly commit: string
  readonly command: string
  readonly setup: string | null
  readonly env: Env
  readonly clock: Clock
}): Promise<string | undefined> {
  const at = gitIn(project.root, env)
  await removeKilled(at)
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  const cwd = join(folder, 'merged')
  try {
    await git(at, ['worktree', 'add', '--quiet', '--detach', '--', cwd, commit])
    copyFiles(project.root, cwd, await includedFiles(at))
    for (const one of [setup, command]) {
      if (one === null) continue
      const failure = await failureOfCommand({ command: one, cwd, checkout: project.root, env, clock })
      if (failure !== undefined) return one === command ? failure : `its setup failed: ${failure}`
    }
    return undefined
  } finally {
    await remove(at, cwd)
  }
}

const PREFIX = 'heimdall-check-'

async function remove(at: Git, cwd: string): Promise<void> {
  await git(at, ['worktree', 'remove', '--force', '--', cwd], { answers: [128] })
  rmSync(dirname(cwd), { recursive: true, force: true })
}

/** Checkouts of checks that were killed; the name has the process that made it. */
async function removeKilled(at: Git): Promise<void> {
  const temporary = realpathSync(tmpdir())
  for (const { path } of await registeredWorktrees(at)) {
    const folder = dirname(path)
    const [, pid] = /^heimdall-check-(\d+)-/.exec(basename(folder)) ?? []
    if (pid !== undefined && dirname(folder) === temporary && readStat(Number(pid)) === undefined)
      await remove(at, path)
  }
}
