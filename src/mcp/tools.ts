// All tools of the ledger, in the order of `tools/list`: the seed's six first.
import { listing, type Tool, type ToolListing } from './tool.ts'
import { blackboardGet, blackboardSet, brief, hydrate, resolve } from './tools/briefing-tools.ts'
import { checkClaim, makeClaim, readClaims, releaseClaim } from './tools/claim-tools.ts'
import { appendDecision, raiseConflictPr, readCapsules } from './tools/ledger-tools.ts'
import { inbox } from './tools/note-tools.ts'

export const TOOLS: readonly Tool[] = [
  readClaims,
  makeClaim,
  releaseClaim,
  readCapsules,
  appendDecision,
  raiseConflictPr,
  checkClaim,
  inbox,
  resolve,
  hydrate,
  brief,
  blackboardGet,
  blackboardSet,
]

export { checkInput } from './tool.ts'

export function findTool(name: string): Tool | undefined {
  return TOOLS.find((tool) => tool.name === name)
}

export function listTools(): ToolListing[] {
  return TOOLS.map(listing)
}
