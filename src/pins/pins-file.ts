// What is known of one server's tools in one project: a file of its user's, which no repository can bring along.
import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { type Env, findProject } from '../paths.ts'
import { ensureFolder, readFileIfThere, removeIfThere, replaceFile } from '../storage/atomic-file.ts'
import { withFileLockNow } from '../storage/file-lock.ts'
import { namesIn } from '../storage/folder-names.ts'
import { pinsDir } from './pins-folder.ts'

/** A definition of a tool that was seen. */
export interface Sight {
  readonly hash: string
  /** What was seen, without the server's secrets; null where it was too large to be kept. */
  readonly text: string | null
  readonly at: string
}

export interface Pin extends Sight {
  /** The unix user who approved it; null for what was there at first sight. */
  readonly by: string | null
}

export interface ToolRecord {
  readonly name: string
  /** What it may be; none of a tool that came later and that nobody has approved. */
  readonly pinned: readonly Pin[]
  /** What it was shown as besides, oldest first. */
  readonly shown: readonly Sight[]
  /** When a whole list was first without it. */
  readonly gone_at: string | null
}

export interface ServerPins {
  readonly v: 1
  /** The git folder that all worktrees share, or the folder itself. */
  readonly project: string
  readonly server_name: string
  /** How the server was last reached. */
  readonly reached: Reached
  readonly first_seen_at: string
  readonly tools: ReadonlyMap<string, ToolRecord>
}

/** A command line or an address; words of it may be secret, so that only its hash is exact. */
export interface Reached {
  readonly text: string
  readonly sha256: string
}

export interface PinsPlace {
  readonly path: string
  readonly project: string
  readonly serverName: string
}

/** Linked worktrees are one project; a clone elsewhere is another, in which the same name may be another server. */
export function pinsPlace(env: Env, cwd: string, serverName: string): PinsPlace {
  const { gitCommonDir, root } = findProject(cwd, env)
  const project = gitCommonDir ?? root
  const id = createHash('sha256').update(`${project}\0${serverName}`).digest('hex')
  return { path: join(pinsDir(env), `${id}.json`), project, serverName }
}

/** Undefined where nothing is known. */
export function readPins({ path, project, serverName }: PinsPlace): ServerPins | undefined {
  const pins = pinsAt(path)
  if (pins !== undefined && (pins.project !== project || pins.server_name !== serverName))
    throw corrupt(path, 'belongs to another server')
  return pins
}

/** Makes the new content from the old, while nobody else does; undefined leaves it as it is, null removes it. */
export function changePins(
  place: PinsPlace,
  change: (pins: ServerPins | undefined) => ServerPins | null | undefined,
): void {
  ensureFolder(dirname(place.path))
  withFileLockNow(place.path, () => {
    const after = change(readPins(place))
    if (after === null) removeIfThere(place.path)
    else if (after !== undefined) replaceFile(place.path, textOf(after), { mode: 0o600 })
  })
}

/** Tells whether somebody has replaced the file, which takes a new inode. */
export function pinsStamp({ path }: PinsPlace): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`
}

/** Of all projects, by name of the server. */
export function allPins(env: Env): readonly ServerPins[] {
  return namesIn(pinsDir(env))
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => pinsAt(join(pinsDir(env), name)) ?? [])
    .sort((a, b) => a.server_name.localeCompare(b.server_name) || a.project.localeCompare(b.project))
}

function pinsAt(path: string): ServerPins | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  // Whoever else could have written it tells ours what to believe.
  if (stats.uid !== process.getuid?.() || (stats.mode & 0o022) !== 0)
    throw new HeimdallError('STORE_UNREADABLE', `${path} can be written by others, so nobody knows who approved what`, {
      hint: `look at it, then chmod 600 ${path}`,
    })
  const bytes = readFileIfThere(path)
  return bytes === undefined ? undefined : parsePins(bytes.toString('utf8'), path)
}

function textOf({ tools, ...rest }: ServerPins): string {
  return `${JSON.stringify({ ...rest, tools: [...tools.values()] }, null, 1)}\n`
}

function parsePins(text: string, path: string): ServerPins {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw corrupt(path, 'is not JSON')
    throw error
  }
  if (typeof value === 'object' && value !== null && 'v' in value && Number(value.v) > 1)
    throw new HeimdallError('STORE_NEWER', `${path} has version ${Number(value.v)}, this program knows 1`, {
      hint: 'update Heimdall',
    })
  if (!isStored(value)) throw corrupt(path, 'is no record of tools')
  return { ...value, tools: new Map(value.tools.map((tool) => [tool.name, tool])) }
}

type Stored = Omit<ServerPins, 'tools'> & { readonly tools: readonly ToolRecord[] }

function isStored(value: unknown): value is Stored {
  if (typeof value !== 'object' || value === null) return false
  const { v, project, server_name: name, reached, first_seen_at: at, tools } = value as Partial<Stored>
  return (
    v === 1 &&
    [project, name, at, reached?.text, reached?.sha256].every((text) => typeof text === 'string') &&
    Array.isArray(tools) &&
    tools.every(isToolRecord)
  )
}

function isToolRecord(value: unknown): value is ToolRecord {
  if (typeof value !== 'object' || value === null) return false
  const { name, pinned, shown } = value as Partial<ToolRecord>
  return typeof name === 'string' && [pinned, shown].every((sights) => Array.isArray(sights) && sights.every(isSight))
}

function isSight(value: unknown): value is Sight {
  if (typeof value !== 'object' || value === null) return false
  const { hash, text, at } = value as Partial<Sight>
  return typeof hash === 'string' && typeof at === 'string' && (text === null || typeof text === 'string')
}

const corrupt = (path: string, what: string): HeimdallError =>
  new HeimdallError('STORE_CORRUPT', `${path} ${what}`, {
    hint: 'move it away to begin anew with what the server shows then',
  })
