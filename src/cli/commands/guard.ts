// heimdall guard: check claims at each git commit and push.
import { GUARD_HOOKS } from '../../coordination/guard-mark.ts'
import { EXIT, HeimdallError } from '../../errors.ts'
import { escapeControls } from '../../ids.ts'
import type { CheckedHook } from '../../spine/guard/check-hook.ts'
import { isCommitClear } from '../../spine/guard/commit-clear.ts'
import type { Hook, RemovedHook } from '../../spine/guard/git-hooks.ts'
import { type Answer, type Command, command, type Context } from '../command.ts'
import { usageError } from '../usage-error.ts'

const UNINSTALLED: Readonly<Record<RemovedHook['outcome'], string>> = {
  removed: 'removed',
  restored: 'the earlier hook was restored',
  absent: 'was not installed',
  foreign: 'belongs to another program and was not changed',
}

export const commands: readonly Command[] = [
  command({
    names: ['heimdall guard install'],
    hidden: true,
    changes: true,
    summary: 'Install git hooks that check claims before commits and pushes',
    about:
      'Writes pre-commit, pre-push, prepare-commit-msg and post-commit hooks into the hooks folder of git, for all worktrees of the repository. Earlier hooks still run, before the guard. An agent can then not commit paths that another live agent holds; a human without an agent identity is warned. Installing again changes nothing.',
    examples: {
      'heimdall guard install': 'guard this repository',
      'heimdall guard install --json': 'the same, with the paths of the hooks',
    },
    output: 'hooks (hook, path, chained: where an earlier hook was moved, or null)',
    run: async ({ cwd, env }) => {
      const { installHooks, ownCommand } = await import('../../spine/guard/git-hooks.ts')
      const hooks = installHooks({ cwd, env }, ownCommand(process.execPath, process.argv[1] ?? ''))
      const lines = hooks.map(({ hook, path, chained }) =>
        escapeControls(`${hook}: ${path}${chained === null ? '' : ', after the earlier hook'}`),
      )
      return { data: { hooks }, text: lines.join('\n') }
    },
  }),
  command({
    names: ['heimdall guard uninstall'],
    hidden: true,
    changes: true,
    summary: 'Remove the git hooks and restore earlier ones',
    about: 'Needs a human: refused inside a session or a host.',
    examples: { 'heimdall guard uninstall': 'removes the guard and restores earlier hooks' },
    output: 'hooks (hook, outcome: removed, restored, absent or foreign)',
    run: async ({ cwd, env }) => {
      const [{ refuseAgent }, { uninstallHooks }] = await Promise.all([
        import('../../person.ts'),
        import('../../spine/guard/git-hooks.ts'),
      ])
      refuseAgent('heimdall guard uninstall')
      const hooks = uninstallHooks({ cwd, env })
      return { data: { hooks }, text: hooks.map(({ hook, outcome }) => `${hook}: ${UNINSTALLED[outcome]}`).join('\n') }
    },
  }),
  command({
    names: ['heimdall guard run'],
    hidden: true,
    summary: 'Check a commit or a push against claims; git hooks call it',
    about:
      'Exits 1 when an agent would commit or push paths that another live agent holds. The agent comes from HEIMDALL_HAID, HEIMDALL_AGENT_ID or BB_AGENT, or from the session; without one, a human at a terminal is warned and any other caller is refused like an agent. If the claims cannot be read, the commit proceeds and stderr says so.',
    args: [
      { name: 'hook', help: GUARD_HOOKS.join(', ') },
      { name: 'words', help: 'arguments that git passes to the hook', optional: true, variadic: true },
    ],
    examples: { 'heimdall guard run pre-commit': 'checks the staged paths' },
    output:
      'hook, outcome (clear, warn, refuse or unchecked), collisions (agentId, haid, liveness, held, paths, task, expiresAt)',
    run: async (context, { args }) => {
      const hook = GUARD_HOOKS.find((known) => known === args.hook)
      if (hook === undefined) throw usageError(`unknown hook ${args.hook}`, `known: ${GUARD_HOOKS.join(', ')}`)
      if (hook === 'pre-commit' && (await isCommitClear(context))) return answerOf(hook, 'clear', [])
      return await checkFully(context, hook, args.words)
    },
  }),
]

async function checkFully(context: Context, hook: Hook, words: readonly string[]): Promise<Answer> {
  const { cwd, env, note } = context
  const [{ checkHook, CLEAR, isFleetOutage, isOutage }, { recordCollisions }, { withStore, withStoreToRead }, person] =
    await Promise.all([
      import('../../spine/guard/check-hook.ts'),
      import('../../coordination/guard.ts'),
      import('../coordination-store.ts'),
      import('../../person.ts'),
    ])
  const stdin = async (): Promise<string> =>
    (await (await import('../stdin.ts')).readAll(context.stdin)).toString('utf8')
  try {
    const { verdict, committer } = await withStoreToRead<CheckedHook>(
      context,
      (db) => checkHook(db, { cwd, env, note, hook, words, stdin }),
      () => ({ verdict: CLEAR }),
      // The check prints the age of a fleet's copy itself.
      Number.POSITIVE_INFINITY,
    )
    const { outcome, collisions, contests } = verdict
    if (committer !== undefined && collisions.length + contests.length > 0)
      try {
        await withStore(context, (db) => recordCollisions(db, committer, verdict))
      } catch (error) {
        if (!(error instanceof HeimdallError) || !(isOutage(error) || isFleetOutage(error))) throw error
        note(`heimdall guard: the collision is not recorded: ${error.message}`)
      }
    return answerOf(
      hook,
      outcome,
      collisions.map(({ agentId, haid, liveness, held, pairs, task, expiresAt }) => ({
        agentId,
        haid,
        liveness,
        held,
        paths: pairs.map(({ wanted }) => wanted),
        task,
        expiresAt,
      })),
    )
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    if (!isOutage(error) && !(isFleetOutage(error) && person.whoActs().person)) throw error
    note(`heimdall guard: ${hook} was not checked: ${error.message}`)
    return answerOf(hook, 'unchecked', [])
  }
}

/** The hooks read the text; messages for the committer go to stderr. After the commit nothing can be refused. */
function answerOf(hook: Hook, outcome: string, collisions: readonly object[]): Answer {
  return {
    data: { hook, outcome, collisions },
    text: outcome,
    exit: outcome === 'refuse' && hook !== 'post-commit' ? EXIT.failure : EXIT.ok,
  }
}
