// A unified difference as lines with their numbers.

export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'place'
  readonly before: number | null
  readonly after: number | null
  readonly text: string
}

const PLACE = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/

export function readDiff(text: string): readonly DiffLine[] {
  const lines: DiffLine[] = []
  let before = 0
  let after = 0
  let isInside = false
  for (const line of text.split('\n')) {
    const place = PLACE.exec(line)
    if (place !== null) {
      before = Number(place[1])
      after = Number(place[2])
      isInside = true
      lines.push({ kind: 'place', before: null, after: null, text: `@@${place[3] ?? ''}` })
    } else if (!isInside) continue
    else if (line.startsWith('diff --git ')) isInside = false
    else if (line.startsWith('+')) lines.push({ kind: 'added', before: null, after: after++, text: line.slice(1) })
    else if (line.startsWith('-')) lines.push({ kind: 'removed', before: before++, after: null, text: line.slice(1) })
    else if (line.startsWith(' ')) lines.push({ kind: 'same', before: before++, after: after++, text: line.slice(1) })
  }
  return lines
}
