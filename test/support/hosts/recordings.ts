// Recordings of real hosts, made by `npm run test:hosts` for `npm test`: what they wrote, showed and told their hooks, without anything of the machine that they ran on.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect } from 'vitest'
import type { TemporaryProject } from '../project.ts'
import { installedHost } from './installed.ts'
import type { HostName } from './script.ts'

const FOLDER = resolve(import.meta.dirname, '../../fixtures/recordings')
/** `HEIMDALL_RECORD=1 npm run test:hosts` makes them anew; otherwise what hosts do now is held against them. */
export const IS_RECORDING = process.env['HEIMDALL_RECORD'] === '1'
const TEXT_CHARS_MAX = 80

export const recordingPath = (host: HostName, name: string): string => join(FOLDER, host, name)

export const recording = (host: HostName, name: string): string => readFileSync(recordingPath(host, name), 'utf8')

/** Lines of JSON, shortened. They agree when the same kinds of lines have the same fields. */
export function keepLines(host: HostName, name: string, lines: readonly string[], project: TemporaryProject): void {
  const text = `${lines.map((line) => JSON.stringify(shortened(JSON.parse(anonymous(line, project))))).join('\n')}\n`
  if (IS_RECORDING) write(host, name, text)
  expect(fieldsOf(text.split('\n')), differs(host, name)).toEqual(fieldsOf(recording(host, name).split('\n')))
}

/** What a host did now and what it did when it was recorded. */
export function expectSame(host: HostName, name: string, [now, recorded]: readonly unknown[]): void {
  expect(now, differs(host, name)).toEqual(recorded)
}

const differs = (host: HostName, name: string): string =>
  `${host} does other than in its recording ${name}; when that is meant to be: HEIMDALL_RECORD=1 npm run test:hosts`

function write(host: HostName, name: string, text: string): void {
  const path = recordingPath(host, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  const { title, version } = installedHost(host) ?? { title: '', version: '' }
  writeFileSync(recordingPath(host, 'host.json'), `${JSON.stringify({ title, version }, null, 2)}\n`)
}

/** The recording was made with the version that the tests are for. */
export function expectSameVersion(host: HostName): void {
  if (!existsSync(recordingPath(host, 'host.json'))) throw new Error(`there is no recording of ${host}`)
  const { version } = JSON.parse(recording(host, 'host.json')) as { version: string }
  expect(version, differs(host, 'host.json')).toBe(installedHost(host)?.version)
}

function anonymous(text: string, { root, home }: TemporaryProject): string {
  const dashed = (path: string): string => path.replace(/[^A-Za-z0-9]/g, '-')
  return [
    [root, '/work/project'],
    [home, '/home/ana'],
    [dirname(root), '/work'],
    [dashed(root), '-work-project'],
    [resolve(import.meta.dirname, '../../..'), '/hosts'],
  ].reduce((result, [from = '', to = '']) => result.replaceAll(from, to), text)
}

/** Strings at a length that fits a page, lists at their first entries. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > TEXT_CHARS_MAX ? `${value.slice(0, TEXT_CHARS_MAX)}…` : value
  if (Array.isArray(value)) return value.slice(0, 3).map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]))
}

/** For each kind of line the fields that it has, three levels deep, with their types. */
function fieldsOf(lines: readonly string[]): Record<string, string[]> {
  const kinds = new Map<string, Set<string>>()
  for (const line of lines.filter((text) => text !== '')) {
    const value = JSON.parse(line) as Record<string, unknown>
    const named = value['hook_event_name'] ?? value['type']
    const kind = typeof named === 'string' ? named : (Object.keys(value)[0] ?? '')
    const fields = kinds.get(kind) ?? new Set()
    kinds.set(kind, fields)
    collect(value, '', fields, 3)
  }
  const inOrder = [...kinds.keys()].toSorted()
  return Object.fromEntries(inOrder.map((kind) => [kind, [...(kinds.get(kind) ?? [])].toSorted()]))
}

function collect(value: unknown, path: string, fields: Set<string>, depth: number): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) {
    fields.add(`${path} ${value === null ? 'null' : typeof value}`)
    return
  }
  for (const [name, inner] of Object.entries(value))
    collect(inner, path === '' ? name : `${path}.${name}`, fields, depth - 1)
}
