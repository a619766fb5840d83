// A temporary project with git and a home folder of its own, gone when the test ends.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isErrno } from '../../src/errors.ts'
import { onTestFinished } from './cleanup.ts'
import { runLauncher } from './in-process.ts'
import { type Ending, killIfRunning, processesOf, type ProgramOptions } from './programs.ts'
import { EMPTY_REPOSITORY, GIT_ENV } from './repository.ts'

/** A fresh folder (real path, short enough for unix sockets), removed when the test ends. */
export function temporaryFolder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'hm-')))
  onTestFinished(() => removeFolder(path))
  return path
}

/** What a test has left running writes there until it is ended. */
function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY', 'EBUSY')) throw error
    for (const pid of processesOf(path)) killIfRunning(pid)
    rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

export interface TemporaryProject {
  readonly root: string
  /** HOME and the XDG folders lie here, so that nothing of the person who runs the tests is read or changed. */
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  path(...segments: string[]): string
  write(path: string, text: string | Uint8Array): string
  read(path: string): string
  git(...args: string[]): string
  /** Runs a launcher of `bin/` in the project to its end. */
  run(bin: string, args: readonly string[], options?: ProgramOptions): Promise<Ending>
}

/** With `startedAt` the first commit is the same one in each, as in clones. */
export function temporaryProject(
  options: { readonly git?: boolean; readonly startedAt?: string } = {},
): TemporaryProject {
  const folder = temporaryFolder()
  const root = join(folder, 'project')
  const home = join(folder, 'home')
  mkdirSync(root)
  mkdirSync(home)
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_STATE_HOME: join(home, '.local/state'),
    XDG_DATA_HOME: join(home, '.local/share'),
    XDG_RUNTIME_DIR: home,
    ...GIT_ENV,
  }
  const project: TemporaryProject = {
    root,
    home,
    env,
    path: (...segments) => join(root, ...segments),
    write(path, text) {
      const full = join(root, path)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, text)
      return full
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    git: (...args) =>
      execFileSync('git', args, {
        cwd: root,
        env: { PATH: process.env['PATH'], ...env },
        encoding: 'utf8',
        stdio: 'pipe',
      }),
    run: (bin, args, runOptions = {}) =>
      runLauncher(bin, args, { cwd: root, ...runOptions, env: { ...env, ...runOptions.env } }),
  }
  if (options.git !== false) {
    const { startedAt } = options
    const repository = startedAt === undefined ? EMPTY_REPOSITORY : repositoryOf(startedAt)
    cpSync(repository, project.path('.git'), { recursive: true })
  }
  return project
}

const dated = new Map<string, string>()

/** A copy of the empty repository whose start commit has this date, made once in each worker; the next run of the tests removes it. */
function repositoryOf(date: string): string {
  const known = dated.get(date)
  if (known !== undefined) return known
  const folder = mkdtempSync(join(dirname(EMPTY_REPOSITORY), 'dated-'))
  const repository = join(folder, '.git')
  cpSync(EMPTY_REPOSITORY, repository, { recursive: true })
  execFileSync('git', ['commit', '--quiet', '--amend', '--allow-empty', '--no-edit', `--date=${date}`], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...GIT_ENV, GIT_COMMITTER_DATE: date },
  })
  dated.set(date, repository)
  return repository
}
