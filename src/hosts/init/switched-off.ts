// Whether the settings of a host, the user's or the project's, disable hooks or ours alone.
import { join } from 'node:path'
import { parse as parseToml, TomlError } from 'smol-toml'
import { findProject } from '../../paths.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { pathsOf, type Whereabouts } from '../config-files.ts'
import type { HookHost } from '../hooks/hook-table.ts'
import { HOSTS } from '../host-table.ts'
import { isObject } from '../../plain-object.ts'
import { valueAt } from './cut-out.ts'
import { HOOK_NAME, SETUPS } from './host-setup.ts'
import { readJson } from './json-insert.ts'

export interface SwitchedOff {
  readonly found: string
  readonly fix: string
}

/** A setting that disables hooks, and the values that do. */
interface Switch {
  readonly path: readonly string[]
  readonly isOff: (value: unknown) => boolean
}

interface Switches {
  /** Paths in the project; hosts read these too. */
  readonly project: readonly string[]
  readonly switches: readonly Switch[]
}

const SWITCHES: Readonly<Record<HookHost, Switches>> = {
  claude: {
    project: ['.claude/settings.json', '.claude/settings.local.json'],
    switches: [{ path: ['disableAllHooks'], isOff: (value) => value === true }],
  },
  codex: {
    project: HOSTS.codex.project,
    switches: [
      { path: ['features', 'hooks'], isOff: (value) => value === false },
      { path: ['features', 'codex_hooks'], isOff: (value) => value === false },
    ],
  },
  gemini: {
    project: HOSTS.gemini.project,
    switches: [
      { path: ['hooksConfig', 'enabled'], isOff: (value) => value === false },
      { path: ['hooksConfig', 'disabled'], isOff: (value) => Array.isArray(value) && value.includes(HOOK_NAME) },
    ],
  },
  cursor: { project: [], switches: [] },
}

export function switchedOff(host: HookHost, where: Whereabouts): SwitchedOff | undefined {
  for (const file of filesOf(host, where))
    for (const { path, isOff } of SWITCHES[host].switches) {
      const value = settingIn(file, path)
      const name = path.join('.')
      if (isOff(value))
        return { found: `${name} is ${JSON.stringify(value)} in ${file}`, fix: `remove ${name} from ${file}` }
    }
  return undefined
}

function filesOf(host: HookHost, where: Whereabouts): string[] {
  const file = host === 'codex' ? HOSTS.codex.user[0] : SETUPS[host].hooks
  const root = where.cwd === undefined ? undefined : findProject(where.cwd, where.env).root
  return [
    ...(file === undefined ? [] : pathsOf(file, where).slice(0, 1)),
    ...(root === undefined ? [] : SWITCHES[host].project.map((path) => join(root, path))),
  ]
}

/** Undefined for an invalid file, which another check reports. */
function settingIn(file: string, path: readonly string[]): unknown {
  const text = readFileIfThere(file)?.toString('utf8')
  if (text === undefined) return undefined
  if (file.endsWith('.toml')) return tomlAt(text, path)
  const json = readJson(text)
  return 'root' in json && json.root !== undefined ? valueAt(json.root, path) : undefined
}

function tomlAt(text: string, path: readonly string[]): unknown {
  try {
    return path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), parseToml(text))
  } catch (error) {
    if (error instanceof TomlError) return undefined
    throw error
  }
}
