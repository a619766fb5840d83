// Switches between the live screen and the history: what opens it, and which keys and mouse events it takes.
import type { Endpoint } from '../../client/endpoint.ts'
import type { Size } from '../../wire/payloads.ts'
import { loadHistory } from './history.ts'
import { Scrolling } from './scrolling.ts'
import { type Act, type InputPiece, keysOf, type Mouse } from './view-keys.ts'
import type { Window } from './view.ts'

export interface LookBackParts {
  readonly endpoint: () => Endpoint
  /** Of the terminal, above the status line. */
  readonly size: () => Size
  /** What is seen of the screen: looking back begins there. */
  readonly window: () => Window
  /** There is something else to see. */
  readonly onChange: () => void
  /** The left button was pressed at one cell and released at another. */
  readonly onDrag: () => void
  /** It could not be read; the live screen goes on. */
  readonly onFailure: (error: Error) => void
}

/** What gives up waiting for the history, as it leaves it. */
const GIVES_UP: ReadonlySet<string> = new Set(['escape', 'q', 'ctrl-c'])

export class LookBack {
  readonly #parts: LookBackParts
  #open: Scrolling | undefined
  /** Acts that came while the history is loaded. */
  #early: Act[] | undefined
  #pressed: Mouse | undefined

  constructor(parts: LookBackParts) {
    this.#parts = parts
  }

  /** What is shown in place of the live screen. */
  get view(): Scrolling | undefined {
    return this.#open
  }

  get isReading(): boolean {
    return this.#early !== undefined
  }

  /** True when this was for the viewer and not for the program. `isMouseOurs`: the program has not asked for the mouse. */
  take({ act, bytes, isText }: InputPiece, isMouseOurs: boolean): boolean {
    if (this.#open !== undefined || this.#early !== undefined) {
      for (const one of act === undefined ? (isText ? keysOf(bytes) : []) : [act]) this.#act(one)
      return true
    }
    if (act?.is === 'mouse') return isMouseOurs && this.#takeMouse(act)
    if (act?.name !== 'shift-page-up') return false
    this.#start([act])
    return true
  }

  #takeMouse(act: Mouse): true {
    if (act.does === 'press') this.#pressed = act
    else if (act.does === 'wheel-up') this.#start([act])
    else if (act.does === 'release') {
      const from = this.#pressed
      if (from !== undefined && (from.x !== act.x || from.y !== act.y)) this.#parts.onDrag()
      this.#pressed = undefined
    }
    return true
  }

  #start(acts: Act[]): void {
    this.#early = acts
    // Asked for again meanwhile, it is another one.
    const isWanted = (): boolean => this.#early === acts
    loadHistory(this.#parts.endpoint()).then(
      (history) => {
        if (!isWanted()) return
        this.#early = undefined
        this.#open = new Scrolling(history, this.#parts.size(), this.#parts.window())
        for (const act of acts) this.#act(act)
        this.#parts.onChange()
      },
      (error: Error) => {
        if (!isWanted()) return
        this.#early = undefined
        this.#parts.onFailure(error)
      },
    )
    this.#parts.onChange()
  }

  #act(act: Act): void {
    if (this.#early !== undefined) {
      if (act.is === 'key' && GIVES_UP.has(act.name)) this.#early = undefined
      else this.#early.push(act)
      this.#parts.onChange()
      return
    }
    const outcome = this.#open?.act(act)
    if (outcome === 'leave') this.#open = undefined
    this.#parts.onChange()
  }

  resize(): void {
    this.#open?.resize(this.#parts.size())
  }
}
