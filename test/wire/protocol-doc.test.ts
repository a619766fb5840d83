// docs/protocol.md says what the table of frames says, both ways.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FRAME_PAYLOAD_BYTES_MAX } from '../../src/limits.ts'
import { FRAMES, STATES } from '../../src/wire/frames.ts'
import { type Info, PLAIN_SUBSCRIBE } from '../../src/wire/payloads.ts'

const page = readFileSync('docs/protocol.md', 'utf8')

/** Rows of the table whose header begins with `first`, as trimmed cells. */
function tableOf(first: string): string[][] {
  const lines = page.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`| ${first} |`))
  expect(start, `no table with a first column ${first}`).toBeGreaterThan(0)
  const end = lines.findIndex((line, i) => i > start && !line.startsWith('|'))
  return lines.slice(start + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const hex = (byte: number): string => `0x${byte.toString(16).padStart(2, '0')}`

test('the frames of the page are the frames of the table', () => {
  const fromCode = Object.values(FRAMES)
    .map((frame) => [hex(frame.tag), frame.label, frame.sender, frame.payload, 'added' in frame ? 'added' : ''])
    .map((cells) => cells.join(' | '))
    .sort()
  expect(
    tableOf('tag')
      .map((cells) => cells.join(' | '))
      .sort(),
  ).toEqual(fromCode)
})

test('the state bytes of the page are those of the table', () => {
  expect(tableOf('byte').map(([byte, name]) => [byte, name])).toEqual(
    Object.entries(STATES).map(([name, byte]) => [hex(byte), name]),
  )
})

test('the options, the fields of INFO and the cap are named', () => {
  expect(tableOf('option').map(([name]) => name)).toEqual(Object.keys(PLAIN_SUBSCRIBE).map((name) => `\`${name}\``))
  expect(page).toContain(FRAME_PAYLOAD_BYTES_MAX.toLocaleString('en'))
  const fields: Record<keyof Info, true> = {
    id: true,
    pid: true,
    supervisor_pid: true,
    command: true,
    cwd: true,
    started_at: true,
    cols: true,
    rows: true,
    pinned: true,
    alive: true,
    exit_code: true,
    state: true,
    state_ms: true,
    idle_ms: true,
    needs_input: true,
    modes: true,
    offset_start: true,
    offset_end: true,
    input_bytes_pending: true,
    clients: true,
    viewers: true,
    title: true,
    last_line: true,
    needs_input_ms: true,
    acts: true,
  }
  const listed = /INFO answers `\{([^}]*)\}`/.exec(page)?.[1]?.split(/,\s*/)
  expect(listed).toEqual(Object.keys(fields))
})
