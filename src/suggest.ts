// "Did you mean": the known word nearest to what was typed.

/** The nearest of `known` within a third of its length in edits, or nothing; ties go to the first. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Infinity
  for (const word of known) {
    const distance = editDistance(typed.slice(0, 64), word)
    if (distance < bestDistance && isNear(distance, word)) {
      best = word
      bestDistance = distance
    }
  }
  return best
}

/** For a hint: the nearest of `known`, else what stands in its place. */
export function didYouMean(typed: string, known: readonly string[], otherwise: string): string {
  const close = nearest(typed, known)
  return close === undefined ? otherwise : `did you mean ${close}?`
}

/** A single letter is one edit away from every other: that is no likeness. */
const isNear = (distance: number, { length }: string): boolean =>
  distance < length && distance <= Math.max(1, Math.floor(length / 3))

/** Two neighbours in each other's place are one slip of the fingers, and one edit. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution, swap))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
