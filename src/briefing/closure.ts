// Which capsules a capsule needs: the dependency closure, dependencies first, in an order that depends on nothing else.

export type Closure =
  | { readonly ok: true; readonly order: readonly string[] }
  | { readonly ok: false; readonly missing: readonly string[]; readonly cycle: readonly string[] | undefined }

/**
 * `dependsOf` answers undefined for an id that does not exist. Among ids that are free to come next the smallest
 * comes first, so that two briefs with overlapping closures begin with the same bytes.
 */
export function closureOf(ids: readonly string[], dependsOf: (id: string) => readonly string[] | undefined): Closure {
  const depends = new Map<string, readonly string[]>()
  const missing: string[] = []
  const waiting = [...new Set(ids)]
  const seen = new Set(waiting)
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const needs = dependsOf(id)
    if (needs === undefined) missing.push(id)
    else depends.set(id, needs)
    for (const need of needs ?? [])
      if (!seen.has(need)) {
        seen.add(need)
        waiting.push(need)
      }
  }
  if (missing.length > 0) return { ok: false, missing: missing.sort(), cycle: undefined }
  const order = topological(depends)
  return order.length === depends.size
    ? { ok: true, order }
    : { ok: false, missing: [], cycle: findCycle(depends, new Set(order)) }
}

/** Kahn's algorithm; `ready` is kept sorted by insertion, which is cheap because few are ready at once. */
function topological(depends: ReadonlyMap<string, readonly string[]>): string[] {
  const open = new Map<string, number>()
  const neededBy = new Map<string, string[]>()
  const ready: string[] = []
  for (const [id, needs] of depends) {
    const distinct = new Set(needs)
    open.set(id, distinct.size)
    if (distinct.size === 0) ready.push(id)
    for (const need of distinct) {
      const users = neededBy.get(need)
      if (users === undefined) neededBy.set(need, [id])
      else users.push(id)
    }
  }
  ready.sort(descending)
  const order: string[] = []
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    order.push(id)
    for (const next of neededBy.get(id) ?? []) {
      const left = (open.get(next) ?? 0) - 1
      open.set(next, left)
      if (left === 0) insertSorted(ready, next)
    }
  }
  return order
}

/** Smallest last, so that the next one is popped. By code unit, because a locale would make briefs differ by machine. */
const descending = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0)

function insertSorted(sorted: string[], id: string): void {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (descending(sorted[middle] ?? '', id) < 0) low = middle + 1
    else high = middle
  }
  sorted.splice(low, 0, id)
}

/** Walks along unfinished dependencies until an id comes round again. */
function findCycle(depends: ReadonlyMap<string, readonly string[]>, done: ReadonlySet<string>): string[] {
  const path: string[] = []
  const at = new Map<string, number>()
  let id = [...depends.keys()].filter((candidate) => !done.has(candidate)).sort()[0]
  while (id !== undefined && !at.has(id)) {
    at.set(id, path.length)
    path.push(id)
    id = depends.get(id)?.find((need) => !done.has(need))
  }
  return id === undefined ? path : [...path.slice(at.get(id)), id]
}
