// Which files of a host there are: those of the user, and those of the project that a folder is in.
import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { isErrno } from '../errors.ts'
import { type Env, findProject, homeDir } from '../paths.ts'
import { HOSTS, type HostName, type UserFile } from './host-table.ts'

export type ConfigFormat = 'json' | 'toml'

export const formatOf = (path: string): ConfigFormat => (path.endsWith('.toml') ? 'toml' : 'json')

export interface ConfigFile {
  readonly host: HostName
  /** `named`: by the variable that replaces all others. `recorded`: an import has been there. */
  readonly level: 'user' | 'project' | 'named' | 'recorded'
  /** As a person would write it; may lead through links. */
  readonly path: string
  /** Where the bytes are. Two hosts, or two names, may mean one file. */
  readonly realPath: string
  /** By the name that the host knows; a link may lead to any other. */
  readonly format: ConfigFormat
  /** Why there are no bytes, although there is a name. */
  readonly problem?: string
  /** For a file of a project: the folder that it must not lead out of. */
  readonly within?: string
}

export interface Whereabouts {
  readonly env: Env
  /** Nothing where the working folder is gone: then there is no project. */
  readonly cwd: string | undefined
  readonly platform: NodeJS.Platform
}

/** Those that exist, each once, the user's before the project's. */
export function configFiles(host: HostName, where: Whereabouts): ConfigFile[] {
  const found: ConfigFile[] = []
  for (const candidate of candidates(host, where)) {
    const bytes = bytesAt(candidate.path)
    if (bytes === undefined || found.some((known) => known.realPath === bytes.realPath)) continue
    found.push({ host, ...candidate, ...bytes, format: formatOf(candidate.path) })
  }
  return found
}

/** Where a host's files would be, for whoever looks in vain. */
export function candidates(host: HostName, where: Whereabouts): Pick<ConfigFile, 'level' | 'path' | 'within'>[] {
  const { override, user, project } = HOSTS[host]
  const named = where.env[override]
  if (named !== undefined && named !== '') return [{ level: 'named', path: resolve(where.cwd ?? '/', named) }]
  const { cwd, env } = where
  const root = cwd === undefined ? undefined : findProject(cwd, env).root
  return [
    ...user.flatMap((file) => pathsOf(file, where)).map((path) => ({ level: 'user' as const, path })),
    ...(root === undefined
      ? []
      : project.map((path) => ({ level: 'project' as const, path: join(root, path), within: root }))),
  ]
}

export function pathsOf({ path, movedBy, inMoved, isConfig }: UserFile, where: Whereabouts): string[] {
  const moved = movedBy === undefined ? undefined : where.env[movedBy]
  if (moved !== undefined && moved !== '') return [resolve(where.cwd ?? '/', moved, inMoved ?? '')]
  const base = isConfig === true ? configHome(where) : homeDir(where.env)
  return expand(join(base, path))
}

function configHome({ env, platform }: Whereabouts): string {
  if (platform === 'darwin') return join(homeDir(env), 'Library/Application Support')
  const set = env['XDG_CONFIG_HOME']
  return set !== undefined && isAbsolute(set) ? set : join(homeDir(env), '.config')
}

/** One `*` stands for any folder. */
function expand(path: string): string[] {
  const [before, after] = path.split('/*/')
  if (before === undefined || after === undefined) return [path]
  if (!existsSync(before)) return []
  return readdirSync(before)
    .sort()
    .map((name) => join(before, name, after))
}

/** Nothing where no file is; a link that leads to none is somebody's mistake, and worth a word. */
function bytesAt(path: string): Pick<ConfigFile, 'realPath' | 'problem'> | undefined {
  try {
    return statSync(path).isFile() ? { realPath: realpathSync.native(path) } : undefined
  } catch (error) {
    if (isErrno(error, 'ELOOP')) return { realPath: path, problem: 'is a link that leads in a circle' }
    if (!isErrno(error, 'ENOENT', 'ENOTDIR')) throw error
    return isLink(path) ? { realPath: path, problem: 'is a link to a file that is not there' } : undefined
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return false
    throw error
  }
}
