// A repository with agents in worktrees of their own, and plain git as the witness.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, vi } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { findProject } from '../../src/paths.ts'
import { giveWorktree, type WorktreeWish } from '../../src/spine/worktrees/give.ts'
import { worktreesDir } from '../../src/spine/worktrees/new-place.ts'
import { type Ending } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { TEN_LINES } from '../support/repository.ts'

export { lines } from '../support/repository.ts'

export interface Agents {
  readonly project: TemporaryProject
  readonly heimdall: (...args: string[]) => Promise<Ending>
  /** `heimdall run --worktree` to its end; the script runs as the agent's command. Returns the worktree's folder. */
  readonly agent: (name: string, script?: string, ...flags: string[]) => Promise<string>
  /** The worktree alone, as a run would be given it. */
  readonly give: (name: string, wish?: Partial<WorktreeWish>) => Promise<string>
  /** Plain git in any folder. */
  readonly git: (cwd: string, ...args: string[]) => string
  readonly write: (folder: string, path: string, text: string) => void
  readonly commit: (folder: string, path: string, text: string, message?: string) => string
  /** The error of a refused command, with its particulars. */
  readonly refused: (...args: string[]) => Promise<Readonly<Record<string, unknown>>>
  /** Everything that could be lost or changed: refs, HEADs, indexes and all files of the given checkouts. */
  readonly picture: (...checkouts: string[]) => string
}

// Each test has some hundred git processes started; on a machine that is busy with others that takes its time.
vi.setConfig({ testTimeout: 600_000 })

/** `main` with f.txt of ten lines; .env, out/ and *.local are ignored. */
export function agentsAt(project: TemporaryProject = temporaryProject({ git: false })): Agents {
  cpSync(TEN_LINES, project.root, { recursive: true })
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', args, {
      cwd,
      env: { PATH: process.env['PATH'], ...project.env },
      encoding: 'utf8',
      stdio: 'pipe',
    }).replace(/\n$/, '')
  const heimdall: Agents['heimdall'] = (...args) => project.run('heimdall', args)
  const write: Agents['write'] = (folder, path, text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const commit: Agents['commit'] = (folder, path, text, message = `change ${path}`) => {
    write(folder, path, text)
    git(folder, 'add', '--all', '--', path)
    // What it says of itself has the whole name of the commit in it.
    const said = git(folder, '-c', 'core.abbrev=40', 'commit', '--message', message)
    return / ([0-9a-f]{40})\] /.exec(said)?.[1] ?? ''
  }
  return {
    project,
    heimdall,
    git,
    write,
    commit,
    async agent(name, script = 'true', ...flags) {
      const ended = await heimdall('run', '--worktree', '--agent', name, ...flags, '--json', '--', 'sh', '-c', script)
      expect(ended).toMatchObject({ code: 0 })
      return whereIs(await heimdall('worktree', 'list', '--json'), name)
    },
    async give(name, wish = {}) {
      const { worktree } = await giveWorktree({
        project: findProject(project.root, project.env),
        agent: name,
        base: undefined,
        dir: worktreesDir(project.env, null, project.root),
        copy: [],
        setup: null,
        task: null,
        env: { PATH: process.env['PATH'], ...project.env },
        clock: systemClock,
        note: () => undefined,
        ...wish,
      })
      return worktree.path
    },
    async refused(...args) {
      const ended = await heimdall('--json', ...args)
      expect(ended.code, ended.stdout + ended.stderr).not.toBe(0)
      return (JSON.parse(ended.stdout) as { error: Readonly<Record<string, unknown>> }).error
    },
    picture(...checkouts) {
      return JSON.stringify([
        filesOf(join(project.root, '.git'), 'refs'),
        ...[project.root, ...checkouts].map((folder) => [
          folder,
          // With the commit of HEAD, and the blobs of index entries that differ from it.
          git(folder, 'status', '--porcelain=v2', '--branch', '--ignored', '--untracked-files=all'),
          filesOf(folder),
        ]),
      ])
    },
  }
}

interface Listed {
  readonly agent: string
  readonly path: string
  readonly [field: string]: unknown
}

export function listed({ stdout }: Ending): Listed[] {
  return (JSON.parse(stdout) as { data: { worktrees: Listed[] } }).data.worktrees
}

function whereIs(ending: Ending, agent: string): string {
  return listed(ending).find((one) => one.agent === agent)?.path ?? ''
}

/** Every file of a checkout but git's own, with a digest of its content. */
function filesOf(root: string, below = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(join(root, below)).sort()) {
    const path = join(below, name)
    if (path === '.git') continue
    const stats = lstatSync(join(root, path))
    if (stats.isDirectory()) Object.assign(found, filesOf(root, path))
    else {
      const content = stats.isSymbolicLink() ? readlinkSync(join(root, path)) : readFileSync(join(root, path))
      found[path] = createHash('sha256').update(content).digest('hex')
    }
  }
  return found
}
