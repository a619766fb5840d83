// What git says of a work tree, asked aside: which paths it ignores, knows and finds changed.
import { execFile } from 'node:child_process'
import { WATCH_GIT_MS } from '../../limits.ts'
import type { Project } from '../../paths.ts'

type Asked = Pick<Project, 'root' | 'gitCommonDir'>

/** Those of the paths that are nobody's work by the project's own word; none where there is no git. */
export async function ignoredPaths(project: Asked, paths: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(paths.length === 0 ? [] : await ask(project, ['check-ignore', '-z', '--stdin'], paths))
}

/** Those of the paths that are in the index or in the last commit. */
export async function trackedPaths(project: Asked, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set()
  const listed = ['ls-files', '-z', '--with-tree=HEAD', '--', ...paths.map((path) => `:(literal)${path}`)]
  return new Set(await ask(project, listed))
}

/** Changed, gone and new paths. */
export async function changedPaths(project: Asked): Promise<readonly string[]> {
  const fields = await ask(project, ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all'])
  return fields.filter((field) => field.length > 3).map((field) => field.slice(3))
}

/** Paths from the root on, divided by NUL; nothing where git has no answer, or none in time. */
function ask({ root, gitCommonDir }: Asked, args: readonly string[], input: readonly string[] = []): Promise<string[]> {
  if (gitCommonDir === undefined) return Promise.resolve([])
  return new Promise((resolve) => {
    const options = { encoding: 'utf8', timeout: WATCH_GIT_MS, killSignal: 'SIGKILL', maxBuffer: 16 << 20 } as const
    const git = execFile('git', ['--no-optional-locks', '-C', root, ...args], options, (error, stdout) => {
      // `check-ignore` ends with 1 where nothing is ignored.
      resolve(error === null ? stdout.split('\0').filter((path) => path !== '') : [])
    })
    // One that has ended before it read is no news: its exit code says why.
    git.stdin?.on('error', () => undefined)
    git.stdin?.end(input.map((path) => `${path}\0`).join(''))
  })
}
