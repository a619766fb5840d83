// How well an agent is guarded, of what its hooks and its calls tell. Pure.
import type { CallTotals, Guard } from './fleet.ts'

/** Without a hook there is what a shim holds back, which is less: what a program writes by itself passes none. */
export function guardOf(hooks: Guard | undefined, calls: CallTotals | null): Guard {
  const shim = calls !== null && calls.total > 0 ? ['shim'] : []
  if (hooks !== undefined) return { ...hooks, by: [...hooks.by, ...shim] }
  const evidence =
    shim.length > 0
      ? 'its MCP calls pass a shim; no hook was ever called for what it writes by itself'
      : 'no hook of its session was ever called'
  return { kind: 'advisory', by: shim, evidence }
}
