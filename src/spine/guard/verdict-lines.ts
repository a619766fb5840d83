// The messages of the git guard to a committer: who holds which path, until when, and what to do.
import type { Committer, GuardVerdict } from '../../coordination/guard.ts'
import { printable } from '../../ids.ts'
import { GUARD_LINES_MAX } from '../../limits.ts'
import type { Hook } from './git-hooks.ts'

export function verdictLines(hook: Hook, committer: Committer, { outcome, collisions }: GuardVerdict): string[] {
  if (outcome === 'clear') return []
  const what = hook === 'pre-push' ? 'push' : 'commit'
  const head =
    committer.kind === 'agent' && committer.isRevoked
      ? `heimdall guard: ${committer.agentId} is revoked and may not ${what}`
      : hook === 'post-commit'
        ? 'heimdall guard: this commit bypassed the guard and changes paths that others hold; recorded'
        : outcome === 'refuse'
          ? `heimdall guard: ${what} refused, other agents hold paths in it`
          : `heimdall guard: warning, other agents hold paths in this ${what}`
  const lines = collisions.flatMap(({ pairs, agentId, liveness, held, task, expiresAt }) =>
    pairs.map(
      ({ wanted }) =>
        `  ${quoted(wanted)}  held by ${agentId} (${liveness}) as ${quoted(held)}${task === null ? '' : ` for ${quoted(task)}`} until ${expiresAt}`,
    ),
  )
  const shown = lines.slice(0, GUARD_LINES_MAX)
  const rest = lines.length > shown.length ? [`  and ${lines.length - shown.length} more`] : []
  return [head, ...shown, ...rest, ...advice(hook, committer, outcome)]
}

/** Names and tasks are untrusted text: escaped, so that they cannot move the cursor or imitate our output. */
const quoted = (text: string): string => (/^[\w./@#*:+-]+$/.test(text) ? text : printable(text))

function advice(hook: Hook, committer: Committer, outcome: GuardVerdict['outcome']): string[] {
  if (hook === 'post-commit') return []
  if (committer.kind === 'agent' && !committer.isProven)
    return [`hint: nothing proves that this is ${committer.agentId}; register, or commit inside heimdall run`]
  if (outcome === 'refuse')
    return [
      hook === 'pre-push'
        ? 'hint: ask for a handoff, or wait for the release, and push again; or take these paths out of the commits (git rebase -i)'
        : 'hint: ask for a handoff, wait for the release, or leave these paths out (git restore --staged)',
    ]
  return ['hint: heimdall why PATH shows who holds it and why']
}
