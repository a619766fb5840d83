// Kinds of repositories: bare ones with worktrees, sparse ones, submodules, hooks that fail, filters.
import { chmodSync, existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/project.ts'
import { agentsAt, listed } from './repository.ts'

test('a worktree of a bare repository is a place to begin at, and its branch one to merge into', async () => {
  const { project, git, commit } = agentsAt()
  const folder = temporaryFolder()
  const [bare, linked] = [join(folder, 'repo.git'), join(folder, 'main')]
  git(folder, 'clone', '--quiet', '--bare', project.root, bare)
  git(bare, 'worktree', 'add', '--quiet', linked, 'main')
  const heimdall = (cwd: string, ...args: string[]) => project.run('heimdall', args, { cwd })
  expect(await heimdall(bare, 'run', '--worktree', '--', 'true')).toMatchObject({ code: 3 })
  const run = await heimdall(linked, 'run', '--worktree', '--agent', 'amber-otter', '--', 'true')
  expect(run).toMatchObject({ code: 0 })
  const [mine] = listed(await heimdall(linked, 'worktree', 'list', '--json'))
  expect(mine).toMatchObject({ against: 'main', merged: 'history' })
  const tip = commit(mine?.path ?? '', 'a.txt', 'a\n')
  expect(await heimdall(linked, 'merge', 'amber-otter', '--remove')).toMatchObject({ code: 0 })
  expect(git(bare, 'rev-parse', 'main')).toBe(tip)
  expect(git(linked, 'status', '--porcelain')).toBe('')
})

test('a repository whose git folder is elsewhere has worktrees like any other', async () => {
  const { project, heimdall, give, commit, git } = agentsAt()
  const elsewhere = join(temporaryFolder(), 'repo')
  renameSync(project.path('.git'), elsewhere)
  project.write('.git', `gitdir: ${elsewhere}\n`)
  const tip = commit(await give('amber-otter'), 'a.txt', 'a\n')
  expect(listed(await heimdall('worktree', 'list', '--json'))).toMatchObject([{ against: 'main', ahead: 1, tip }])
  expect(await heimdall('merge', 'amber-otter', '--remove')).toMatchObject({ code: 0 })
  expect(git(project.root, 'rev-parse', 'main')).toBe(tip)
})

test('a sparse checkout stays sparse, and what is outside of it is not taken for deleted', async () => {
  const { project, heimdall, git, give, commit } = agentsAt()
  commit(project.root, 'in/a.txt', 'a\n')
  commit(project.root, 'out-of-it/b.txt', 'b\n')
  git(project.root, 'sparse-checkout', 'set', 'in')
  const path = await give('amber-otter')
  expect(existsSync(join(path, 'out-of-it'))).toBe(existsSync(project.path('out-of-it')))
  commit(path, 'in/a.txt', 'more\n')
  expect(await heimdall('merge', 'amber-otter', '--remove')).toMatchObject({ code: 0 })
  expect(git(project.root, 'ls-tree', '-r', '--name-only', 'HEAD', 'out-of-it')).toBe('out-of-it/b.txt')
  expect(git(project.root, 'status', '--porcelain')).toBe('')
})

test('submodules are said to be missing, and a worktree that has them checked out is not removed', async () => {
  const inner = agentsAt()
  const { project, heimdall, git, give, refused } = agentsAt()
  const allow = ['-c', 'protocol.file.allow=always']
  git(project.root, ...allow, 'submodule', '--quiet', 'add', inner.project.root, 'inner')
  git(project.root, 'commit', '--quiet', '-m', 'a submodule')
  const notes: string[] = []
  const path = await give('amber-otter', { note: (line) => notes.push(line) })
  expect(notes.join('\n')).toContain('submodules are not checked out')
  expect(readdirSync(join(path, 'inner'))).toEqual([])
  expect(await heimdall('worktree', 'remove', 'amber-otter')).toMatchObject({ code: 0 })
  expect(existsSync(path)).toBe(false)
  await give('amber-otter')
  git(path, ...allow, 'submodule', '--quiet', 'update', '--init')
  expect(await refused('worktree', 'remove', 'amber-otter')).toMatchObject({
    code: 'WORKTREE_UNCOMMITTED',
    uncommitted: expect.arrayContaining(['inner']),
  })
  expect(existsSync(join(path, 'inner/f.txt'))).toBe(true)
})

test('a post-checkout hook runs as git runs it, and one that fails is mentioned', async () => {
  const { project, git, give, write } = agentsAt()
  write(
    project.root,
    '.git/hooks/post-checkout',
    '#!/bin/sh\necho "$PWD" >>"$(git rev-parse --git-common-dir)/ran"\necho nope >&2\nexit 1\n',
  )
  chmodSync(project.path('.git/hooks/post-checkout'), 0o755)
  const notes: string[] = []
  const path = await give('amber-otter', { note: (line) => notes.push(line) })
  expect(notes.join('\n')).toContain('nope')
  expect(project.read('.git/ran')).toBe(`${path}\n`)
  expect(git(path, 'status', '--porcelain')).toBe('')
})

test('a second --base changes nothing, and says so', async () => {
  const { give, git } = agentsAt()
  const path = await give('amber-otter')
  const head = git(path, 'rev-parse', 'HEAD')
  const notes: string[] = []
  await give('amber-otter', { base: 'HEAD~1', note: (line) => notes.push(line) })
  expect(notes.join('\n')).toContain('--base is not used')
  expect(git(path, 'rev-parse', 'HEAD')).toBe(head)
})

test('an environment that a hook above has set names another repository, and is not listened to', async () => {
  const { project, give, git, commit } = agentsAt()
  const other = agentsAt()
  commit(await give('amber-otter'), 'a.txt', 'a\n')
  const env = {
    GIT_DIR: other.project.path('.git'),
    GIT_INDEX_FILE: other.project.path('.git/index'),
    GIT_WORK_TREE: other.project.root,
  }
  const before = other.picture()
  expect(await project.run('heimdall', ['merge', 'amber-otter', '--remove'], { env })).toMatchObject({
    code: 0,
  })
  expect(git(project.root, 'ls-files', 'a.txt')).toBe('a.txt')
  expect(other.picture()).toBe(before)
})
