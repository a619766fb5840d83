// The emulator that keeps a screen, for the session and for whoever watches: one set of widths, and no answers of its own.
import xterm, { type ITerminalOptions, type Terminal } from '@xterm/headless'
import { widthVersion } from './widths.ts'

export function createTerminal(options: ITerminalOptions & { readonly cols: number; readonly rows: number }): Terminal {
  const terminal = new xterm.Terminal({ allowProposedApi: true, logLevel: 'off', ...options })
  terminal.unicode.register(widthVersion)
  terminal.unicode.activeVersion = widthVersion.version
  return terminal
}
