// The repositories that temporary projects start as copies of.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** A `.git` with one commit, made before the tests: copying it takes a fraction of the time of two git processes. */
export const EMPTY_REPOSITORY = resolve('.build/repository/.git')

/** A checkout with two more commits: f.txt of ten lines, then a .gitignore with .env, out/, *.local and .planning/. */
export const TEN_LINES = resolve('.build/ten-lines')

/** No git configuration of the user counts. */
export const GIT_ENV = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.org',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.org',
}

/** Ten lines, some of them others. */
export function lines(changed: Readonly<Record<number, string>> = {}): string {
  return Array.from({ length: 10 }, (_, index) => `${changed[index + 1] ?? `line ${index + 1}`}\n`).join('')
}

export function makeRepositories(): void {
  makeRepository(dirname(EMPTY_REPOSITORY))
  const git = makeRepository(TEN_LINES)
  writeFileSync(join(TEN_LINES, 'f.txt'), lines())
  git('add', '--all')
  git('commit', '--quiet', '--message=ten lines')
  writeFileSync(join(TEN_LINES, '.gitignore'), '.env\nout/\n*.local\n.planning/\n')
  git('add', '--all')
  git('commit', '--quiet', '--message=what is ignored')
}

function makeRepository(folder: string): (...args: string[]) => void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const git = (...args: string[]): void =>
    void execFileSync('git', args, { cwd: folder, env: { PATH: process.env['PATH'], ...GIT_ENV } })
  git('init', '--quiet', '--initial-branch=main')
  // Every commit and merge would start a program that finds nothing to do.
  git('config', 'maintenance.auto', 'false')
  git('commit', '--quiet', '--allow-empty', '--message=start')
  // The samples are two thirds of what would be copied.
  const hooks = join(folder, '.git/hooks')
  for (const sample of readdirSync(hooks)) rmSync(join(hooks, sample))
  return git
}
