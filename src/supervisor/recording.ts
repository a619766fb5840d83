// A recording of a session as asciicast v2: one header line, then one line per output and resize.
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '../clock.ts'
import { onDisk } from '../storage/faults.ts'
import type { Size } from '../wire/messages.ts'

export interface Recording {
  output(bytes: Buffer): void
  resize(size: Size): void
  close(): void
}

export function openRecording(
  path: string,
  header: { readonly size: Size; readonly command: readonly string[]; readonly title: string },
  clock: Clock,
): Recording {
  const { size, command, title } = header
  const fd = onDisk(path, () =>
    openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600),
  )
  const startMs = clock.monoMs()
  // Characters may be split between reads; asciicast carries text, not bytes.
  const decoder = new StringDecoder('utf8')
  const write = (line: unknown): void => void writeSync(fd, `${JSON.stringify(line)}\n`)
  const event = (kind: 'o' | 'r', text: string): void => {
    if (text !== '') write([Number(((clock.monoMs() - startMs) / 1_000).toFixed(6)), kind, text])
  }
  write({
    version: 2,
    width: size.cols,
    height: size.rows,
    timestamp: Math.floor(clock.wallMs() / 1_000),
    command: command.join(' '),
    title,
  })
  return {
    output: (bytes) => event('o', decoder.write(bytes)),
    resize: ({ cols, rows }) => event('r', `${cols}x${rows}`),
    close: () => {
      event('o', decoder.end())
      closeSync(fd)
    },
  }
}
