// Edits of a text as a patch without context: lines around a change may hold what nobody asked to see, such as tokens.
import { applyEdits, type Edit } from '../../hosts/config-text.ts'

interface Hunk {
  /** Whole lines of the text before, from `start` up to `end`. */
  start: number
  end: number
  readonly edits: Edit[]
}

export function textDiff(path: string, before: string, edits: readonly Edit[]): string {
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
    const local = hunk.edits.map((edit) => ({
      start: edit.start - hunk.start,
      end: edit.end - hunk.start,
      text: edit.text,
    }))
    const [minus, plus] = [linesOf(old), linesOf(applyEdits(old, local))]
    const line = before.slice(0, hunk.start).split('\n').length
    const header = `@@ -${line},${minus.length} +${line + shift},${plus.length} @@`
    shift += plus.length - minus.length
    return [header, ...signed('-', minus), ...signed('+', plus)]
  })
  return body.length === 0 ? '' : [`--- ${path}`, `+++ ${path}`, ...body].join('\n')
}

/** With their newlines, so that a last line without one can be told. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function signed(sign: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, String.raw`\ No newline at end of file`],
  )
}
