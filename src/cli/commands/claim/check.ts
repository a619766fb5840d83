// heimdall claim check, heimdall-claim check: asked before every edit, so nothing is loaded that a clear path does not need.
import { checkScopes } from '../../../coordination/claims/check-scopes.ts'
import { hasNews, ledgerSignature } from '../../../coordination/ledger/ledger-files.ts'
import { oldCopyText } from '../../../coordination/membership.ts'
import { FLEET_CHECK_OLD_MS } from '../../../limits.ts'
import { openView } from '../../../coordination/view.ts'
import { hasFleets } from '../../../fleet/fleets-folder.ts'
import type { Answer, Run } from '../../command.ts'
import type { claimCheck } from '../../table/coordination.ts'
import { type Surroundings, roomOptions } from '../../../coordination/room-options.ts'

export const run: Run<typeof claimCheck> = async (context, input) => {
  const isClear = await isClearForAll(context, input.args.scope)
  if (isClear) return clear(input.args.scope)
  // Somebody holds it, perhaps the caller; or files arrived that have to be taken in first.
  return (await import('./check-slowly.ts')).run(context, input)
}

/** True when nobody at all is in the way: then it does not matter who asks. */
export async function isClearForAll(context: Surroundings, scopes: readonly string[]): Promise<boolean> {
  const options = await roomOptions(context)
  const signature = ledgerSignature(options.project)
  const view = openView(options)
  // A member whose copy is gone does not know who holds what, which is the long way too.
  if (view === undefined) return Object.keys(signature).length === 0 && !hasFleets(context.env)
  try {
    // An old copy says so, which is the long way.
    if (hasNews(view, signature) || oldCopyText(view.store, view.now(), FLEET_CHECK_OLD_MS) !== undefined) return false
    return checkScopes(view, { scopes, cwd: context.cwd, asker: null }).conflicts.length === 0
  } finally {
    view.store.close()
  }
}

/** `old`: what is to be said of the copy that it is read from. */
export function clear(scopes: readonly string[], old?: string): Answer {
  const data = { granted: true, conflicts: [] }
  return { data: old === undefined ? data : { ...data, as_of: old }, text: clearText(scopes), seedJson: data }
}

export function clearText(scopes: readonly string[]): string {
  return `clear: ${scopes.join(' ')}`
}
