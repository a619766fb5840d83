// What a command left on its normal screen, for the terminal that it would have left it on.
import type { Shows } from '../../../../cells/pen.ts'
import type { ViewEmulator } from './emulator.ts'

export function remainsOf(emulator: ViewEmulator, shows: Shows): string {
  const { normalScreen, size } = emulator
  const count = normalScreen.baseY + size.rows
  const rows = { start: -normalScreen.baseY, left: 0, count, cols: size.cols, shows }
  const lines = emulator.draw({ ...rows, ground: 'text' }, normalScreen).map(({ text }) => text)
  while (lines.at(-1) === '') lines.pop()
  // Rows that are one line stay one, which this terminal breaks where it has to.
  const isBroken = (y: number): boolean => y + 1 < lines.length && normalScreen.getLine(y + 1)?.isWrapped === true
  return lines.map((line, y) => (isBroken(y) ? line : `${line}\r\n`)).join('')
}
