// What the session and its screen's worker say to each other.
import type { TerminalColors, Size } from '../../wire/payloads.ts'
import type { ScreenQuestion } from './terminal-questions.ts'

export type ToScreen =
  | { readonly is: 'output'; readonly bytes: Uint8Array }
  | { readonly is: 'size'; readonly size: Size }
  /** Output between this and what was sent before has been passed over. */
  | { readonly is: 'skipped' }
  /** From here on the program's questions are answered, or are another terminal's. */
  | { readonly is: 'answering'; readonly isOn: boolean }
  /** The colours that the program is told of, until it sets others. */
  | { readonly is: 'colors'; readonly colors: TerminalColors }
  /** Answered when everything sent before has been drawn. */
  | { readonly is: 'look'; readonly request: number; readonly isDrawn: boolean }

/** What the program is to be told, as if its terminal had typed it. */
export interface TerminalAnswer {
  readonly is: 'answer'
  readonly text: string
}

export interface ScreenLook {
  readonly is: 'look'
  readonly request: number
  readonly size: Size
  readonly modes: Readonly<Record<string, boolean | number>>
  readonly question: ScreenQuestion | undefined
  /** The lowest line with something on it; empty where there is none. */
  readonly lastLine: string
  /** False when the screen may lack cells that were drawn in output that was passed over. */
  readonly isWhole: boolean
  /** Bytes that draw the screen; empty unless asked for. */
  readonly drawing: Uint8Array
}

export type FromScreen = TerminalAnswer | ScreenLook

/** What the worker is started with. */
export interface ScreenStart {
  readonly size: Size
  readonly isAnswering: boolean
  readonly colors: TerminalColors | undefined
}
