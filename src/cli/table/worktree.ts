// Commands of agents' worktrees: what they have done, and how it comes back.
import { type Command, spec } from '../command.ts'

export const worktreeList = spec({
  names: ['heimdall worktree list'],
  summary: 'Agents’ worktrees: what each has done, and who collides with whom',
  about:
    'Ahead, behind and merged are told against the branch that the worktree was made from. Files that two agents have changed, each on its own branch, are named: whoever is merged second meets them.',
  examples: [
    { run: 'heimdall worktree list', does: 'one line for each agent' },
    { run: 'heimdall worktree list --json', does: 'the same with every path' },
  ],
  errors: ['WORKTREE_NO_REPOSITORY', 'GIT_FAILED'],
  output: {
    worktrees:
      'each with agent, path, state (ready, half made, gone, absent), branch, base, against, ahead, behind, merged (history, content, no), dirty, copies_changed, unfinished, locked, session, collides_with',
  },
})

export const worktreeDiff = spec({
  names: ['heimdall worktree diff'],
  summary: 'What an agent has changed, committed or not',
  about:
    'From the last commit that the agent’s work has in common with the branch it was made from, to the files as they are now, untracked ones among them. With --since from where the worktree stood then, by its reflog; of what is not committed, files that nothing has touched since are left out, and lines of the others may be older. It is git’s own diff, with your pager and settings.',
  args: [{ name: 'agent', help: 'whose; default: the one whose worktree this is, or the only one', optional: true }],
  flags: {
    stat: { type: 'boolean', help: 'how much in which files' },
    'name-only': { type: 'boolean', help: 'names of files' },
    since: {
      type: 'string',
      value: 'TIME|COMMIT',
      help: 'from then on: 2h for two hours ago, a time such as 2026-11-16T08:00Z, or a commit',
    },
  },
  examples: [
    { run: 'heimdall worktree diff amber-otter', does: 'everything that amber-otter has changed' },
    { run: 'heimdall worktree diff amber-otter --since 2h', does: 'what it has changed in the last two hours' },
    { run: 'heimdall worktree diff amber-otter --stat', does: 'how much in which files' },
  ],
  errors: ['WORKTREE_NO_REPOSITORY', 'WORKTREE_NOT_FOUND', 'WORKTREE_HALF_MADE', 'SINCE_UNKNOWN', 'GIT_FAILED'],
  output: {
    agent: 'the agent',
    from: 'commit that the diff begins at',
    tip: 'last commit of the agent',
    files: 'each with path, status, lines added and deleted (null for binary files)',
  },
})

export const worktreeMerge = spec({
  names: ['heimdall worktree merge'],
  changes: true,
  summary: 'Bring an agent’s commits into your branch',
  about:
    'Tried in memory first: where both sides have changed the same lines, or a file of your checkout that is not committed would be overwritten, nothing is changed and the files are named. It is your git merge, with your hooks and settings.',
  args: [{ name: 'agent', help: 'whose work' }],
  flags: {
    squash: { type: 'boolean', help: 'as one commit' },
    message: { type: 'string', value: 'TEXT', short: 'm', help: 'message of the merge or of the one commit' },
    into: { type: 'string', value: 'BRANCH', help: 'another branch than that of this checkout' },
    commit: {
      type: 'string',
      value: 'TEXT',
      help: 'first commit in the worktree, with this message, what is not committed',
    },
    remove: { type: 'boolean', help: 'then remove the worktree and its branch' },
    'while-running': { type: 'boolean', help: 'although the agent is still at work there' },
  },
  examples: [
    { run: 'heimdall worktree merge amber-otter', does: 'merges its branch into the one that is checked out here' },
    {
      run: 'heimdall worktree merge amber-otter --squash -m "Login form" --remove',
      does: 'takes it over as one commit and clears up',
    },
  ],
  errors: [
    'WORKTREE_NO_REPOSITORY',
    'WORKTREE_NOT_FOUND',
    'WORKTREE_HALF_MADE',
    'WORKTREE_UNCOMMITTED',
    'WORKTREE_UNFINISHED',
    'WORKTREE_IN_USE',
    'WORKTREE_CONFLICT',
    'WORKTREE_TARGET_UNFIT',
    'WORKTREE_TARGET_DIRTY',
    'WORKTREE_UNMERGED',
    'GIT_FAILED',
    'STORE_BUSY',
  ],
  output: {
    how: 'nothing new, fast-forward, merge or squash',
    into: 'the branch',
    commits: 'how many commits of the agent came',
    from: 'tip of the agent’s work',
    before: 'tip of the branch before',
    after: 'tip of the branch now',
    checkout: 'the checkout that has the branch; null when none has',
    committed: 'commit that --commit made, or null',
    left_behind: 'commits on the branch that the agent began with and then left; they were not merged',
    removed: 'what --remove did, or null',
  },
})

export const worktreeRemove = spec({
  names: ['heimdall worktree remove'],
  changes: true,
  summary: 'Remove an agent’s worktree when nothing is lost with it',
  about:
    'What is not committed is never removed, whatever is said. Commits that no other branch has are refused; a person may say --force, and then they stay under refs/heimdall/removed/. Files that git ignores go with the folder.',
  args: [{ name: 'agent', help: 'whose' }],
  flags: {
    'keep-branch': { type: 'boolean', help: 'remove the folder and keep the branch' },
    force: { type: 'boolean', help: 'also with unmerged commits; takes a person at a terminal' },
  },
  examples: [
    { run: 'heimdall worktree remove amber-otter', does: 'removes the folder and the branch, when all is merged' },
    { run: 'heimdall worktree remove amber-otter --keep-branch', does: 'removes the folder alone' },
  ],
  errors: [
    'WORKTREE_NO_REPOSITORY',
    'WORKTREE_NOT_FOUND',
    'WORKTREE_UNCOMMITTED',
    'WORKTREE_UNFINISHED',
    'WORKTREE_UNMERGED',
    'WORKTREE_IN_USE',
    'PERSON_REQUIRED',
    'GIT_FAILED',
    'STORE_BUSY',
  ],
  output: {
    agent: 'the agent',
    path: 'the folder that was removed',
    deleted_branch: 'the branch that went with it, or null',
    kept_branch: 'the branch that stays, or null',
    kept_under: 'refs that keep commits which no branch has any more',
  },
})

export const worktreeCommands: readonly Command[] = [
  { spec: worktreeList, load: () => import('../commands/worktree/list.ts') },
  { spec: worktreeDiff, load: () => import('../commands/worktree/diff.ts') },
  { spec: worktreeMerge, load: () => import('../commands/worktree/merge.ts') },
  { spec: worktreeRemove, load: () => import('../commands/worktree/remove.ts') },
]
