// The one kind of error that requests to the hub end with.
import type { RefusalReply } from '../../../src/hub/contract.ts'

/** What the hub refused, or that it was not reached. */
export class HubError extends Error {
  readonly code: string
  readonly hint: string | null
  readonly stillWorks: string | null

  constructor(error: RefusalReply['error']) {
    super(error.message)
    this.code = error.code
    this.hint = error.hint
    this.stillWorks = error.still_works
  }
}

export const hubError = (
  code: string,
  message: string,
  hint: string | null,
  stillWorks: string | null = null,
): HubError => new HubError({ code, message, hint, still_works: stillWorks })
