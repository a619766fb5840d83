// heimdall worktree remove: what is uncommitted never goes, what is committed is never lost; plain git is the witness.
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { type Agents, agentsAt, lines, listed } from './repository.ts'

const remove = ['worktree', 'remove', 'amber-otter']

async function withWorktree(wish: Parameters<Agents['give']>[1] = {}) {
  const agents = agentsAt()
  return { ...agents, path: await agents.give('amber-otter', wish), root: agents.project.root }
}

/** `heimdall` as a person at a terminal of their own would call it. */
async function byPerson({ project }: Agents, ...args: string[]): Promise<{ code: number; shown: string }> {
  const terminal = ownTerminal([...launcher('heimdall'), ...args], { cwd: project.root, env: project.env })
  const code = await terminal.ended
  return { code, shown: terminal.written() }
}

test('a clean worktree goes with its branch, and nothing of it is left', async () => {
  const { heimdall, git, root, path } = await withWorktree()
  expect(await heimdall(...remove)).toMatchObject({ code: 0 })
  expect(existsSync(path)).toBe(false)
  expect(git(root, 'branch', '--format=%(refname:short)')).toBe('main')
  expect(git(root, 'worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1)
  expect(git(root, 'fsck', '--strict', '--no-dangling')).toBe('')
  expect(await heimdall('worktree', 'list')).toMatchObject({ stdout: 'no agent has a worktree here\n' })
})

test('what is uncommitted is refused in every form it can have, with --force as well', async () => {
  const agents = await withWorktree()
  const { git, write, picture, refused, path } = agents
  const reset = (): void => {
    for (const mark of ['assume-unchanged', 'skip-worktree']) git(path, 'update-index', `--no-${mark}`, 'f.txt')
    git(path, 'reset', '--quiet', '--hard')
    git(path, 'clean', '--quiet', '-ffd')
  }
  const forms: Readonly<Record<string, readonly [file: string, make: () => void]>> = {
    changed: ['f.txt', () => write(path, 'f.txt', 'x\n')],
    untracked: ['deep/u.txt', () => write(path, 'deep/u.txt', 'x\n')],
    staged: ['s.txt', () => (write(path, 's.txt', 'x\n'), git(path, 'add', 's.txt'))],
    deleted: ['f.txt', () => rmSync(join(path, 'f.txt'))],
    'assumed unchanged': [
      'f.txt',
      () => (git(path, 'update-index', '--assume-unchanged', 'f.txt'), write(path, 'f.txt', 'x\n')),
    ],
    'outside of the sparse part': [
      'f.txt',
      () => (git(path, 'update-index', '--skip-worktree', 'f.txt'), write(path, 'f.txt', 'x\n')),
    ],
    'a repository inside': ['inner/', () => git(path, 'init', '--quiet', 'inner')],
  }
  git(path, 'config', 'status.showUntrackedFiles', 'no')
  for (const [form, [file, make]] of Object.entries(forms)) {
    make()
    const before = picture(path)
    expect(await refused(...remove), form).toMatchObject({ code: 'WORKTREE_UNCOMMITTED', uncommitted: [file] })
    expect(picture(path), form).toBe(before)
    reset()
  }
  write(path, 'u.txt', 'x\n')
  expect(await byPerson(agents, ...remove, '--force')).toMatchObject({
    code: 5,
    shown: expect.stringContaining('has not committed u.txt'),
  })
  expect(readFileSync(join(path, 'u.txt'), 'utf8')).toBe('x\n')
})

test('unmerged commits are refused; --force takes a person, and keeps them under a ref', async () => {
  const agents = await withWorktree()
  const { heimdall, git, commit, picture, refused, root, path } = agents
  const tip = commit(path, 'f.txt', lines({ 3: 'three' }))
  const before = picture(path)
  expect(await refused(...remove)).toMatchObject({ code: 'WORKTREE_UNMERGED', tip, ahead: 1 })
  expect(await refused(...remove, '--force')).toMatchObject({ code: 'PERSON_REQUIRED' })
  expect(picture(path)).toBe(before)
  expect(await byPerson(agents, ...remove, '--force')).toMatchObject({ code: 0 })
  expect(existsSync(path)).toBe(false)
  expect(git(root, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heimdall')).toBe(
    `${tip} refs/heimdall/removed/amber-otter/${tip.slice(0, 12)}`,
  )
  // An agent of the same name begins anew.
  await agents.give('amber-otter')
  expect(git(root, 'rev-parse', 'heimdall/amber-otter')).toBe(git(root, 'rev-parse', 'main'))
  expect(await heimdall(...remove)).toMatchObject({ code: 0 })
})

test('--keep-branch, and commits that another branch, a tag or a remote has, need no force', async () => {
  const { heimdall, give, git, commit, root, path } = await withWorktree()
  const tip = commit(path, 'f.txt', lines({ 3: 'three' }))
  expect(await heimdall(...remove, '--keep-branch')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('stays'),
  })
  expect(git(root, 'rev-parse', 'heimdall/amber-otter')).toBe(tip)
  const second = commit(await give('amber-otter'), 'g.txt', 'g\n')
  git(root, 'update-ref', 'refs/remotes/origin/topic', second)
  expect(await heimdall(...remove)).toMatchObject({ code: 0 })
  expect(git(root, 'for-each-ref', 'refs/heimdall')).toBe('')
})

test('a detached HEAD is kept like a branch, and a branch that the agent made stays', async () => {
  const agents = await withWorktree()
  const { heimdall, give, git, commit, refused, root, path } = agents
  git(path, 'switch', '--quiet', '--detach')
  const lost = commit(path, 'd.txt', 'd\n')
  expect(await refused(...remove)).toMatchObject({ code: 'WORKTREE_UNMERGED', tip: lost })
  expect(await refused(...remove, '--keep-branch')).toMatchObject({ code: 'WORKTREE_UNMERGED', tip: lost })
  git(path, 'switch', '--quiet', '--create', 'feature')
  expect(await heimdall(...remove)).toMatchObject({ code: 0, stdout: expect.stringContaining('branch feature stays') })
  expect(git(root, 'rev-parse', 'feature')).toBe(lost)
  // Looked at in the own checkout: the branch is not taken from under it.
  const again = await give('amber-otter')
  git(again, 'switch', '--quiet', '--detach')
  git(root, 'switch', '--quiet', 'heimdall/amber-otter')
  expect(await heimdall(...remove)).toMatchObject({ code: 0 })
  expect(git(root, 'status', '--porcelain', '--branch')).toBe('## heimdall/amber-otter')
})

test('a copied file goes when it is as it came, and stays when the agent has changed it', async () => {
  const { project, heimdall, give, git, write, refused } = agentsAt()
  for (const name of ['.env', 'keys/a.pem']) write(project.root, name, 'mine\n')
  const copy = ['.env', 'keys', 'absent'].map((path) => ({ path, isRequired: false }))
  const path = await give('amber-otter', { copy })
  expect(readFileSync(join(path, 'keys/a.pem'), 'utf8')).toBe('mine\n')
  write(path, '.env', 'changed by the agent\n')
  expect(await refused(...remove)).toMatchObject({ code: 'WORKTREE_UNCOMMITTED', uncommitted: ['.env'] })
  expect(listed(await heimdall('worktree', 'list', '--json'))).toMatchObject([{ dirty: [], copies_changed: ['.env'] }])
  rmSync(join(path, '.env'))
  expect(await heimdall(...remove)).toMatchObject({ code: 0 })
  expect(readFileSync(project.path('keys/a.pem'), 'utf8')).toBe('mine\n')
  expect(git(project.root, 'status', '--porcelain')).toBe('?? keys/')
})

test('a worktree that somebody is in, that is locked, or where a rebase is under way, stays', async () => {
  const { heimdall, git, commit, picture, refused, path, root } = await withWorktree()
  const shell = startProgram(['sh', '-c', 'echo here; read line'], { cwd: path })
  await shell.waitForLine('here')
  const before = picture(path)
  expect(await refused(...remove)).toMatchObject({
    code: 'WORKTREE_IN_USE',
    message: expect.stringContaining('process'),
  })
  shell.send('')
  await shell.ended
  git(root, 'worktree', 'lock', '--reason', 'on a stick', path)
  expect(await refused(...remove)).toMatchObject({
    code: 'WORKTREE_IN_USE',
    message: expect.stringContaining('on a stick'),
  })
  git(root, 'worktree', 'unlock', path)
  expect(picture(path)).toBe(before)
  commit(path, 'f.txt', lines({ 3: 'mine' }))
  commit(root, 'f.txt', lines({ 3: 'main' }))
  expect(() => git(path, 'rebase', 'main')).toThrow('Command failed')
  expect(await refused(...remove)).toMatchObject({ code: 'WORKTREE_UNFINISHED' })
  expect(listed(await heimdall('worktree', 'list', '--json'))).toMatchObject([{ unfinished: 'rebase' }])
})

test('a folder that somebody removed by hand: its commits can be merged, put back, and its leftovers go', async () => {
  const { heimdall, give, git, commit, refused, root, path } = await withWorktree()
  const tip = commit(path, 'g.txt', 'g\n')
  rmSync(path, { recursive: true })
  expect(listed(await heimdall('worktree', 'list', '--json'))).toMatchObject([{ state: 'gone', ahead: 1, tip }])
  expect(await refused(...remove)).toMatchObject({ code: 'WORKTREE_UNMERGED' })
  expect(await give('amber-otter')).toBe(path)
  expect(git(path, 'rev-parse', 'HEAD')).toBe(tip)
  rmSync(path, { recursive: true })
  git(root, 'worktree', 'prune')
  expect(listed(await heimdall('worktree', 'list', '--json'))).toMatchObject([{ state: 'absent', ahead: 1 }])
  expect(await heimdall('merge', 'amber-otter', '--remove')).toMatchObject({ code: 0 })
  expect(git(root, 'rev-parse', 'HEAD')).toBe(tip)
  expect(git(root, 'worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1)
  expect(listed(await heimdall('worktree', 'list', '--json'))).toEqual([])
})

test('a folder of copied files that became a link to the checkout: the files of the checkout stay', async () => {
  const agents = agentsAt()
  const { heimdall, commit, git, give, write } = agents
  const { root } = agents.project
  commit(root, '.gitignore', '.secrets\n')
  write(root, '.secrets/k', 'the only one\n')
  write(root, '.worktreeinclude', '.secrets\n')
  const path = await give('amber-otter')
  expect(readFileSync(join(path, '.secrets/k'), 'utf8')).toBe('the only one\n')
  rmSync(join(path, '.secrets'), { recursive: true })
  symlinkSync(join(root, '.secrets'), join(path, '.secrets'))
  expect(git(path, 'status', '--porcelain')).toBe('')
  expect(await heimdall(...remove)).toMatchObject({ code: 0 })
  expect(existsSync(path)).toBe(false)
  expect(readFileSync(join(root, '.secrets/k'), 'utf8')).toBe('the only one\n')
})

test('no copy goes through a folder that is a link on the branch', async () => {
  const agents = agentsAt()
  const { commit, git, give, write } = agents
  const { root } = agents.project
  const outside = temporaryFolder()
  git(root, 'switch', '--quiet', '--create', 'linked')
  symlinkSync(outside, join(root, 'shared'))
  git(root, 'add', 'shared')
  git(root, 'commit', '--quiet', '--message', 'a link')
  git(root, 'switch', '--quiet', 'main')
  commit(root, '.worktreeinclude', '*.local\n')
  write(root, 'shared/x.local', 'mine\n')
  const path = await give('amber-otter', { base: 'linked' })
  expect(readdirSync(outside)).toEqual([])
  expect(git(path, 'status', '--porcelain')).toBe('')
})

test('an ignored repository inside of the checkout is not copied, and the worktree is made without it', async () => {
  const agents = agentsAt()
  const { commit, git, give, write } = agents
  const { root } = agents.project
  commit(root, '.gitignore', 'vendor/\n')
  write(root, 'vendor/own.txt', 'own\n')
  git(root, 'init', '--quiet', 'vendor/x')
  commit(join(root, 'vendor/x'), 'inner.txt', 'inner\n')
  write(root, '.worktreeinclude', 'vendor/\n')
  const path = await give('amber-otter')
  expect(readdirSync(join(path, 'vendor'))).toEqual(['own.txt'])
})
