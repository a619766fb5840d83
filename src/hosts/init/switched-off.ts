// Whether a host was told, by its own settings, to run no hooks at all.
import { parse as parseToml, TomlError } from 'smol-toml'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { candidates, pathsOf, type Whereabouts } from '../config-files.ts'
import { isRecord } from '../config-text.ts'
import type { HookHost } from '../hooks/hook-table.ts'
import { valueAt } from './cut-out.ts'
import { SETUPS } from './host-setup.ts'
import { readJson } from './json-insert.ts'

export interface SwitchedOff {
  readonly found: string
  readonly fix: string
}

export function switchedOff(host: HookHost, where: Whereabouts): SwitchedOff | undefined {
  const [file] = SETUPS[host].hooks === undefined ? [] : pathsOf(SETUPS[host].hooks, where)
  if (host === 'codex') return codexOff(candidates('codex', where)[0]?.path)
  const path = host === 'claude' ? ['disableAllHooks'] : ['hooksConfig', 'enabled']
  const value = file === undefined || host === 'cursor' ? undefined : jsonAt(file, path)
  const isOff = host === 'claude' ? value === true : value === false
  return isOff && file !== undefined
    ? { found: `${path.join('.')} is ${String(value)} in ${file}`, fix: `take ${path.join('.')} out of ${file}` }
    : undefined
}

function jsonAt(file: string, path: readonly string[]): unknown {
  const json = readJson(readFileIfThere(file)?.toString('utf8') ?? '')
  return 'root' in json && json.root !== undefined ? valueAt(json.root, path) : undefined
}

function codexOff(file: string | undefined): SwitchedOff | undefined {
  const text = file === undefined ? undefined : readFileIfThere(file)?.toString('utf8')
  if (file === undefined || text === undefined) return undefined
  try {
    const { features } = parseToml(text)
    const names = isRecord(features) ? ['hooks', 'codex_hooks'].filter((name) => features[name] === false) : []
    return names[0] === undefined
      ? undefined
      : { found: `features.${names[0]} is false in ${file}`, fix: `take ${names[0]} out of [features] in ${file}` }
  } catch (error) {
    // What Codex itself cannot read is found by the check of its file.
    if (error instanceof TomlError) return undefined
    throw error
  }
}
