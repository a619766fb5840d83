import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../test/support/scale.ts'
import { closureOf } from './closure.ts'

type Graph = Readonly<Record<string, readonly string[]>>
const closure = (graph: Graph, ...ids: string[]) =>
  closureOf(ids, (id) => (Object.hasOwn(graph, id) ? graph[id] : undefined))

test('seed 000, capsules: a dependency comes before what depends on it, also where the origin turned them round', () => {
  expect(closure({ t1: [], t2: ['t1'], t3: ['t1', 't2'] }, 't3')).toEqual({ ok: true, order: ['t1', 't2', 't3'] })
  expect(closure({ a: [], b: [], c: ['a', 'b'], d: ['b', 'c'] }, 'd')).toEqual({
    ok: true,
    order: ['a', 'b', 'c', 'd'],
  })
})

test('only the closure, each capsule once, in an order that does not depend on how it was asked for', () => {
  const graph = { w1: [], w2: ['w1'], w3: [], w4: ['w1', 'w1'] }
  expect(closure(graph, 'w4', 'w2')).toEqual(closure(graph, 'w2', 'w4', 'w2'))
  expect(closure(graph, 'w2', 'w4')).toEqual({ ok: true, order: ['w1', 'w2', 'w4'] })
})

test('everything that is missing is named, however deep', () => {
  expect(closure({ a: ['b', 'x'], b: ['y'] }, 'a', 'z')).toEqual({
    ok: false,
    missing: ['x', 'y', 'z'],
    cycle: undefined,
  })
})

test('a circle is named from a capsule back to itself', () => {
  expect(closure({ a: ['b'], b: ['c'], c: ['d', 'b'], d: [] }, 'a')).toEqual({
    ok: false,
    missing: [],
    cycle: ['b', 'c', 'b'],
  })
  expect(closure({ a: ['a'] }, 'a')).toEqual({ ok: false, missing: [], cycle: ['a', 'a'] })
})

test('a chain of 50,000 does not run out of stack', () => {
  const graph = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`c${i}`, i === 0 ? [] : [`c${i - 1}`]]))
  const found = closure(graph, 'c49999')
  expect(found.ok && found.order.length).toBe(50_000)
})

/** Brute force: repeat "take the smallest whose dependencies are all taken" over the reachable set. */
function naive(graph: Graph, ids: readonly string[]): string[] | 'missing' | 'cycle' {
  const reachable = new Set(ids)
  for (const id of reachable) {
    const needs = graph[id]
    if (needs === undefined) return 'missing'
    for (const need of needs) reachable.add(need)
  }
  const order: string[] = []
  while (order.length < reachable.size) {
    const next = [...reachable]
      .filter((id) => !order.includes(id) && graph[id]?.every((need) => order.includes(need)))
      .sort()[0]
    if (next === undefined) return 'cycle'
    order.push(next)
  }
  return order
}

test('agrees with brute force on small graphs, circles and gaps included', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f']
  const graphs = fc.dictionary(fc.constantFrom(...ids), fc.array(fc.constantFrom(...ids), { maxLength: 3 }), {
    maxKeys: 6,
    noNullPrototype: true,
  })
  fc.assert(
    fc.property(graphs, fc.array(fc.constantFrom(...ids), { minLength: 1, maxLength: 3 }), (graph, asked) => {
      const found = closure(graph, ...asked)
      const expected = naive(graph, asked)
      if (found.ok) expect(found.order).toEqual(expected)
      else expect(found.cycle === undefined ? 'missing' : 'cycle').toBe(expected)
    }),
    { numRuns: scaled(800, 20_000) },
  )
})
