// Whether a commit touches no claim at all, without identifying the committer: the usual answer, from few modules.
import { caseSensitive, checkParsed } from '../../coordination/claims/check-scopes.ts'
import { hasNews, ledgerSignature } from '../../coordination/ledger/ledger-files.ts'
import { oldCopyText } from '../../coordination/membership.ts'
import { roomOptions, type Surroundings } from '../../coordination/room-options.ts'
import { openView, type View } from '../../coordination/view.ts'
import { HeimdallError } from '../../errors.ts'
import { scopeOfPath } from '../../scopes/scope.ts'

/** True when no staged path is claimed and no agent is revoked. False also where only the full check can tell. */
export async function isCommitClear(here: Surroundings): Promise<boolean> {
  try {
    const options = await roomOptions(here)
    const signature = ledgerSignature(options.project)
    const view = openView(options)
    if (view === undefined) return Object.keys(signature).length === 0
    try {
      // An old fleet copy is accepted too, with a warning that the full check prints.
      if (oldCopyText(view.store, view.now()) !== undefined) return false
      return !hasNews(view, signature) && !isAnyRevoked(view) && (await isNothingHeld(view, here))
    } finally {
      view.store.close()
    }
  } catch (error) {
    // A broken store, or no git: the full check meets the same error and reports it.
    if (error instanceof HeimdallError) return false
    throw error
  }
}

/** The committer may be known by its processes alone, which are not inspected here. */
function isAnyRevoked(view: View): boolean {
  return view.store.read((rows) => rows.revokedAgents()).length > 0
}

async function isNothingHeld(view: View, here: Surroundings): Promise<boolean> {
  if (view.store.read((rows) => rows.claims({ state: 'active' })).length === 0) return true
  const { allStagedPaths } = await import('./git.ts')
  const isSensitive = caseSensitive(view)
  const scopes = allStagedPaths(here).map((path) => scopeOfPath(path, { caseSensitive: isSensitive }))
  return checkParsed(view, scopes, null).length === 0
}
