// The files that `heimdall init` changes, planned and written, and the way back. A file is written only if the way back gives every byte again.
import { existsSync, mkdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { HeimdallError, ignore, isErrno, isSystemError } from '../../errors.ts'
import type { Env } from '../../paths.ts'
import { readFileIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { rewriteFile } from '../../storage/rewrite-file.ts'
import { clearAbandoned } from '../../storage/temporary-file.ts'
import { candidates, pathsOf, type Whereabouts } from '../config-files.ts'
import { applyEdits, type Edit, newlineOf, type TextSpan } from '../config-text.ts'
import { HOSTS, type HostName } from '../host-table.ts'
import { sha256 } from '../import-record.ts'
import { readTomlConfig } from '../toml-config.ts'
import { valueAt, withoutOurs } from './cut-out.ts'
import { LEDGER_NAME, ledgerServer, ledgerTable, SETUPS, type SetupOptions } from './host-setup.ts'
import { hiddenIn, insertions, keyTwice, readJson, type WantedInsert } from './json-insert.ts'
import { allSetups, type Inserted, readSetup, removeSetup, type SetupRecord, writeSetup } from './setup-record.ts'

export interface SetupPlan {
  readonly host: HostName
  readonly path: string
  readonly realPath: string
  /** What goes in: `hooks`, `ledger server`. */
  readonly what: readonly string[]
  /** Nothing where the file is made. */
  readonly bytes: Buffer | undefined
  readonly before: string
  readonly edits: readonly Edit[]
  /** Places in `before` that are shown to nobody. */
  readonly hidden: readonly TextSpan[]
  readonly after: string
  /** Why nothing can be put in. */
  readonly problem?: string
}

interface Target {
  readonly path: string
  readonly what: string
  readonly wanted?: readonly WantedInsert[]
  /** Text for the end of a TOML file. */
  readonly table?: string
}

/** One plan for each file, whether or not there is anything to do. */
export function planSetup(host: HostName, where: Whereabouts, options: SetupOptions): SetupPlan[] {
  const byPath = new Map<string, Target[]>()
  for (const target of targetsOf(host, where, options))
    byPath.set(target.path, [...(byPath.get(target.path) ?? []), target])
  return [...byPath].map(([path, targets]) => planFile(host, path, targets, where.env, options))
}

function targetsOf(host: HostName, where: Whereabouts, options: SetupOptions): Target[] {
  const { hooks } = SETUPS[host]
  const [hookPath] = hooks === undefined ? [] : pathsOf(hooks, where)
  const mcp = candidates(host, where).find(({ level }) => level !== 'project')
  const [key = 'mcpServers'] = HOSTS[host].servers[0] ?? []
  const server: WantedInsert = { path: [key, LEDGER_NAME], value: ledgerServer(options) }
  return [
    ...(hooks === undefined || hookPath === undefined
      ? []
      : [{ path: hookPath, what: 'hooks', wanted: hooks.wanted(options) }]),
    ...(mcp === undefined
      ? []
      : [
          mcp.path.endsWith('.toml')
            ? { path: mcp.path, what: 'ledger server', table: ledgerTable(options, '\n') }
            : { path: mcp.path, what: 'ledger server', wanted: [server] },
        ]),
  ]
}

function planFile(
  host: HostName,
  path: string,
  targets: readonly Target[],
  env: Env,
  options: SetupOptions,
): SetupPlan {
  const found = fileAt(path)
  const what = targets.map((target) => target.what)
  if ('problem' in found)
    return { host, path, realPath: path, bytes: undefined, hidden: [], what, ...UNTOUCHED, problem: found.problem }
  const { realPath, bytes } = found
  const text = textOf(bytes)
  const plan = { host, path, realPath, bytes, hidden: [], what }
  if (text === undefined) return { ...plan, ...UNTOUCHED, problem: 'is not text in UTF-8' }
  // What an earlier init put in makes way, so that a new one is the only one.
  const known = readSetup(env, realPath)
  const base = isCurrent(text, targets, options) ? text : takenOut(text, path, known).text
  const edits = isCurrent(text, targets, options) ? [] : editsFor(base, targets)
  if (typeof edits === 'string') return { ...plan, before: text, edits: [], after: text, problem: edits }
  return { ...plan, before: base, edits, hidden: hiddenOf(base, path), after: applyEdits(base, edits) }
}

const UNTOUCHED = { before: '', edits: [], after: '' } as const

/** What lies there, through links; words where it is nothing that a host keeps its settings in, which is no reason to leave other files alone. */
function fileAt(
  path: string,
): { readonly realPath: string; readonly bytes: Buffer | undefined } | { readonly problem: string } {
  try {
    const realPath = realOf(path)
    return { realPath, bytes: readFileIfThere(realPath) }
  } catch (error) {
    if (error instanceof HeimdallError && error.code !== 'INTERNAL')
      return { problem: error.message.replace(`${path} `, '') }
    if (isSystemError(error)) return { problem: `cannot be read: ${error.message}` }
    throw error
  }
}

function hiddenOf(text: string, path: string): readonly TextSpan[] {
  if (path.endsWith('.toml')) {
    const read = readTomlConfig(text, [['mcp_servers']])
    return 'servers' in read ? read.hidden() : []
  }
  const json = readJson(text)
  return 'root' in json ? hiddenIn(json) : []
}

/** All of it stands there already, as this version would write it. */
function isCurrent(text: string, targets: readonly Target[], options: SetupOptions): boolean {
  return targets.every(({ wanted = [], table }) =>
    table === undefined
      ? wanted.every(({ element, value, path }) =>
          path.at(-1) === LEDGER_NAME
            ? text.includes(JSON.stringify(LEDGER_NAME)) && text.includes(JSON.stringify(ledgerServer(options).args[0]))
            : element === undefined
              ? text.includes(`"${path.at(-1) ?? ''}"`) && value !== undefined
              : isThere(text, path, element),
        )
      : text.includes(table.replaceAll('\n', newlineOf(text))),
  )
}

function isThere(text: string, path: readonly string[], element: unknown): boolean {
  const json = readJson(text)
  if (!('root' in json) || json.root === undefined) return false
  const list = valueAt(json.root, path)
  return Array.isArray(list) && list.some((one) => JSON.stringify(one) === JSON.stringify(element))
}

function editsFor(text: string, targets: readonly Target[]): Edit[] | string {
  const table = targets.find((target) => target.table !== undefined)?.table
  if (table !== undefined) return tableEdits(text, table)
  const json = readJson(text)
  if (!('root' in json)) return `line ${json.line}, column ${json.column}: invalid JSON (${json.problem})`
  const foreign = targets.flatMap((target) => target.wanted ?? []).find((one) => isForeign(json.root, one))
  if (foreign !== undefined) return `has another server called ${LEDGER_NAME}: give that one another name`
  const wanted = targets.flatMap((target) => target.wanted ?? []).filter((one) => !isAlready(text, one))
  const twice = wanted.map((one) => keyTwice(json.root, one.path)).find((key) => key !== undefined)
  // Hosts take the last of them, and what is put into another is read by nobody.
  if (twice !== undefined) return `has ${twice} twice`
  return insertions(json, wanted)
}

/** Somebody else's server has the name that ours would get; it is theirs. */
const isForeign = (root: Parameters<typeof valueAt>[0] | undefined, { path }: WantedInsert): boolean =>
  root !== undefined && path.at(-1) === LEDGER_NAME && valueAt(root, path) !== undefined

/** A plain value that stands there stays, whoever put it there. */
function isAlready(text: string, { path, element, value }: WantedInsert): boolean {
  if (element !== undefined || typeof value === 'object') return false
  const json = readJson(text)
  return 'root' in json && json.root !== undefined && valueAt(json.root, path) !== undefined
}

function tableEdits(text: string, table: string): Edit[] | string {
  const newline = newlineOf(text)
  const gap = text === '' ? '' : text.endsWith('\n') ? newline : newline + newline
  const edit = { start: text.length, end: text.length, text: gap + table.replaceAll('\n', newline) }
  const read = readTomlConfig(applyEdits(text, [edit]), [['mcp_servers']])
  if ('servers' in read) return [edit]
  return `no table can be added at its end: line ${read.line}: ${read.problem}`
}

/** Writes the file, the record first: a crash in between leaves a note of what was not done. False when its owner was faster. */
export function writeSetupPlan(plan: SetupPlan, env: Env, { own }: SetupOptions): boolean {
  const { realPath, bytes, before, after, edits, host } = plan
  const mark = hasMark(bytes) ? '\uFEFF' : ''
  const record: SetupRecord = {
    v: 1,
    path: realPath,
    host,
    made: bytes === undefined || readSetup(env, realPath)?.made === true,
    folders: foldersMadeFor(realPath, env),
    before: sha256(before),
    after: sha256(after),
    inserted: insertedBy(edits),
    own,
  }
  if (cut(after, record.inserted) !== before)
    throw new HeimdallError('INTERNAL', `${realPath} could not be restored byte for byte, and was left alone`)
  writeSetup(env, record)
  if (bytes !== undefined) return rewriteFile(realPath, bytes, Buffer.from(mark + after))
  mkdirSync(dirname(realPath), { recursive: true, mode: 0o700 })
  replaceFile(realPath, after, { mode: 0o600 })
  return true
}

/** Those that are missing, or that an earlier file of ours was the first in: whichever of them goes last takes them along. */
function foldersMadeFor(path: string, env: Env): string[] {
  const made = new Set(allSetups(env).flatMap(({ folders = [] }) => folders))
  const found: string[] = []
  for (let dir = dirname(path); !existsSync(dir) || made.has(dir); dir = dirname(dir)) found.push(dir)
  return found
}

/** Where the pieces lie in the text that came of the edits, the last first. */
function insertedBy(edits: readonly Edit[]): Inserted[] {
  let shift = 0
  return edits
    .toSorted((a, b) => a.start - b.start)
    .map(({ start, text }) => {
      const at = start + shift
      shift += text.length
      return { at, length: text.length }
    })
    .toReversed()
}

const cut = (text: string, inserted: readonly Inserted[]): string =>
  inserted.reduce((rest, { at, length }) => rest.slice(0, at) + rest.slice(at + length), text)

export interface TakenOut {
  readonly text: string
  /** Byte for byte as before. */
  readonly isExact: boolean
}

/** The text without what is ours: by the record where nobody has touched it, else by what the lines say. */
export function takenOut(text: string, path: string, known: SetupRecord | undefined): TakenOut {
  if (known !== undefined && sha256(text) === known.after) {
    const rest = cut(text, known.inserted)
    if (sha256(rest) === known.before) return { text: rest, isExact: true }
  }
  return { text: withoutOurs(text, path), isExact: false }
}

export interface UndonePlan {
  readonly path: string
  readonly host: HostName
  readonly bytes: Buffer
  readonly text: string
  readonly isChanged: boolean
  readonly isExact: boolean
  /** The file was made by init and holds nothing else by now. */
  readonly removes: boolean
  /** Folders that were made for it, the innermost first. */
  readonly folders: readonly string[]
}

/** What an init that was killed has left beside the files of a host. */
export function clearHalves(host: HostName, where: Whereabouts, options: SetupOptions): void {
  for (const { realPath } of planSetup(host, where, options))
    if (existsSync(dirname(realPath))) clearAbandoned(realPath)
}

/** Files of a host that may hold something of ours without a record of it. */
export function unrecorded(host: HostName, where: Whereabouts, options: SetupOptions): SetupRecord[] {
  return planSetup(host, where, options)
    .filter(({ bytes, realPath }) => bytes !== undefined && readSetup(where.env, realPath) === undefined)
    .map(({ realPath }) => ({
      v: 1,
      path: realPath,
      host,
      made: false,
      before: '',
      after: '',
      inserted: [],
      own: options.own,
    }))
}

/** Nothing where the file is gone, or something else stands in its place. */
export function planUndo(known: SetupRecord): UndonePlan | undefined {
  const found = fileAt(known.path)
  const bytes = 'problem' in found ? undefined : found.bytes
  const text = textOf(bytes)
  if (bytes === undefined || text === undefined) return undefined
  const { text: rest, isExact } = takenOut(text, known.path, known)
  const removes = known.made && /^(?:\s|\{|\}|"version": 1|"(?:hooks|mcpServers|servers)": \{\s*\},?)*$/.test(rest)
  return {
    path: known.path,
    host: known.host,
    bytes,
    text: rest,
    isChanged: rest !== text || removes,
    isExact,
    removes,
    folders: known.folders ?? [],
  }
}

/** False when the file's owner was faster. */
export function writeUndo({ path, bytes, text, removes, folders, isChanged }: UndonePlan, env: Env): boolean {
  const mark = hasMark(bytes) ? '\uFEFF' : ''
  if (removes) {
    rmSync(path, { force: true })
    for (const folder of folders) removeEmpty(folder)
  } else if (isChanged && !rewriteFile(path, bytes, Buffer.from(mark + text))) return false
  removeSetup(env, path)
  return true
}

/** What somebody else has put something into since is theirs. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch (error) {
    ignore('ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EACCES', 'EPERM', 'EBUSY')(error)
  }
}

const hasMark = (bytes: Buffer | undefined): boolean => bytes?.subarray(0, 3).toString('hex') === 'efbbbf'

function textOf(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return ''
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Through links; of a file that is not there yet, as far as its folder is. */
function realOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
    const parent = dirname(path)
    return parent === path || !existsSync(parent) ? path : join(realpathSync.native(parent), basename(path))
  }
}
