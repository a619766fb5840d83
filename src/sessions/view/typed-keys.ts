// From the viewer’s terminal to the session: answers of the terminal and keys of the view are taken out, the rest is typed.
import { isTracked, MOUSE_MOTION, type MouseModes, type MouseReport, writeReport } from '../../cells/mouse.ts'
import type { SessionConnection } from '../../client/connection.ts'
import type { Clock, Timer } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { TYPED_BYTES_MAX } from '../../limits.ts'
import type { TerminalColors } from '../../wire/payloads.ts'
import type { ViewEmulator } from './emulator.ts'
import type { LookBack } from './look-back.ts'
import { OuterColors, OuterWidths } from './outer-abilities.ts'
import { type ScreenFrames } from './screen-frames.ts'
import { DetachKey, type InputPiece, ViewKeys } from './view-keys.ts'
import { cellNear, isInside, type WayOut, type Window } from './view.ts'

export interface KeyParts {
  readonly clock: Clock
  readonly connection: SessionConnection
  readonly emulator: ViewEmulator
  readonly frames: ScreenFrames
  readonly lookBack: LookBack
  readonly wayOut: WayOut
  readonly isReadOnly: boolean
  readonly onTyped: ((bytes: Buffer) => void) | undefined
}

/** An escape sequence arrives in one read, or in two that follow each other at once. */
const TORN_KEY_MS = 50

export class TypedKeys {
  readonly #parts: KeyParts
  readonly #detach: DetachKey
  readonly #colors = new OuterColors()
  readonly #widths = new OuterWidths()
  readonly #keys = new ViewKeys()
  readonly #clicks = new Clicks()
  #toldColors: TerminalColors | undefined
  /** Typed, and not yet taken by the session. */
  #typedBytes = 0
  #isOver = false
  #held: Timer | undefined

  constructor(parts: KeyParts, detachKey: number) {
    this.#parts = parts
    this.#detach = new DetachKey(detachKey)
  }

  get answered(): Promise<void> {
    return this.#widths.known
  }

  take(chunk: Buffer): void {
    this.#held?.cancel()
    this.#give(this.#widths.take(this.#colors.take(chunk)))
    this.#tellColors(this.#colors.colors)
    this.#parts.frames.learn(this.#widths.widths)
    if (![this.#colors, this.#widths, this.#keys].some(({ isHolding }) => isHolding)) return
    this.#held = this.#parts.clock.after(TORN_KEY_MS, () => {
      this.#give(Buffer.concat([this.#widths.flush(), this.#colors.flush()]))
      this.#pass(this.#keys.flush())
    })
  }

  #give(typed: Buffer): void {
    const { bytes, isDetach } = this.#detach.take(typed)
    this.#pass(this.#keys.read(bytes))
    if (isDetach) this.#parts.wayOut.leave({ reason: 'detached' })
  }

  #pass(pieces: readonly InputPiece[]): void {
    const { frames, lookBack } = this.#parts
    const isMouseOurs = (): boolean => frames.tracking === undefined
    const forProgram = pieces.filter((piece) => !lookBack.take(piece, isMouseOurs()))
    this.type(Buffer.concat(forProgram.map((piece) => this.#bytesOf(piece))))
  }

  /** Does not wait for the program, so that the detach key is always read; the queue is bounded. */
  type(bytes: Buffer): void {
    const { connection, wayOut, isReadOnly, onTyped } = this.#parts
    if (isReadOnly || this.#isOver || bytes.length === 0) return
    onTyped?.(bytes)
    this.#typedBytes += bytes.length
    if (this.#typedBytes > TYPED_BYTES_MAX) wayOut.fail(tooMuchTyped(this.#typedBytes))
    connection
      .input(bytes)
      .then(() => {
        this.#typedBytes -= bytes.length
      })
      .catch((error: Error) => wayOut.fail(error))
  }

  /** Nothing is typed any more. */
  end(): void {
    this.#held?.cancel()
    this.#isOver = true
  }

  /** Once, and again when the terminal says that they have changed. */
  #tellColors(colors: TerminalColors | undefined): void {
    const { connection, wayOut, isReadOnly } = this.#parts
    if (colors === undefined || isReadOnly) return
    const told = this.#toldColors
    if (colors.foreground === told?.foreground && colors.background === told.background) return
    this.#toldColors = colors
    connection.colors(colors).catch((error: Error) => wayOut.fail(error))
  }

  #bytesOf({ act, bytes }: InputPiece): Buffer {
    const { emulator, frames } = this.#parts
    if (act?.is !== 'mouse') return bytes
    return this.#clicks.bytes({ ...act, x: frames.columnAt(act) }, emulator.mouse, frames.window)
  }
}

function tooMuchTyped(bytes: number): HeimdallError {
  return new HeimdallError(
    'SESSION_SILENT',
    `the program does not read its input; ${bytes} typed bytes are still queued`,
    {
      hint: 'attach again when it does',
    },
  )
}

/** Left, middle, right, wheel and the others, without modifiers. */
const WHICH = 3 | 64 | 128
const WHEEL = 64

export class Clicks {
  /** Buttons that were pressed on the program's screen and are still held down. */
  readonly #held = new Set<number>()

  /** Bytes for the program; none for what is not its business. */
  bytes(seen: MouseReport, modes: MouseModes, window: Window): Buffer {
    const isWanted = this.#follow(seen, isInside(window, seen))
    const report = { ...seen, ...cellNear(window, seen) }
    const { tracking } = modes
    const text =
      isWanted && tracking !== undefined && isTracked(report, tracking) ? writeReport(report, modes) : undefined
    return Buffer.from(text ?? '', 'latin1')
  }

  /** What began on the screen ends there, wherever the mouse has gone; what began elsewhere does not. */
  #follow({ button, isRelease }: MouseReport, inside: boolean): boolean {
    const which = button & WHICH
    if ((button & MOUSE_MOTION) !== 0) return this.#held.has(which) || (inside && this.#held.size === 0)
    if ((button & WHEEL) !== 0) return inside
    if (isRelease) return this.#held.delete(which)
    if (inside) this.#held.add(which)
    return inside
  }
}
