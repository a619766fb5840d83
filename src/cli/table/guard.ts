// Commands of the git guard.
import { type Command, spec } from '../command.ts'

export const guardInstall = spec({
  names: ['heimdall guard install'],
  changes: true,
  summary: 'make git ask about claims before commits and pushes',
  about:
    'Puts pre-commit, pre-push, prepare-commit-msg and post-commit hooks into the folder that git runs hooks from, for all worktrees of the repository. Hooks that are there already keep running, before the guard. An agent may then not commit paths that another live agent holds; a person without an identity is warned. Installing again changes nothing.',
  examples: [
    { run: 'heimdall guard install', does: 'guard this repository' },
    { run: 'heimdall guard install --json', does: 'the same, with the paths of the hooks' },
  ],
  errors: ['GUARD_NO_REPOSITORY', 'GUARD_HOOKS_ELSEWHERE', 'GUARD_HOOK_FOREIGN', 'GIT_FAILED'],
  output: { hooks: 'each hook with its path, and where an earlier hook was set aside' },
})

export const guardUninstall = spec({
  names: ['heimdall guard uninstall'],
  changes: true,
  summary: 'take the guard out of git and put earlier hooks back',
  about: 'Not for agents: inside a session or a host it is refused.',
  examples: [{ run: 'heimdall guard uninstall', does: 'leave the hooks as they were before' }],
  errors: ['GUARD_NO_REPOSITORY', 'GUARD_HOOKS_ELSEWHERE', 'PERSON_REQUIRED', 'GIT_FAILED'],
  output: { hooks: 'each hook, and whether it was removed, restored, absent or not ours' },
})

export const guardRun = spec({
  names: ['heimdall guard run'],
  summary: 'what the hooks call: check a commit or a push against claims',
  about:
    'Exits 1 when an agent would commit or push paths that another live agent holds. The agent is HEIMDALL_HAID, HEIMDALL_AGENT_ID or BB_AGENT of the environment, or the session; without one it is a person at a terminal, who is warned, or nobody in particular, who is stopped like an agent. If the claims cannot be read, the commit goes on and stderr says so.',
  args: [
    { name: 'hook', help: 'pre-commit, pre-push, prepare-commit-msg or post-commit' },
    { name: 'words', help: 'what git passes to the hook', optional: true, variadic: true },
  ],
  examples: [{ run: 'heimdall guard run pre-commit', does: 'check what is staged' }],
  errors: ['GIT_FAILED'],
  output: {
    hook: 'the hook',
    outcome: 'clear, warn or refuse',
    collisions: 'each claim in the way: agent, scope, paths, task, expiry',
  },
})

export const guardCommands: readonly Command[] = [
  { spec: guardInstall, load: () => import('../commands/guard/install.ts') },
  { spec: guardUninstall, load: () => import('../commands/guard/uninstall.ts') },
  { spec: guardRun, load: () => import('../commands/guard/run.ts') },
]
