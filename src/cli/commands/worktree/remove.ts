// heimdall worktree remove: an agent's worktree, when nothing is lost with it.
import { findProject } from '../../../paths.ts'
import { requirePerson } from '../../../person.ts'
import { repositoryOf } from '../../../spine/worktrees/give.ts'
import { removeWorktree } from '../../../spine/worktrees/remove-worktree.ts'
import type { Run } from '../../command.ts'
import type { worktreeRemove } from '../../table/worktree.ts'
import { removedRecord, removedText } from './removed.ts'

export const run: Run<typeof worktreeRemove> = async ({ cwd, env }, { flags, args: { agent } }) => {
  if (flags.force === true) requirePerson('heimdall worktree remove --force')
  const project = findProject(cwd, env)
  repositoryOf(project)
  const removed = await removeWorktree({
    project,
    agent,
    isForced: flags.force === true,
    keepsBranch: flags['keep-branch'] === true,
    env,
  })
  return { data: removedRecord(removed), text: removedText(removed) }
}
