// "Did you mean": the known word nearest to what was typed.

/** The nearest of `known` within a third of its length in edits, or nothing; ties go to the first. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Infinity
  for (const word of known) {
    const distance = editDistance(typed.slice(0, 64), word)
    if (distance < bestDistance && distance <= Math.max(1, Math.floor(word.length / 3))) {
      best = word
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution))
    }
    row = next
  }
  return row[b.length] ?? 0
}
