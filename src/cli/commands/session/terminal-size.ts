// The size of the terminal that a command is called from.

export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

const UNTOLD: TerminalSize = { cols: 80, rows: 24 }

/** A terminal that nobody has told its size says 0, as in containers and under `script`; programs then take it for 80x24, and so do we. */
export function terminalSize(terminal: { readonly columns: number; readonly rows: number }): TerminalSize {
  const { columns, rows } = terminal
  return { cols: columns > 0 ? columns : UNTOLD.cols, rows: rows > 0 ? rows : UNTOLD.rows }
}
