// The counters of a run: in its folder where shims share it, once it is joined; in memory until then, and for a shim alone.
import type { Clock } from '../clock.ts'
import type { SharedRun } from '../runs/open-run.ts'
import { POLICY_WINDOWS_MAX } from '../limits.ts'
import type { CellWrite, Verdict } from '../policy/types.ts'
import { bootId } from '../boot-id.ts'
import { memoryState, type PolicyState, type SharedState, sharedState } from './policy-state.ts'

/** Opened with the first call that needs a counter: most tools of most policies need none. */
export function stateOfRun(run: SharedRun | null, clock: Clock): PolicyState {
  const memory = memoryState()
  if (run === null) return memory
  const { runDir, whenJoined } = run
  /** What was counted before the run was joined; it is entered in the run's counters then. */
  const early = new Map<string, CellWrite>()
  let isJoined = false
  let shared: SharedState | undefined
  whenJoined(() => (isJoined = true))
  const opened = (): PolicyState => {
    if (shared === undefined) {
      const opening = sharedState(runDir, { bootId: bootId(), monoMs: clock.monoMs() })
      try {
        opening.adopt([...early.values()])
      } catch (error) {
        opening.close()
        throw error
      }
      early.clear()
      shared = opening
    }
    return shared
  }
  const remembered = (verdict: Verdict): Verdict => {
    for (const write of verdict.writes) {
      if (early.size >= POLICY_WINDOWS_MAX) early.delete(early.keys().next().value ?? '')
      early.set(write.key + write.args, write)
    }
    return verdict
  }
  return {
    decide(plan, call, nowMs, confirm) {
      if (!plan.isStateful) return memory.decide(plan, call, nowMs, confirm)
      return isJoined
        ? opened().decide(plan, call, nowMs, confirm)
        : remembered(memory.decide(plan, call, nowMs, confirm))
    },
    settle: (end, result, nowMs) => (isJoined ? opened() : memory).settle(end, result, nowMs),
    endTurn: (nowMs) => shared?.endTurn(nowMs),
    close: () => shared?.close(),
  }
}
