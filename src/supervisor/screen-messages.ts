// What the session and its screen's worker say to each other.
import type { Size } from '../wire/messages.ts'

export type ToScreen =
  | { readonly is: 'output'; readonly bytes: Uint8Array }
  | { readonly is: 'size'; readonly size: Size }
  /** Answered when everything sent before has been drawn. */
  | { readonly is: 'look'; readonly request: number; readonly isDrawn: boolean }

export interface ScreenAnswer {
  readonly request: number
  readonly size: Size
  readonly modes: Readonly<Record<string, boolean | number>>
  readonly question: string | undefined
  /** Bytes that draw the screen; empty unless asked for. */
  readonly drawing: Uint8Array
}
