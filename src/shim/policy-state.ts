// Where decisions take their counters from: memory for a shim alone, one SQLite transaction a turn where shims share a run.
import { added, latestOf, shifted } from '../policy/decide/cells.ts'
import { decide, settle } from '../policy/decide/decide.ts'
import { MemoryCounters } from '../policy/decide/memory-counters.ts'
import { keysOf, type Plan } from '../policy/decide/plan.ts'
import type { CallEnd, CallFacts, CallResult, CellWrite, Counters, Verdict } from '../policy/types.ts'
import { type BootTime, RunCounters } from '../runs/counters.ts'

/**
 * Asked before anything is counted, where an answer of a person may be gone by then: false when it is, and then the call
 * has been stripped of it and is decided once more.
 */
export type Confirm = (verdict: Verdict) => boolean

export interface PolicyState {
  decide(plan: Plan, call: CallFacts, nowMs: number, confirm?: Confirm): Verdict
  settle(end: CallEnd, result: CallResult, nowMs: number): void
  /** What was decided since the last time counts when this returns, and nothing of it when it throws. Before that no call is sent on. */
  endTurn(nowMs: number): void
  close(): void
}

/** One process, one thread: nothing can come between reading and writing. */
export function memoryState(): PolicyState {
  const counters = new MemoryCounters()
  return {
    decide(plan, call, nowMs, confirm) {
      const verdict = decided(plan, call, counters, nowMs, confirm)
      if (verdict.writes.length > 0) counters.apply(verdict.writes, nowMs)
      return verdict
    },
    settle: (end, result, nowMs) => counters.apply(settle(end, result, counters, nowMs), nowMs),
    endTurn() {},
    close() {},
  }
}

function decided(
  plan: Plan,
  call: CallFacts,
  counters: Counters,
  nowMs: number,
  confirm: Confirm | undefined,
): Verdict {
  const verdict = decide(plan, call, counters, nowMs)
  return confirm === undefined || confirm(verdict) ? verdict : decide(plan, call, counters, nowMs)
}

export interface SharedState extends PolicyState {
  /** Enters what was counted elsewhere, beside what is there. */
  adopt(writes: readonly CellWrite[]): void
}

/** The counters of a run in its folder. */
export function sharedState(runDir: string, now: BootTime): SharedState {
  const cells = new RunCounters(runDir, { latestOf, shifted }, now)
  return {
    decide(plan, call, nowMs, confirm) {
      if (!plan.isStateful) return decided(plan, call, cells, nowMs, confirm)
      // The hash is made before the lock is taken, and only if a rule wants it.
      if (plan.needsArgsHash) void call.args_hash
      return cells.change(keysOf(plan, call), () => {
        const verdict = decided(plan, call, cells, nowMs, confirm)
        cells.apply(verdict.writes)
        return verdict
      })
    },
    settle(end, result, nowMs) {
      // A call that went well changes nothing, so it needs no transaction.
      if (result === 'done') return
      const keys = [...end.errorWindows.map(({ key }) => ({ key, args: '' })), ...end.dedupes]
      const isOfTurn = cells.isTurnOpen
      cells.change(keys, () => cells.apply(settle(end, result, cells, nowMs)))
      if (!isOfTurn) cells.endTurn(nowMs)
    },
    adopt(writes) {
      if (writes.length === 0) return
      cells.change(writes, () =>
        cells.apply(
          writes.map((write): CellWrite => {
            const kind = write.key.slice(0, write.key.indexOf(' '))
            const cell = write.cell === null ? null : added(kind, cells.get(write.key, write.args), write.cell)
            return { ...write, cell }
          }),
        ),
      )
      cells.endTurn(now.monoMs)
    },
    endTurn: (nowMs) => cells.endTurn(nowMs),
    close: () => cells.close(),
  }
}
