// Calls counted by what became of them. Apart from what reads them from records: a look at the fleet only adds up.
import type { CallTotals } from './fleet/fleet.ts'

export const NO_CALLS: CallTotals = { total: 0, allowed: 0, blocked: 0, throttled: 0, errors: 0, hinted: 0 }

export function sumOf(a: CallTotals, b: CallTotals): CallTotals {
  return {
    total: a.total + b.total,
    allowed: a.allowed + b.allowed,
    blocked: a.blocked + b.blocked,
    throttled: a.throttled + b.throttled,
    errors: a.errors + b.errors,
    hinted: a.hinted + b.hinted,
  }
}
