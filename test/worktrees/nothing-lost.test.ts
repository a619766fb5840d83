// Random histories in both trees: after a merge or a removal, done or refused, every content that was there still is; and what was merged is what git merges.
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, type Stats, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HeimdallError } from '../../src/errors.ts'
import { findProject } from '../../src/paths.ts'
import { mergeWorktree } from '../../src/spine/worktrees/merge.ts'
import { removeWorktree } from '../../src/spine/worktrees/remove-worktree.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { withSeed } from '../support/seed.ts'
import { type Agents, agentsAt, lines } from './repository.ts'

type Pick = <T>(of: readonly T[]) => T

const NAMES = ['f.txt', 'g.txt', 'src/a.ts', 'src/b.ts', 'src', 'x.local', 'deep/er/c.md'] as const

/** One thing that somebody does in a checkout. */
function act({ git, write }: Agents, folder: string, pick: Pick, random: () => number): void {
  const name = pick(NAMES)
  const full = join(folder, name)
  const isFile = entryAt(full)?.isFile() === true
  const deed = pick(['write', 'write', 'write', 'rename', 'delete', 'stage', 'commit', 'commit'])
  if (deed === 'write' && isFree(folder, name))
    write(folder, name, lines({ [1 + Math.floor(random() * 10)]: `${random()}` }))
  if (deed === 'rename' && isFile && isFree(folder, 'moved.txt')) renameSync(full, join(folder, 'moved.txt'))
  if (deed === 'delete' && isFile && !name.endsWith('.local')) rmSync(full)
  if (deed === 'stage' || deed === 'commit') git(folder, 'add', '--all')
  if (deed === 'commit') git(folder, 'commit', '--quiet', '--allow-empty', '-m', `by ${random()}`)
}

/** Nothing also below a file. */
function entryAt(path: string): Stats | undefined {
  return existsSync(path) ? lstatSync(path) : undefined
}

/** Neither a folder nor below a file. */
function isFree(folder: string, name: string): boolean {
  const parts = name.split('/')
  return parts.every((_, index) => {
    const stats = entryAt(join(folder, ...parts.slice(0, index + 1)))
    return stats === undefined || stats.isDirectory() === index < parts.length - 1
  })
}

/** Blobs that a ref, a HEAD or an index leads to, and those that lie in a file; of the agent, only what git does not ignore. */
function contents({ git, project }: Agents, path: string): Set<string> {
  const reachable = git(project.root, 'rev-list', '--objects', '--all', '--indexed-objects')
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
  const theirs = existsSync(path)
    ? git(path, 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0')
    : []
  const files = [
    ...filesBelow(project.root),
    ...theirs.map((name) => join(path, name)).filter((file) => entryAt(file)?.isFile() === true),
  ]
  return new Set([...reachable, ...files.map((file) => blobId(readFileSync(file)))])
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== '.git' && name !== '.planning')
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]))
}

const blobId = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.byteLength}\0`).update(content).digest('hex')

async function codeOf<T>(doing: Promise<T>): Promise<T | string> {
  try {
    return await doing
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return error.code
  }
}

/** What a plain `git merge` makes of it in a clone: the tree, or nothing when it conflicts. */
function plainMerge({ git, project }: Agents, tip: string): string | undefined {
  const clone = join(temporaryFolder(), 'clone')
  git(project.root, 'clone', '--quiet', '--no-hardlinks', project.root, clone)
  git(clone, 'fetch', '--quiet', 'origin', tip)
  try {
    git(clone, 'merge', '--quiet', '--no-edit', tip)
  } catch {
    return undefined
  }
  return git(clone, 'rev-parse', 'HEAD^{tree}')
}

test(`nothing is lost in ${scaled(2, 300)} random histories`, { timeout: scaled(600_000, 7_200_000) }, () =>
  withSeed(async (random) => {
    const pick: Pick = (of) => of[Math.floor(random() * of.length)] as (typeof of)[number]
    const seen = new Map<string, number>()
    // At least until two ways came about: with one alone nothing would be shown.
    for (let round = 0; round < scaled(2, 300) || seen.size < 2; round += 1) {
      const agents = agentsAt()
      const { project, git, give } = agents
      git(project.root, 'config', 'uploadpack.allowAnySHA1InWant', 'true')
      const path = await give('amber-otter')
      for (let step = 0; step < 24; step += 1) act(agents, pick([path, project.root]), pick, random)
      // Half of the time everybody has tidied up, so that merges come about.
      const tidy = [path, project.root].filter(() => random() < 0.6)
      for (const folder of tidy) {
        git(folder, 'add', '--all')
        git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'tidy')
      }
      const env = { PATH: process.env['PATH'], ...project.env }
      const wish = { project: findProject(project.root, project.env), agent: 'amber-otter', env }
      const tip = git(path, 'rev-parse', 'HEAD')
      const expected = plainMerge(agents, tip)
      const [before, picture] = [contents(agents, path), agents.picture(path)]
      const isSquash = random() < 0.3
      const merged = await codeOf(
        mergeWorktree({
          ...wish,
          into: undefined,
          isSquash,
          message: undefined,
          commitMessage: undefined,
          mayRun: false,
        }),
      )
      expect(missing(before, contents(agents, path))).toEqual([])
      if (typeof merged === 'string') expect(agents.picture(path)).toBe(picture)
      else expect(git(project.root, 'rev-parse', 'HEAD^{tree}')).toBe(expected)
      if (merged === 'WORKTREE_CONFLICT') expect(expected).toBeUndefined()
      const [atRemoval, pictureThen] = [contents(agents, path), agents.picture(path)]
      const removed = await codeOf(removeWorktree({ ...wish, isForced: random() < 0.5, keepsBranch: random() < 0.3 }))
      expect(missing(atRemoval, contents(agents, path))).toEqual([])
      if (typeof removed === 'string') expect(agents.picture(path)).toBe(pictureThen)
      else expect(existsSync(path)).toBe(false)
      git(project.root, 'fsck', '--connectivity-only', '--no-dangling')
      for (const word of [
        typeof merged === 'string' ? merged : merged.how,
        typeof removed === 'string' ? removed : 'removed',
      ])
        seen.set(word, (seen.get(word) ?? 0) + 1)
    }
  }),
)

function missing(before: ReadonlySet<string>, after: ReadonlySet<string>): string[] {
  return [...before].filter((one) => !after.has(one))
}
