// What a session said, as it is kept for those who ask after its end: the last of its output and its screen, in one file. Pure.
import { fromJson } from './json-text.ts'
import type { Size } from './payloads.ts'

export interface KeptScreen {
  readonly size: Size
  /** False when cells may be missing that were drawn in the middle of a flood. */
  readonly isWhole: boolean
  /** Bytes that draw it on a terminal in any state. */
  readonly drawing: Buffer
}

export interface KeptOutput {
  readonly size: Size
  readonly title: string
  /** Where the bytes begin in the whole stream. */
  readonly offset: number
  readonly bytes: Buffer
  /** Nothing when the bytes, from the first one on, draw it. */
  readonly screen: KeptScreen | undefined
}

/** One line that says what follows it: the output, and the drawing of the screen. */
interface Header {
  readonly cols: number
  readonly rows: number
  readonly title: string
  readonly offset: number
  readonly output_bytes: number
  readonly screen: { readonly cols: number; readonly rows: number; readonly whole: boolean } | null
}

export function encodeKept({ size, title, offset, bytes, screen }: KeptOutput): Buffer {
  const header: Header = {
    ...size,
    title,
    offset,
    output_bytes: bytes.length,
    screen: screen === undefined ? null : { ...screen.size, whole: screen.isWhole },
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), bytes, screen?.drawing ?? Buffer.alloc(0)])
}

/** Nothing for what is none of these. */
export function parseKept(file: Buffer): KeptOutput | undefined {
  const line = file.indexOf(0x0a)
  const header = line < 0 ? undefined : parseHeader(file.toString('utf8', 0, line))
  if (header === undefined) return undefined
  const outputEnd = line + 1 + header.output_bytes
  const { cols, rows, title, offset, screen } = header
  return {
    size: { cols, rows },
    title,
    offset,
    bytes: file.subarray(line + 1, outputEnd),
    screen:
      screen === null
        ? undefined
        : {
            size: { cols: screen.cols, rows: screen.rows },
            isWhole: screen.whole,
            drawing: file.subarray(outputEnd),
          },
  }
}

function parseHeader(line: string): Header | undefined {
  const value = fromJson(line)
  return typeof value === 'object' && value !== null && 'output_bytes' in value ? (value as Header) : undefined
}
