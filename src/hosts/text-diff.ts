// Edits as a patch without context lines, which could contain tokens; `hidden` parts of changed lines are masked.
import { applyEdits, type Edit, type TextSpan } from './config-text.ts'

interface Hunk {
  /** Offsets of whole lines in the text before the edits. */
  start: number
  end: number
  readonly edits: Edit[]
}

const MASK = '"…"'

export function textDiff(path: string, before: string, edits: readonly Edit[], hidden: readonly TextSpan[]): string {
  const hunks: Hunk[] = []
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    const start = before.lastIndexOf('\n', edit.start - 1) + 1
    const newline = before.indexOf('\n', edit.end)
    const end = newline < 0 ? before.length : newline + 1
    const last = hunks.at(-1)
    if (last === undefined || start > last.end) hunks.push({ start, end, edits: [edit] })
    else {
      last.end = Math.max(last.end, end)
      last.edits.push(edit)
    }
  }
  let shift = 0
  const body = hunks.flatMap((hunk) => {
    const old = before.slice(hunk.start, hunk.end)
    const masks = hidden
      .filter(({ start, end }) => start < hunk.end && end > hunk.start)
      .map((span) => ({ ...span, text: MASK }))
    const local = (all: readonly Edit[]): Edit[] =>
      all.map(({ start, end, text }) => ({
        // A span may start before the first shown line, or end after the last.
        start: Math.max(start, hunk.start) - hunk.start,
        end: Math.min(end, hunk.end) - hunk.start,
        text,
      }))
    const minus = linesOf(applyEdits(old, local(masks)))
    const plus = linesOf(applyEdits(old, local([...masks, ...hunk.edits])))
    const line = before.slice(0, hunk.start).split('\n').length
    const header = `@@ -${line},${minus.length} +${line + shift},${plus.length} @@`
    shift += plus.length - minus.length
    return [header, ...signed('-', minus), ...signed('+', plus)]
  })
  return body.length === 0 ? '' : [`--- ${path}`, `+++ ${path}`, ...body].join('\n')
}

/** With newlines, so that a missing one at the end is visible. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function signed(sign: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, String.raw`\ No newline at end of file`],
  )
}
