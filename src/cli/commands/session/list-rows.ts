// Rows of sessions that fit the terminal: what they do and whether they wait is never what is left out.
import { column, fit, widest } from '../../render/columns.ts'
import type { Style } from '../../render/style.ts'

/** In the order of the columns. */
export interface ListedRow {
  readonly id: string
  readonly state: string
  readonly waits: string
  readonly since: string
  readonly project: string
  readonly command: string
}

const GAP = '  '
/** Less of an id or of a command than this tells nobody which it is. */
const ID_CELLS_MIN = 12
const COMMAND_CELLS_MIN = 12
/** The first to be left out is the last here. */
const WANTED: readonly (keyof ListedRow)[] = ['id', 'state', 'waits', 'since', 'project', 'command']

const KEPT: ReadonlySet<keyof ListedRow> = new Set(['id', 'state', 'waits'])

/** Aligned, each after `indent`. In a pipe whole; on a terminal without what has no room in it. */
export function sessionLines(rows: readonly ListedRow[], style: Style, indent: string): string[] {
  const room = style.isTty && style.columns > 0 ? style.columns - indent.length : Number.POSITIVE_INFINITY
  const widths = new Map(
    WANTED.map((name) => [
      name,
      widest(
        rows.map((row) => row[name]),
        Number.POSITIVE_INFINITY,
      ),
    ]),
  )
  const taken = (names: readonly (keyof ListedRow)[]): number =>
    names.reduce((sum, name) => sum + (widths.get(name) ?? 0) + GAP.length, -GAP.length)
  const shown = WANTED.filter((name) => (widths.get(name) ?? 0) > 0)
  const last = (): keyof ListedRow => shown.at(-1) ?? 'id'
  // A command is cut before it is left out; an id after everything else is.
  while (taken(shown) > room && !KEPT.has(last())) {
    const left = room - taken(shown.slice(0, -1)) - GAP.length
    if (last() === 'command' && left >= COMMAND_CELLS_MIN) widths.set('command', left)
    else shown.pop()
  }
  const over = Math.max(0, taken(shown) - room)
  widths.set('id', Math.max(Math.min(ID_CELLS_MIN, widths.get('id') ?? 0), (widths.get('id') ?? 0) - over))
  const line = (row: ListedRow): string => shown.map((name) => column(row[name], widths.get(name) ?? 0)).join(GAP)
  return rows.map((row) => fit((indent + line(row)).trimEnd(), room + indent.length))
}
