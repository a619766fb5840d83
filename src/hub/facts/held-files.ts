// Which claims hold which files of the map, by the same algebra that claims are decided by.
import { listClaims } from '../../coordination/claims/claims.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { basesMeet } from '../../scopes/base.ts'
import { holds } from '../../scopes/holds.ts'
import type { TreeReply } from '../contract.ts'

/** Ids of the claims that hold a path. */
export function claimsOn(room: Coordination): (path: string) => string[] {
  const claims = listClaims(room).map(({ claim }) => claim)
  return (path) =>
    claims
      .filter(({ scopes }) => scopes.some((scope) => basesMeet(scope.base, path) && holds(scope, path)))
      .map(({ claimId }) => claimId)
}

export function heldFiles(
  files: readonly Omit<TreeReply['files'][number], 'claims'>[],
  claimsOf: (path: string) => string[],
): TreeReply['files'] {
  return files.map((file) => ({ ...file, claims: claimsOf(file.path) }))
}
