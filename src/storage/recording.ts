// A recording of a session as asciicast v2: one header line, then one line per output, resize and marker.
import { closeSync, ftruncateSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { diskError, onDisk } from './faults.ts'
import { O, realFs } from './fs.ts'
import { openPlainFile } from './plain-file.ts'
import { writeWhole } from './whole-write.ts'

interface Size {
  readonly cols: number
  readonly rows: number
}

/** Takes out what is not to be recorded; what may be the beginning of it waits for the rest. */
export interface OutputCover {
  push(bytes: Buffer): Buffer
  end(): Buffer
  text(line: string): string
}

export interface Recording {
  output(bytes: Buffer): void
  resize(size: Size): void
  /** Says something of the recording itself, which players show as a marker. */
  mark(text: string): void
  close(): void
}

/**
 * A file that takes no more ends the recording, once; `onStopped` says what becomes of whoever records. So does a
 * recording that has grown to its bound. One that cannot begin is an error.
 */
export function openRecording(
  path: string,
  header: {
    readonly size: Size
    readonly command: readonly string[]
    readonly title: string
    readonly bytesMax?: number | null
    readonly cover?: OutputCover
  },
  clock: Clock,
  onStopped: (error: unknown) => void = raise,
): Recording {
  const { size, command, title, cover } = header
  const bytesMax = header.bytesMax ?? Infinity
  const fd = onDisk(path, () => openEmpty(path))
  const startMs = clock.monoMs()
  // Characters may be split between reads; asciicast carries text, not bytes.
  const decoder = new StringDecoder('utf8')
  let wholeBytes = 0
  let isStopped = false
  const write = (line: unknown): void => {
    const text = `${JSON.stringify(line)}\n`
    if (wholeBytes > 0 && wholeBytes + Buffer.byteLength(text) > bytesMax) {
      isStopped = true
      onStopped(new HeimdallError('STORE_FULL', `${path} has grown to its bound of ${bytesMax} bytes`))
      return
    }
    const failure = writeWhole(fd, text)
    if (failure === undefined) {
      wholeBytes += Buffer.byteLength(text)
      return
    }
    // Not tried again: a recording with a hole in it is worth nothing.
    isStopped = true
    // Players refuse a torn last line.
    ftruncateSync(fd, wholeBytes)
    const isBegun = wholeBytes > 0
    ;(isBegun ? onStopped : raise)(diskError(path, failure))
  }
  const event = (kind: 'o' | 'r' | 'm', text: string): void => {
    if (isStopped || text === '') return
    write([Number(((clock.monoMs() - startMs) / 1_000).toFixed(6)), kind, text])
  }
  write({
    version: 2,
    width: size.cols,
    height: size.rows,
    timestamp: Math.floor(clock.wallMs() / 1_000),
    command: cover?.text(command.join(' ')) ?? command.join(' '),
    title: cover?.text(title) ?? title,
  })
  return {
    output: (bytes) => event('o', decoder.write(cover?.push(bytes) ?? bytes)),
    resize: ({ cols, rows }) => event('r', `${cols}x${rows}`),
    mark: (text) => event('m', text),
    close: () => {
      event('o', (cover === undefined ? '' : decoder.write(cover.end())) + decoder.end())
      closeSync(fd)
    },
  }
}

/** Emptied only when it is seen to be a plain file with one name: what is written here must not be somebody else's. */
function openEmpty(path: string): number {
  const fd = openPlainFile(realFs, path, O.O_WRONLY | O.O_CREAT, 0o600)
  try {
    ftruncateSync(fd)
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

function raise(error: unknown): never {
  throw error
}
