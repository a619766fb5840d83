// May these paths be claimed or written to? Reads, and nothing else.
import { parseScopes, type Scope, type ScopeContext } from '../../scopes/scope.ts'
import { type Asker, type Conflict, type Contest, findConflicts, isOwn } from './conflicts.ts'
import { measureCase, scopeContext } from './lookup.ts'
import type { View } from '../view.ts'

/** May these scopes be claimed or written to by whoever asks? Changes nothing, locks nothing. */
export function checkScopes(
  view: View,
  request: { readonly scopes: readonly string[]; readonly cwd: string; readonly asker: Asker | null },
): { scopes: readonly Scope[]; conflicts: readonly Conflict[]; contests: readonly Contest[] } {
  const scopes = parseScopes(request.scopes, contextFor(view, request.cwd))
  return { scopes, ...lookAt(view, scopes, request.asker) }
}

/** The same for scopes that are made already, such as the paths of a commit. */
export function checkParsed(view: View, scopes: readonly Scope[], asker: Asker | null): readonly Conflict[] {
  return lookAt(view, scopes, asker).conflicts
}

function lookAt(
  view: View,
  scopes: readonly Scope[],
  asker: Asker | null,
): { conflicts: readonly Conflict[]; contests: readonly Contest[] } {
  const now = view.now()
  const { holders, contests } = view.store.read((rows) => findConflicts(view, rows, scopes, now))
  const conflicts = asker === null ? holders : holders.filter((conflict) => !isOwn(view, asker, conflict))
  return { conflicts, contests }
}

/** Is the claim that a write relies on still the holder's, under this epoch? For whoever writes in the name of a claim. */
export function isFenced(
  view: View,
  claim: { readonly claimId: string; readonly epoch: number; readonly holder: string },
): boolean {
  const found = view.store.read((rows) => rows.claim(claim.claimId))
  return found?.state !== 'active' || found.epoch !== claim.epoch || found.holder !== claim.holder
}

export function contextFor(view: Pick<View, 'project' | 'store'>, cwd: string): ScopeContext {
  return scopeContext(view.project, cwd, caseSensitive(view))
}

export const CASE_SETTING = 'case-sensitive'

/** Measured once, at the first claim, and then kept: stored scopes were made under it. */
export function caseSensitive(view: Pick<View, 'project' | 'store'>): boolean {
  const known = view.store.read((rows) => rows.localSetting(CASE_SETTING))
  return known === undefined ? measureCase(view.project) : known === 'yes'
}
