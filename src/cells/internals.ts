// The few things of the emulator that its public interface does not show. Pinned with the package's exact version; `draw-screen.test.ts`,
// `resize.test.ts` and `cleared-screens-are-history.test.ts` fail when one of these moves.
import type { Terminal } from '@xterm/headless'

/** Rows are counted from 0 on the screen; the saved one and `ybase`, where the screen begins, from the start of the history. */
export interface BufferInside {
  x: number
  y: number
  readonly ybase: number
  readonly lines: { get(y: number): { getTrimmedLength(): number } | undefined }
  savedX: number
  savedY: number
  scrollTop: number
  scrollBottom: number
  /** Moves along with a row, counted from the start of the history; -1 when that is gone. */
  addMarker(y: number): { readonly line: number; dispose(): void }
}

interface Core {
  readonly _bufferService: {
    readonly buffer: BufferInside
    readonly buffers: { readonly normal: BufferInside; readonly alt: BufferInside }
    scroll(blank: unknown): void
  }
  readonly _inputHandler: { readonly _curAttrData: unknown }
}

export function inside(terminal: Terminal): {
  readonly service: Core['_bufferService']
  /** The attributes that the next character will have. */
  readonly attributes: unknown
} {
  const { _bufferService: service, _inputHandler: handler } = (terminal as unknown as { readonly _core: Core })._core
  return { service, attributes: handler._curAttrData }
}
