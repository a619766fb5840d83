// Terminal streams of real hosts in asciicast v2, and the screens that they draw.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Terminal } from '@xterm/headless'
import { createTerminal } from '../../../src/cells/terminal.ts'
import type { TemporaryProject } from '../project.ts'

export type CastEvent = readonly [seconds: number, kind: string, text: string]

export interface Cast {
  readonly head: {
    readonly width: number
    readonly height: number
    readonly host: string
    readonly host_version: string
  }
  readonly events: readonly CastEvent[]
}

const ROOT = resolve(import.meta.dirname, '../../..')

export const castPath = (name: string): string => resolve(ROOT, 'test/fixtures/hosts', `${name}.cast`)
/** What the last run of the real hosts saw, whether or not it is kept. */
export const seenCastPath = (name: string): string => resolve(ROOT, '.build/recordings', `${name}.cast`)

export function readCast(path: string): Cast {
  const [head = '{}', ...events] = readFileSync(path, 'utf8').trimEnd().split('\n')
  return { head: JSON.parse(head) as Cast['head'], events: events.map((line) => JSON.parse(line) as CastEvent) }
}

export function writeCast(path: string, head: object, events: readonly CastEvent[]): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, [head, ...events].map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** What a person typed in the recording. */
export const keysOf = ({ events }: Cast): string[] =>
  events.filter(([, kind]) => kind === 'i').map(([, , keys]) => keys)

/** Without the folder that it ran in, cell for cell: a path of another length would be another screen. */
export function anonymousCast(events: readonly CastEvent[], { root }: TemporaryProject): CastEvent[] {
  const folder = dirname(root)
  const other = '/home/ana/work'.padEnd(folder.length, 'k').slice(0, folder.length)
  const clean = events.map(([at, kind, text]): CastEvent => [at, kind, text.replaceAll(folder, other)])
  const left = clean.find(([, , text]) => text.includes(folder.slice(-6)))
  if (left !== undefined) throw new Error(`the recording names the folder it was made in: ${JSON.stringify(left)}`)
  return clean
}

export const rowsOf = ({ rows, buffer: { active } }: Terminal): string[] =>
  Array.from({ length: rows }, (_, y) => active.getLine(active.baseY + y)?.translateToString(true) ?? '')

/** What was on the screen whenever a person typed. */
export async function screensOf({ head, events }: Cast): Promise<string[][]> {
  const terminal = createTerminal({ cols: head.width, rows: head.height })
  const screens: string[][] = []
  for (const [, kind, text] of events) {
    if (kind === 'o') await new Promise<void>((done) => terminal.write(text, done))
    if (kind === 'i') screens.push(rowsOf(terminal))
  }
  terminal.dispose()
  return screens
}

/** The prompt at the end of a screen: from its question on, without frames and blanks. Above it stands what differs from run to run. */
export function promptOn(screen: readonly string[], question: string): string[] {
  const lines = screen.map((row) => row.replaceAll(/[─-╿]/g, '').trim()).filter((row) => row !== '')
  return lines.slice(lines.findLastIndex((row) => row.includes(question)))
}
