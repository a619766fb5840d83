// What a session said, for those who ask after its end: the last of its output and its screen, in one file beside its record.
import { renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { KEPT_AGE_MS } from '../limits.ts'
import { readFileIfThere, removeIfThere } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import type { Size } from '../wire/messages.ts'
import { findSession, namesIn, sessionPaths } from './session-files.ts'

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

/** Whole or not at all. Not fsynced: it is written each second, and is not worth more than that to a power cut. */
export function writeKept(path: string, { size, title, offset, bytes, screen }: KeptOutput): void {
  const header: Header = {
    ...size,
    title,
    offset,
    output_bytes: bytes.length,
    screen: screen === undefined ? null : { ...screen.size, whole: screen.isWhole },
  }
  const temporary = join(dirname(path), `.${basename(path)}`)
  const parts = [Buffer.from(`${JSON.stringify(header)}\n`), bytes, screen?.drawing ?? Buffer.alloc(0)]
  onDisk(path, () => {
    writeFileSync(temporary, Buffer.concat(parts), { mode: 0o600 })
    renameSync(temporary, path)
  })
}

/** Nothing when nothing was kept. */
export function readKept(dir: string, id: string): KeptOutput | undefined {
  const file = readFileIfThere(sessionPaths(dir, id).kept)
  const line = file?.indexOf(0x0a) ?? -1
  if (file === undefined || line < 0) return undefined
  const header = parseHeader(file.toString('utf8', 0, line))
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
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && 'output_bytes' in value ? (value as Header) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Removes what has been kept for long enough, of all sessions of the folder that have ended. */
export function forgetOld(dir: string, nowMs: number): void {
  for (const name of namesIn(dir)) {
    const id = /^(.+)\.kept$/.exec(name)?.[1]
    const changedMs = id === undefined ? undefined : statSync(join(dir, name), { throwIfNoEntry: false })?.mtimeMs
    if (id === undefined || changedMs === undefined || nowMs - changedMs < KEPT_AGE_MS) continue
    const state = findSession(dir, id)?.state
    if (state === 'ended' || state === undefined) removeIfThere(join(dir, name))
  }
}
