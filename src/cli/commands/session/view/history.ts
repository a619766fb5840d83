// Everything that a session still knows it has shown, as rows: replayed on a second connection into a terminal of its own.
import type { IBufferLine, Terminal } from '@xterm/headless'
import type { DrawnLine, LinePart } from '../../../../cells/draw-line.ts'
import type { Shows } from '../../../../cells/pen.ts'
import { createTerminal } from '../../../../cells/terminal.ts'
import { openConnection } from '../../../../client/connection.ts'
import type { Endpoint } from '../../../../client/endpoint.ts'
import { HISTORY_LINES_MAX } from '../../../../limits.ts'
import { drawRows } from './drawn-rows.ts'
import { keepCleared } from './keep-cleared.ts'

/** Rows of the past, oldest first, and the screen as it was when they were loaded. Nothing of it changes. */
export interface History {
  readonly count: number
  /** The first row of the screen. */
  readonly screenTop: number
  readonly cols: number
  line(row: number): IBufferLine | undefined
  /** The row with the sequences that draw it, and the columns it takes. */
  draw(row: number, part: LinePart, shows: Shows): DrawnLine | undefined
}

export async function loadHistory(endpoint: Endpoint): Promise<History> {
  const connection = await openConnection(endpoint)
  try {
    const { cols, rows, offset_start: start } = await connection.info()
    const terminal = createTerminal({ cols, rows, scrollback: HISTORY_LINES_MAX })
    keepCleared(terminal)
    // A byte that is no longer kept is asked for where there is one: then the replay begins between two sequences.
    const from = Math.max(0, start - 1)
    for await (const event of connection.subscribe({ from, readOnly: true, gaps: true, replayEnd: true })) {
      if (event.type === 'output') await new Promise<void>((resolve) => terminal.write(event.bytes, resolve))
      if (event.type === 'replay-end') break
    }
    return rowsOf(terminal)
  } finally {
    connection.close()
  }
}

/** What a full-screen program covers comes before its screen. */
export function rowsOf(terminal: Terminal): History {
  const { normal, active } = terminal.buffer
  const isCovered = active.type === 'alternate'
  const past = isCovered ? normal.baseY + normal.cursorY + 1 : normal.baseY
  const place = (row: number) =>
    row < past ? { buffer: normal, y: row } : { buffer: active, y: active.baseY + row - past }
  return {
    count: past + terminal.rows,
    screenTop: past,
    cols: terminal.cols,
    line: (row) => {
      const { buffer, y } = place(row)
      return buffer.getLine(y)
    },
    draw: (row, part, shows) => {
      const { buffer, y } = place(row)
      return drawRows(terminal, buffer, { ...part, start: y - buffer.baseY, count: 1, shows })[0]
    },
  }
}
