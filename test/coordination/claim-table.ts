// The claim table as one person with pencil and paper would keep it, and the histories that random workers leave behind.
import type { Deed } from '../fixtures/claim-worker.ts'
import type { Operation, SequentialModel } from '../support/linearizability.ts'

export type Call = (Deed & { readonly agent: string }) | { readonly do: 'silence'; readonly agent: string }
export type Step = Operation<Call, string>

interface State {
  /** `agent scope`, in order of the alphabet. */
  readonly held: readonly string[]
  readonly silent: readonly string[]
}

export const overlaps = (a: string, b: string): boolean => a === b || a === 'x/**' || b === 'x/**'

export const table: SequentialModel<State, Call, string> = {
  initial: { held: [], silent: [] },
  apply(state, call) {
    const { agent } = call
    if (call.do === 'silence')
      return { state: { ...state, silent: [...new Set([...state.silent, agent])].sort() }, result: 'done' }
    // Whoever acts is alive.
    const silent = state.silent.filter((name) => name !== agent)
    const claims = state.held.map((entry) => entry.split(' ') as [string, string])
    const own = `${agent} ${call.scope}`
    if (call.do === 'claim' || call.do === 'takeover') {
      const others = claims.filter(([holder, scope]) => holder !== agent && overlaps(scope, call.scope))
      const isGranted = others.every(([holder]) => call.do === 'takeover' && silent.includes(holder))
      if (!isGranted) return { state: { ...state, silent }, result: 'denied' }
      const left = claims.filter((claim) => !others.includes(claim)).map((claim) => claim.join(' '))
      return { state: { held: [...new Set([...left, own])].sort(), silent }, result: 'granted' }
    }
    if (state.held.includes(own)) {
      const held = call.do === 'release' ? state.held.filter((entry) => entry !== own) : state.held
      return { state: { held, silent }, result: 'done' }
    }
    const isElsewhere = claims.some(([, scope]) => scope === call.scope)
    return { state: { ...state, silent }, result: isElsewhere ? 'RELEASE_FORBIDDEN' : 'RESERVATION_NOT_FOUND' }
  },
}

/** From what one worker has said. */
export function parse(stdout: string): Step[] {
  const lines = stdout.split('\n').slice(0, -1)
  return lines.flatMap((line, i): Step[] => {
    if (!line.startsWith('call ')) return []
    const { at, ...call } = JSON.parse(line.slice(5)) as Deed & { agent: string; at: number }
    const next = lines[i + 1]
    // Killed before it heard the answer: it may have happened or not.
    if (next === undefined) return [{ call, calledAt: at, returnedAt: at }]
    const done = JSON.parse(next.slice(5)) as { result: string; at: number }
    return [{ call, result: done.result, calledAt: at, returnedAt: done.at }]
  })
}
