// What the viewer's terminal sends, up to the session: each part of the view takes out what is its own, the rest is typed.
import type { SessionConnection } from '../../../../client/connection.ts'
import { HeimdallError } from '../../../../errors.ts'
import { TYPED_BYTES_MAX } from '../../../../limits.ts'
import type { TerminalColors } from '../../../../wire/payloads.ts'
import { Clicks } from './clicks.ts'
import { DetachKey } from './detach-key.ts'
import type { ViewEmulator } from './emulator.ts'
import type { LookBack } from './look-back.ts'
import { OuterColors } from './outer-colors.ts'
import { OuterWidths } from './outer-widths.ts'
import type { ScreenFrames } from './screen-frames.ts'
import type { WayOut } from './view.ts'
import { type InputPiece, ViewKeys } from './view-keys.ts'

export interface KeyParts {
  readonly connection: SessionConnection
  readonly emulator: ViewEmulator
  readonly frames: ScreenFrames
  readonly lookBack: LookBack
  readonly wayOut: WayOut
  readonly isReadOnly: boolean
  readonly onTyped: ((bytes: Buffer) => void) | undefined
}

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

  constructor(parts: KeyParts, detachKey: number) {
    this.#parts = parts
    this.#detach = new DetachKey(detachKey)
  }

  /** Resolves when the terminal has answered all that it was asked; never for one that says nothing. */
  get answered(): Promise<void> {
    return this.#widths.known
  }

  take(chunk: Buffer): void {
    const { frames, lookBack, wayOut } = this.#parts
    const { bytes, isDetach } = this.#detach.take(this.#widths.take(this.#colors.take(chunk)))
    this.#tellColors(this.#colors.colors)
    frames.learn(this.#widths.widths)
    const isMouseOurs = (): boolean => frames.tracking === undefined
    const forProgram = this.#keys.read(bytes).filter((piece) => !lookBack.take(piece, isMouseOurs()))
    this.type(Buffer.concat(forProgram.map((piece) => this.#bytesOf(piece))))
    if (isDetach) wayOut.leave({ reason: 'detached' })
  }

  /** Not held back by a program that does not read: the key that leaves must always be read. So it is bounded. */
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

  /** Answers of the terminal are still heard, but nothing is typed any more. */
  end(): void {
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
  return new HeimdallError('SESSION_SILENT', `the program does not read; ${bytes} bytes that were typed still wait`, {
    hint: 'attach again when it does',
  })
}
