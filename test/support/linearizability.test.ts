// The checker's own proof: textbook histories, planted faults, brute force on small histories, and speed on long ones.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkLinearizability, type Operation, type SequentialModel } from './linearizability.ts'
import { seededRandom } from './seed.ts'

type Call =
  | { readonly do: 'read' }
  | { readonly do: 'write'; readonly value: number }
  | { readonly do: 'swap'; readonly from: number; readonly to: number }
type Result = number | boolean | null

const register: SequentialModel<number, Call, Result> = {
  initial: 0,
  apply(state, call) {
    switch (call.do) {
      case 'read':
        return { state, result: state }
      case 'write':
        return { state: call.value, result: null }
      case 'swap':
        return state === call.from ? { state: call.to, result: true } : { state, result: false }
      default:
        return call satisfies never
    }
  },
}

type History = Operation<Call, Result>[]
const isFine = (history: History): boolean => checkLinearizability(register, history).isLinearizable
const write = (value: number, calledAt: number, returnedAt: number): Operation<Call, Result> => ({
  call: { do: 'write', value },
  result: null,
  calledAt,
  returnedAt,
})
const read = (result: number, calledAt: number, returnedAt: number): Operation<Call, Result> => ({
  call: { do: 'read' },
  result,
  calledAt,
  returnedAt,
})

test('textbook histories', () => {
  expect(isFine([])).toBe(true)
  expect(isFine([write(1, 0, 10), read(1, 5, 6), read(0, 1, 2)])).toBe(true)
  // Once somebody has read the new value, nobody may read the old one later.
  expect(isFine([write(1, 0, 10), read(1, 1, 2), read(0, 3, 4)])).toBe(false)
  expect(isFine([write(1, 0, 1), read(0, 2, 3)])).toBe(false)
})

test('an operation without an answer may have happened, late, or never', () => {
  const lost: Operation<Call, Result> = { call: { do: 'write', value: 7 }, calledAt: 0, returnedAt: 0 }
  expect(isFine([lost, read(0, 1, 2), read(7, 3, 4)])).toBe(true)
  expect(isFine([lost, read(0, 1, 2)])).toBe(true)
  expect(isFine([lost, read(7, 1, 2), read(0, 3, 4)])).toBe(false)
  expect(isFine([{ ...lost, calledAt: 10 }, read(7, 1, 2)])).toBe(false)
})

test('the verdict names an operation that nothing explains', () => {
  const verdict = checkLinearizability(register, [write(1, 0, 1), read(5, 2, 3), write(2, 4, 5)])
  expect(verdict).toEqual({ isLinearizable: false, stuck: read(5, 2, 3) })
})

/** Tries every order of every choice of the operations without an answer. */
function bruteForce(history: History): boolean {
  const search = (state: number, left: History): boolean => {
    if (left.every((op) => !('result' in op))) return true
    return left.some((op) => {
      const mustComeFirst = left.some((other) => other !== op && 'result' in other && other.returnedAt < op.calledAt)
      if (mustComeFirst) return false
      const next = register.apply(state, op.call)
      if ('result' in op && next.result !== op.result) return false
      return search(
        next.state,
        left.filter((other) => other !== op),
      )
    })
  }
  return search(0, history)
}

const operation: fc.Arbitrary<Operation<Call, Result>> = fc
  .record({
    call: fc.oneof(
      fc.constant({ do: 'read' } as const),
      fc.record({ do: fc.constant('write' as const), value: fc.nat(2) }),
      fc.record({ do: fc.constant('swap' as const), from: fc.nat(2), to: fc.nat(2) }),
    ),
    calledAt: fc.nat(12),
    lasts: fc.nat(6),
    answer: fc.nat(2),
    isLost: fc.nat(5),
  })
  .map(({ call, calledAt, lasts, answer, isLost }) => {
    const times = { call, calledAt, returnedAt: calledAt + lasts }
    if (isLost === 0) return times
    return { ...times, result: call.do === 'read' ? answer : call.do === 'write' ? null : answer > 0 }
  })

test('agrees with brute force on small histories', () => {
  let linearizable = 0
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 7 }), (history) => {
      const expected = bruteForce(history)
      if (expected && history.length > 2) linearizable += 1
      expect(isFine(history)).toBe(expected)
    }),
    { numRuns: 5_000 },
  )
  expect(linearizable).toBeGreaterThan(100)
})

/** What a correct register answers to several processes at once: each operation takes effect at a random time within its span. */
function honestHistory(random: () => number, operations: number, processes: number): History {
  const free = Array.from({ length: processes }, () => 0)
  const planned = Array.from({ length: operations }, (_, n) => {
    const process = n % processes
    const calledAt = (free[process] ?? 0) + random()
    const returnedAt = calledAt + random() * 3
    free[process] = returnedAt
    const value = Math.floor(random() * 5)
    const dice = random()
    const call: Call =
      dice < 0.4
        ? { do: 'read' }
        : dice < 0.6
          ? { do: 'write', value }
          : { do: 'swap', from: Math.floor(random() * 5), to: value }
    return { call, calledAt, returnedAt, effectAt: calledAt + random() * (returnedAt - calledAt) }
  })
  let state = register.initial
  return planned
    .toSorted((a, b) => a.effectAt - b.effectAt)
    .map(({ call, calledAt, returnedAt }) => {
      const { state: next, result } = register.apply(state, call)
      state = next
      return { call, result, calledAt, returnedAt }
    })
}

test('honest histories pass, planted faults are found', () => {
  const random = seededRandom(20)
  let found = 0
  const rounds = 200
  for (let round = 0; round < rounds; round += 1) {
    const history = honestHistory(random, 60, 4)
    expect(isFine(history), `round ${round}`).toBe(true)
    const reads = history.flatMap((op, index) => (op.call.do === 'read' ? [index] : []))
    const at = reads[Math.floor(random() * reads.length)] ?? 0
    const forged = history.with(at, { ...history[at], result: 9 } as Operation<Call, Result>)
    expect(isFine(forged)).toBe(false)
    // A stale value that was right at some time is harder to see, and sometimes legal.
    const swaps = history.flatMap((op, index) => (op.result === true ? [index] : []))
    const swap = swaps[Math.floor(random() * swaps.length)] ?? 0
    if (!isFine(history.with(swap, { ...history[swap], result: false } as Operation<Call, Result>))) found += 1
  }
  expect(found).toBeGreaterThan(rounds * 0.5)
})

test('ten thousand operations of six processes', () => {
  expect(isFine(honestHistory(seededRandom(7), 10_000, 6))).toBe(true)
})
