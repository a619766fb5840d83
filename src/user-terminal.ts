// The terminal that a command was called from: its size, and its input for one reader at a time.

export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

const DEFAULT_SIZE: TerminalSize = { cols: 80, rows: 24 }

/** A terminal whose size was never set reports 0, as in containers and under `script`; like other programs we assume 80x24. */
export function terminalSize(terminal: { readonly columns: number; readonly rows: number }): TerminalSize {
  const { columns, rows } = terminal
  return { cols: columns > 0 ? columns : DEFAULT_SIZE.cols, rows: rows > 0 ? rows : DEFAULT_SIZE.rows }
}

/**
 * Reads standard input until the returned function is called. Every reader of a terminal uses it: a stream
 * that was paused by the previous reader is not resumed by a new listener alone, so each reader resumes it and leaves it
 * paused. A terminal that is gone counts as the end of input, also one that ended before.
 */
export function takeInput(stdin: NodeJS.ReadStream, onData: (chunk: Buffer) => void, onEnd: () => void): () => void {
  let isReleased = false
  stdin.on('data', onData).on('end', onEnd)
  if (stdin.isTTY) stdin.on('error', onEnd)
  if (stdin.readableEnded || stdin.destroyed) queueMicrotask(() => (isReleased ? undefined : onEnd()))
  stdin.resume()
  return () => {
    isReleased = true
    stdin.off('data', onData).off('end', onEnd).off('error', onEnd)
    stdin.pause()
  }
}
