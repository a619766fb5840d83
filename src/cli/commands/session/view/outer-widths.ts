// How wide the viewer's own terminal draws what is one character for us: it is shown some and asked where its cursor is.
import { AS_ONE, type ClusterWidths } from '../../../../cells/clusters.ts'
import type { Env } from '../../../../paths.ts'
import { mayAsk } from './outer-colors.ts'

/** Each takes two cells where it is one character, and more where it is not. */
const SAMPLES = { skin: '👋🏽', joined: '👩‍💻', flag: '🇩🇪' } as const
/** Each in a row of its own, so that answers tell themselves apart; not in the first, where an answer looks like a key (F3). */
const FIRST_ROW = 2
const LAST_ROW = FIRST_ROW + Object.keys(SAMPLES).length - 1
const ASK = `${Object.values(SAMPLES)
  .map((sample, n) => `\u001b[${FIRST_ROW + n};1H${sample}\u001b[6n\u001b[2K`)
  .join('')}\u001b[H`
const ANSWER = /\u001b\[([2-4]);(\d{1,3})R/g
/** The beginning of one, at the end of a read; a lone ESC is the key. */
const TORN = /\u001b\[(?:[2-4](?:;\d{0,3})?)?$/
const CELLS = 2
/** What one further part can add. */
const ADDED_MAX = 2

/** What to write to find out, on an empty screen; nothing for terminals that would print it, or have not so many rows. */
export const askWidths = (env: Env, rows: number): string => (mayAsk(env) && rows >= LAST_ROW ? ASK : '')

/** Takes the answers out of what a terminal sends, each once: the next like it is a program's or a person's. */
export class OuterWidths {
  /** Resolves when it has said all; never for one that says nothing. */
  readonly known: Promise<void>
  #resolve: () => void = () => undefined
  #torn = ''
  readonly #found = new Map<number, number>()

  constructor() {
    this.known = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** What a person typed. */
  take(chunk: Buffer): Buffer {
    if (this.#hasAll()) return chunk
    const text = this.#torn + chunk.toString('latin1')
    const typed = text.replaceAll(ANSWER, (whole, row: string, column: string) => {
      if (this.#found.has(Number(row))) return whole
      this.#found.set(Number(row), Number(column) - 1)
      return ''
    })
    this.#torn = this.#hasAll() ? '' : (TORN.exec(typed)?.[0] ?? '')
    if (this.#hasAll()) this.#resolve()
    return Buffer.from(typed.slice(0, typed.length - this.#torn.length), 'latin1')
  }

  /** It answers in the order in which it was asked. */
  #hasAll(): boolean {
    return this.#found.has(LAST_ROW)
  }

  get widths(): ClusterWidths {
    if (!this.#hasAll()) return AS_ONE
    const [skin = 0, joined = 0, flag = 0] = Object.keys(SAMPLES).map((_, n) => this.#added(FIRST_ROW + n))
    return { skin, joined, flag }
  }

  #added(row: number): number {
    return Math.min(ADDED_MAX, Math.max(0, (this.#found.get(row) ?? CELLS) - CELLS))
  }
}
