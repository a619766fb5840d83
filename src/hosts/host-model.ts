// The model that a host is set to, as its own command line, environment and files say it; nothing is guessed.
import { join } from 'node:path'
import { type Env, findProject, homeDir } from '../paths.ts'
import { readFileIfThere } from '../storage/atomic-file.ts'
import { isObject } from '../plain-object.ts'
import type { Whereabouts } from './config-files.ts'

/** The first that says it: the command line, the environment, files from the nearest to the user's. */
export function configuredModel(
  host: 'claude' | 'codex',
  command: readonly string[],
  where: Whereabouts,
): string | undefined {
  const { env } = where
  return (
    inWords(command) ??
    (host === 'claude' ? nonEmpty(env['ANTHROPIC_MODEL']) : undefined) ??
    filesOf(host, where)
      .map((path) => modelIn(host, path))
      .find((model) => model !== undefined)
  )
}

function inWords(command: readonly string[]): string | undefined {
  const at = command.findIndex((word) => word === '--model' || word === '-m')
  if (at !== -1) return nonEmpty(command[at + 1])
  return nonEmpty(command.find((word) => word.startsWith('--model='))?.slice('--model='.length))
}

function filesOf(host: 'claude' | 'codex', { env, cwd }: Whereabouts): string[] {
  const root = cwd === undefined ? undefined : findProject(cwd, env).root
  if (host === 'codex') return [join(folderOf(env, 'CODEX_HOME', '.codex'), 'config.toml')]
  const user = join(folderOf(env, 'CLAUDE_CONFIG_DIR', '.claude'), 'settings.json')
  const own =
    root === undefined ? [] : ['settings.local.json', 'settings.json'].map((name) => join(root, '.claude', name))
  return [...own, user]
}

const folderOf = (env: Env, variable: string, name: string): string =>
  nonEmpty(env[variable]) ?? join(homeDir(env), name)

/** A file that cannot be read says nothing here: whoever runs the host is told by the host. */
function modelIn(host: 'claude' | 'codex', path: string): string | undefined {
  const text = readFileIfThere(path)?.toString('utf8')
  if (text === undefined) return undefined
  // The first table ends what stands at the top; a model of a profile is not the model.
  if (host === 'codex') return /^model[ \t]*=[ \t]*["']([^"'\n]+)["']/m.exec(text.split(/^\[/m)[0] ?? '')?.[1]
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && typeof value['model'] === 'string' ? nonEmpty(value['model']) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text)
