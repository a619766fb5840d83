// Settings of git, read from its files: a command must not pay for a process to learn who it works for.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../../errors.ts'
import type { Env, Project } from '../../paths.ts'

/** The value that `git config user.email` prints in the project, or nothing. */
export function gitEmail(project: Project, env: Env): string | undefined {
  const texts = gitConfigFiles(project, env).map(readIfThere)
  // Includes and values handed over in the environment follow rules of their own: there git itself is asked.
  const isPlain = texts.every((text) => !/^\s*\[include/im.test(text)) && env['GIT_CONFIG_COUNT'] === undefined
  if (!isPlain) return askGit(project, env)
  return lastOf(texts, 'user', 'email')
}

/** The value of a setting, as far as the files say it that git always reads. Names in lower case. */
export const gitSetting = (
  project: Pick<Project, 'gitCommonDir' | 'root'>,
  env: Env,
  section: string,
  key: string,
): string | undefined => lastOf(gitConfigFiles(project, env).map(readIfThere), section, key)

const lastOf = (texts: readonly string[], section: string, key: string): string | undefined =>
  texts.map((text) => valueIn(text, section, key)).findLast((value) => value !== undefined)

/** Weakest first, as git reads them. */
export function gitConfigFiles(project: Pick<Project, 'gitCommonDir'>, env: Env): string[] {
  const home = env['HOME']
  const xdg = env['XDG_CONFIG_HOME'] ?? (home === undefined ? undefined : join(home, '.config'))
  const global = env['GIT_CONFIG_GLOBAL']
  return [
    ...(env['GIT_CONFIG_NOSYSTEM'] === undefined ? [env['GIT_CONFIG_SYSTEM'] ?? '/etc/gitconfig'] : []),
    ...(global !== undefined
      ? [global]
      : [
          ...(xdg === undefined ? [] : [join(xdg, 'git/config')]),
          ...(home === undefined ? [] : [join(home, '.gitconfig')]),
        ]),
    ...(project.gitCommonDir === undefined ? [] : [join(project.gitCommonDir, 'config')]),
  ]
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return ''
    throw error
  }
}

function valueIn(text: string, section: string, key: string): string | undefined {
  const line = new RegExp(`^\\s*(?:\\[[^\\]]*\\]\\s*)?${key}\\s*=\\s*"?([^"#;]*)"?`, 'i')
  let isIn = false
  let found: string | undefined
  for (const one of text.split('\n')) {
    const [, name, subsection] = /^\s*\[\s*([^\]\s"]+)\s*(".*")?\s*\]/.exec(one) ?? []
    if (name !== undefined) isIn = name.toLowerCase() === section && subsection === undefined
    const value = isIn ? line.exec(one)?.[1]?.trim() : undefined
    if (value !== undefined && value !== '') found = value
  }
  return found
}

function askGit(project: Project, env: Env): string | undefined {
  try {
    return execFileSync('git', ['-C', project.root, 'config', 'user.email'], {
      encoding: 'utf8',
      env: { ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch (error) {
    // Exit 1 is git's way of saying that the key is not set.
    if (isErrno(error, 'ENOENT') || (error instanceof Error && 'status' in error && error.status === 1))
      return undefined
    throw error
  }
}
