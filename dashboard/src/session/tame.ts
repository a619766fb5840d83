// What a program may ask of the reader's terminal: nothing is read, nothing is copied without a word.
import type { IDisposable, Terminal } from '@xterm/xterm'

const COPY_CHARS_MAX = 100_000

// The session's own terminal answers a program's questions; a second answer from each window that looks on would be
// typed into the program, and a report of the title would be text that the program has chosen.
const REPORTS = [
  { final: 't' },
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { prefix: '=', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
] as const
const COLOURS = [4, 10, 11, 12]

/** OSC 52 is refused when it reads and asked about when it writes; titles and other reports go nowhere. */
export function tameTerminal(terminal: Terminal, onCopy: (text: string) => void): IDisposable {
  const { parser } = terminal
  const parts = [
    parser.registerOscHandler(52, (data) => {
      const payload = data.slice(data.indexOf(';') + 1)
      if (payload === '?' || payload.length > COPY_CHARS_MAX) return true
      const text = decoded(payload)
      if (text !== undefined && text !== '') onCopy(text)
      return true
    }),
    ...REPORTS.map((id) => parser.registerCsiHandler(id, () => true)),
    ...COLOURS.map((code) => parser.registerOscHandler(code, (data) => data.includes('?'))),
    parser.registerDcsHandler({ intermediates: '$', final: 'q' }, () => true),
  ]
  return { dispose: () => parts.forEach((part) => part.dispose()) }
}

function decoded(base64: string): string | undefined {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)))
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}
