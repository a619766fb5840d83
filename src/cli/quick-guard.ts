// The clear answer of the guard before a commit without the frame. Whatever else there is to say, the frame runs the hook from the start and says it.
import { systemClock } from '../clock.ts'
import { caseSensitive, checkParsed } from '../coordination/claims/check-scopes.ts'
import { oldCopyText } from '../coordination/membership.ts'
import { hasNews, ledgerSignature } from '../coordination/ledger/ledger-files.ts'
import { openView, type View } from '../coordination/view.ts'
import { HeimdallError } from '../errors.ts'
import type { Env } from '../paths.ts'
import { scopeOfPath } from '../scopes/scope.ts'
import { roomOptions } from '../coordination/room-options.ts'

/** True when nobody at all holds what is staged, and nobody is revoked. */
export async function isCommitClear(env: Env, cwd: string): Promise<boolean> {
  try {
    const options = await roomOptions({ cwd, env, clock: systemClock, configFile: undefined })
    const signature = ledgerSignature(options.project)
    const view = openView(options)
    if (view === undefined) return Object.keys(signature).length === 0
    try {
      // An old copy is let through as well, and that is said.
      if (oldCopyText(view.store, view.now()) !== undefined) return false
      return !hasNews(view, signature) && !isAnybodyRevoked(view) && (await isNothingHeld(view, env, cwd))
    } finally {
      view.store.close()
    }
  } catch (error) {
    // A broken store, or no git: the frame meets the same error and reports it in full.
    if (error instanceof HeimdallError) return false
    throw error
  }
}

/** Who commits may be known by its processes alone, and those are not looked at here. */
function isAnybodyRevoked(view: View): boolean {
  return view.store.read((rows) => rows.revokedAgents()).length > 0
}

async function isNothingHeld(view: View, env: Env, cwd: string): Promise<boolean> {
  if (view.store.read((rows) => rows.claims({ state: 'active' })).length === 0) return true
  const { allStagedPaths } = await import('./commands/guard/git.ts')
  const isSensitive = caseSensitive(view)
  const scopes = allStagedPaths({ cwd, env }).map((path) => scopeOfPath(path, { caseSensitive: isSensitive }))
  return checkParsed(view, scopes, null).length === 0
}
