// The screen as the emulator keeps it, beside the stream: behind it at times, never in its way.
import type { Size } from '../wire/messages.ts'
import type { Snapshot } from './subscriber.ts'

export interface ScreenLook {
  readonly modes: Readonly<Record<string, boolean | number>>
}

export interface Screen {
  /** There is new output in the log. */
  advance(): void
  resize(size: Size): void
  snapshot(): Promise<Snapshot | undefined>
  look(): Promise<ScreenLook>
  /** The line on the screen that looks like a question to a person. */
  readonly question: string | undefined
  close(): void
}

export const noScreen: Screen = {
  advance: () => undefined,
  resize: () => undefined,
  snapshot: () => Promise.resolve(undefined),
  look: () => Promise.resolve({ modes: {} }),
  question: undefined,
  close: () => undefined,
}
