// All tools of the ledger, in the order of `tools/list`: the seed's six first.
import type { Tool } from './tool.ts'
import { blackboardGet, blackboardSet, brief, hydrate, resolve } from './tools/briefing.ts'
import { checkClaim, makeClaim, readClaims, releaseClaim } from './tools/claims.ts'

export const TOOLS: readonly Tool[] = [
  readClaims,
  makeClaim,
  releaseClaim,
  checkClaim,
  resolve,
  hydrate,
  brief,
  blackboardGet,
  blackboardSet,
]
