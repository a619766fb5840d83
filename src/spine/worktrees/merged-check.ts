// Runs the check of the settings on the files that a merge would make, in a checkout that is removed afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { Env, Project } from '../../paths.ts'
import { copyFiles, includedFiles } from './carry-over.ts'
import { git, gitIn } from './git.ts'
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
  const folder = mkdtempSync(join(tmpdir(), 'heimdall-check-'))
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
    await git(at, ['worktree', 'remove', '--force', '--', cwd], { answers: [128] })
    rmSync(folder, { recursive: true, force: true })
  }
}
