// `user.email` of a repository, read from git's files: a command must not pay for a process to learn who it works for.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../../errors.ts'
import type { Env, Project } from '../../paths.ts'

/** The value that `git config user.email` prints in the project, or nothing. */
export function gitEmail(project: Project, env: Env): string | undefined {
  const texts = configFiles(project, env).map(readIfThere)
  // Includes and values handed over in the environment follow rules of their own: there git itself is asked.
  const isPlain = texts.every((text) => !/^\s*\[include/im.test(text)) && env['GIT_CONFIG_COUNT'] === undefined
  if (!isPlain) return askGit(project, env)
  return texts.map(emailOf).findLast((email) => email !== undefined)
}

/** Weakest first, as git reads them. */
function configFiles(project: Project, env: Env): string[] {
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

function emailOf(text: string): string | undefined {
  let isUser = false
  let email: string | undefined
  for (const line of text.split('\n')) {
    const section = /^\s*\[\s*([^\]\s"]+)\s*(".*")?\s*\]/.exec(line)
    if (section !== null) isUser = section[1]?.toLowerCase() === 'user' && section[2] === undefined
    const value = isUser ? /^\s*(?:\[[^\]]*\]\s*)?email\s*=\s*"?([^"#;]*)"?/i.exec(line)?.[1]?.trim() : undefined
    if (value !== undefined && value !== '') email = value
  }
  return email
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
