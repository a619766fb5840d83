// The files of a repository, remembered for as long as git's index is the same: counting the lines of fifty thousand files takes seconds, and every search looks through their names.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { HUB_TREE_FILES_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import { ask, askIfThere, fieldsOf, type Git, gitIn } from '../../spine/worktrees/git.ts'

interface RepositoryFile {
  readonly path: string
  readonly lines: number
}

export interface Repository {
  readonly files: readonly RepositoryFile[]
  readonly left_out: number
}

/** Without `lines` where they are being counted. */
export type KnownFile = Pick<RepositoryFile, 'path'> & Partial<RepositoryFile>

export class RepositoryFiles {
  readonly #git: Git
  #indexPath: string | undefined
  #known: { readonly mark: string; readonly tree: Promise<Repository>; isCounted: boolean } | undefined

  constructor(root: string, env: Env) {
    this.#git = gitIn(root, env)
  }

  /** Text files that git knows, by path; without git there is no map. */
  async tree(): Promise<Repository> {
    return this.#counted(await this.#mark())
  }

  /** Names at once, also where the lines are not counted yet: whoever searches does not wait for those. */
  async names(): Promise<readonly KnownFile[]> {
    const mark = await this.#mark()
    const tree = this.#counted(mark)
    if (mark === undefined || (this.#known?.mark === mark && this.#known.isCounted)) return (await tree).files
    const listed = await askIfThere(this.#git, ['ls-files', '--cached', '-z', '--full-name'])
    return fieldsOf(listed ?? '').map((path) => ({ path }))
  }

  #counted(mark: string | undefined): Promise<Repository> {
    if (mark === undefined) return Promise.resolve(NOTHING)
    if (this.#known?.mark === mark) return this.#known.tree
    const known = { mark, tree: count(this.#git), isCounted: false }
    this.#known = known
    known.tree.then(
      () => (known.isCounted = true),
      // Whoever waits for it is told; the next one counts anew.
      () => this.#known === known && (this.#known = undefined),
    )
    return known.tree
  }

  /** Nothing where there is no index: then there is nothing to count. Git writes it anew under another name, so each is another file. */
  async #mark(): Promise<string | undefined> {
    const path = (this.#indexPath ??= await this.#whereIndexIs())
    const stats = path === undefined ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false })
    return stats === undefined ? undefined : `${stats.ino}.${stats.size}.${stats.mtimeNs}`
  }

  async #whereIndexIs(): Promise<string | undefined> {
    try {
      return resolve(this.#git.cwd, await ask(this.#git, ['rev-parse', '--git-path', 'index']))
    } catch (error) {
      // No repository, or no git: it may come to be one.
      if (error instanceof HeimdallError && error.code === 'GIT_FAILED') return undefined
      throw error
    }
  }
}

const NOTHING: Repository = { files: [], left_out: 0 }

async function count(at: Git): Promise<Repository> {
  const counted = await askIfThere(at, ['grep', '--cached', '-I', '-c', '-z', '--full-name', '-e', '', '--'])
  const files = (counted ?? '')
    .split('\n')
    .filter((line) => line.includes('\0'))
    .map((line) => {
      const [path = '', lines = '0'] = line.split('\0')
      return { path, lines: Number(lines) }
    })
  const shown = files.length <= HUB_TREE_FILES_MAX ? files : largest(files)
  return { files: shown.toSorted((a, b) => (a.path < b.path ? -1 : 1)), left_out: files.length - shown.length }
}

const largest = (files: Repository['files']): Repository['files'] =>
  files.toSorted((a, b) => b.lines - a.lines).slice(0, HUB_TREE_FILES_MAX)
