// heimdall merge: the work comes back whole, or nothing at all is changed; plain git is the witness.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/project.ts'
import { type Agents, agentsAt, lines } from './repository.ts'

/** amber-otter has committed line 2 of f.txt and a new file. */
async function withWork(): Promise<Agents & { readonly path: string; readonly root: string; readonly tip: string }> {
  const agents = agentsAt()
  const path = await agents.give('amber-otter')
  agents.commit(path, 'f.txt', lines({ 2: 'two of amber' }), 'two')
  const tip = agents.commit(path, 'new.txt', 'new\n', 'new file')
  return { ...agents, path, root: agents.project.root, tip }
}

const merge = ['merge', 'amber-otter']

test('what a plain git merge would make: a fast-forward, and a merge when both went on', async () => {
  const { heimdall, git, commit, root, path, tip } = await withWork()
  const ended = await heimdall(...merge, '--json')
  expect(JSON.parse(ended.stdout)).toMatchObject({
    data: { how: 'fast-forward', into: 'main', commits: 2, after: tip, checkout: root },
  })
  expect(git(root, 'rev-parse', 'main')).toBe(tip)
  expect(git(root, 'status', '--porcelain')).toBe('')
  expect(JSON.parse((await heimdall(...merge, '--json')).stdout)).toMatchObject({ data: { how: 'nothing new' } })
  const own = commit(root, 'f.txt', lines({ 2: 'two of amber', 9: 'nine of main' }))
  const more = commit(path, 'more.txt', 'more\n')
  // A file of mine that the merge has nothing to do with stays as it is.
  writeFileSync(join(root, 'new.txt'), 'mine, not committed\n')
  expect(await heimdall(...merge)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 commit of amber-otter'),
  })
  expect(git(root, 'rev-parse', 'HEAD^1', 'HEAD^2')).toBe(`${own}\n${more}`)
  expect(git(root, 'log', '-1', '--format=%s')).toBe("Merge branch 'heimdall/amber-otter'")
  expect(readFileSync(join(root, 'f.txt'), 'utf8')).toBe(lines({ 2: 'two of amber', 9: 'nine of main' }))
  expect(git(root, 'status', '--porcelain')).toBe(' M new.txt')
})

test('--squash makes one commit with the names of all, --message gives it a name, and --remove clears up after it', async () => {
  const { heimdall, git, commit, root, path, tip } = await withWork()
  const own = commit(root, 'g.txt', 'g\n')
  const ended = await heimdall(...merge, '--squash', '--remove', '--json')
  expect(JSON.parse(ended.stdout)).toMatchObject({
    data: {
      how: 'squash',
      removed: {
        deleted_branch: 'heimdall/amber-otter',
        kept_under: [`refs/heimdall/removed/amber-otter/${tip.slice(0, 12)}`],
      },
    },
  })
  expect(git(root, 'rev-parse', 'HEAD^')).toBe(own)
  expect(git(root, 'log', '-1', '--format=%B').trim()).toBe('Work of amber-otter\n\n* two\n* new file')
  expect(git(root, 'diff', '--stat', 'HEAD', tip, '--', 'f.txt', 'new.txt')).toBe('')
  expect(git(root, 'status', '--porcelain')).toBe('')
  expect(() => readFileSync(join(path, 'f.txt'))).toThrow('ENOENT')
  // Removed, not lost: the commits are there with their messages.
  expect(git(root, 'log', '-2', '--format=%s', `refs/heimdall/removed/amber-otter/${tip.slice(0, 12)}`)).toBe(
    'new file\ntwo',
  )
})

test('--into names another branch: one that no checkout has, and one that another has', async () => {
  const { heimdall, git, refused, root, path, tip } = await withWork()
  git(root, 'branch', 'aside', 'HEAD~1')
  const linked = join(temporaryFolder(), 'linked')
  git(root, 'worktree', 'add', '--quiet', '-b', 'elsewhere', linked)
  expect(await heimdall(...merge, '--into', 'aside')).toMatchObject({ code: 0 })
  expect(git(root, 'rev-parse', 'aside')).toBe(tip)
  expect(await heimdall(...merge, '--into', 'elsewhere', '-m', 'brought')).toMatchObject({ code: 0 })
  expect(git(linked, 'log', '-1', '--format=%s %P')).toMatch(new RegExp(`^brought .* ${tip}$`))
  expect(git(linked, 'status', '--porcelain')).toBe('')
  expect(git(root, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('main')
  expect(await refused(...merge, '--into=--all')).toMatchObject({ code: 'WORKTREE_TARGET_UNFIT' })
  expect(await refused(...merge, '--into', 'heimdall/amber-otter')).toMatchObject({ code: 'WORKTREE_TARGET_UNFIT' })
  git(root, 'switch', '--quiet', '--detach')
  expect(await refused(...merge)).toMatchObject({ code: 'WORKTREE_TARGET_UNFIT' })
  expect(git(path, 'status', '--porcelain')).toBe('')
})

test('a conflict is said with its files, and nothing is changed anywhere', async () => {
  const { picture, commit, refused, root, path } = await withWork()
  commit(root, 'f.txt', lines({ 2: 'two of main' }))
  commit(root, 'new.txt', 'also new\n')
  const before = picture(path)
  for (const how of [[], ['--squash'], ['-m', 'x'], ['--into', 'main']])
    expect(await refused(...merge, ...how)).toMatchObject({
      code: 'WORKTREE_CONFLICT',
      conflicts: ['f.txt', 'new.txt'],
    })
  expect(picture(path)).toBe(before)
})

test('what is not committed in the worktree is named; --commit commits it first', async () => {
  const { heimdall, git, picture, refused, write, root, path } = await withWork()
  write(path, 'f.txt', 'all other\n')
  write(path, 'deep/untracked.txt', 'u\n')
  write(path, 'out/ignored.txt', 'i\n')
  const before = picture(path)
  expect(await refused(...merge)).toMatchObject({
    code: 'WORKTREE_UNCOMMITTED',
    uncommitted: ['f.txt', 'deep/untracked.txt'],
  })
  expect(picture(path)).toBe(before)
  expect(await heimdall(...merge, '--commit', 'the rest')).toMatchObject({ code: 0 })
  expect(git(root, 'show', '--stat=60', '--format=%s', 'HEAD')).toMatch(/^the rest\n\n deep\/untracked.txt .*\n f.txt/)
  expect(git(path, 'status', '--porcelain')).toBe('')
})

test('a copied file is never committed by --commit, also where git does not ignore it', async () => {
  const { heimdall, give, git, write, project } = agentsAt()
  write(project.root, 'key.pem', 'secret\n')
  const path = await give('amber-otter', { copy: [{ path: 'key.pem', isRequired: true }] })
  write(path, 'a.txt', 'a\n')
  expect(await heimdall(...merge, '--commit', 'a', '--remove')).toMatchObject({ code: 0 })
  expect(git(project.root, 'ls-files', 'key.pem', 'a.txt')).toBe('a.txt')
  expect(readFileSync(project.path('key.pem'), 'utf8')).toBe('secret\n')
})

test('files of the checkout that the merge would take are named: changed, staged, untracked, ignored, in the way of a folder', async () => {
  const { picture, refused, git, write, commit, root, path } = await withWork()
  commit(path, 'deep/a/b.txt', 'b\n')
  git(path, 'add', '--force', '--', '.')
  write(path, 'build.local', 'theirs\n')
  git(path, 'add', '--force', 'build.local')
  git(path, 'commit', '--quiet', '-m', 'an ignored file, committed')
  const cases: readonly (readonly (readonly [file: string, text: string, isStaged?: true])[])[] = [
    [
      ['f.txt', 'mine\n'],
      ['new.txt', 'mine\n'],
      ['deep', 'mine, a file\n'],
    ],
    [
      ['f.txt', 'mine\n', true],
      ['unrelated.txt', 'mine\n', true],
    ],
    [['deep/a/b.txt/c', 'mine, a folder\n']],
    [['build.local', 'mine\n']],
  ]
  for (const files of cases) {
    for (const [file, text, isStaged] of files) {
      write(root, file, text)
      if (isStaged === true) git(root, 'add', '--', file)
    }
    const paths = files.map(([file]) => file)
    const before = picture(path)
    for (const how of paths.includes('build.local') ? [[], ['--squash']] : [[]])
      expect(await refused(...merge, ...how), paths.join()).toMatchObject({
        code: 'WORKTREE_TARGET_DIRTY',
        paths: expect.toSatisfy((named: string[]) => named.toSorted().join() === paths.toSorted().join()),
      })
    expect(picture(path)).toBe(before)
    git(root, 'reset', '--quiet', '--hard')
    git(root, 'clean', '--quiet', '-ffdx', '--exclude=.planning')
  }
})

test('an unfinished merge on either side is left to whoever began it', async () => {
  const { picture, refused, git, commit, root, path } = await withWork()
  for (const [folder, own] of [
    [path, 'heimdall/amber-otter'],
    [root, 'main'],
  ] as const) {
    git(folder, 'switch', '--quiet', '--create', `beside/${own}`, 'HEAD~1')
    commit(folder, 'new.txt', `${folder}\n`)
    expect(() => git(folder, 'merge', 'heimdall/amber-otter')).toThrow('Command failed')
    const before = picture(path)
    expect(await refused(...merge), own).toMatchObject({ code: 'WORKTREE_UNFINISHED' })
    expect(picture(path)).toBe(before)
    git(folder, 'merge', '--abort')
    git(folder, 'switch', '--quiet', own)
  }
})

test('a hook that refuses the merge leaves no half of it, whatever the settings are', async () => {
  const { picture, refused, commit, git, root, path } = await withWork()
  commit(root, 'g.txt', 'g\n')
  git(root, 'config', 'branch.main.mergeOptions', '--no-commit')
  git(root, 'config', 'merge.autoStash', 'true')
  mkdirSync(join(root, '.git/hooks'), { recursive: true })
  for (const name of ['pre-merge-commit', 'commit-msg']) {
    const hook = join(root, '.git/hooks', name)
    writeFileSync(hook, '#!/bin/sh\necho "not today" >&2\nexit 1\n')
    chmodSync(hook, 0o755)
    const before = picture(path)
    for (const how of name === 'commit-msg' ? [[], ['--squash']] : [[]])
      expect(await refused(...merge, ...how)).toMatchObject({
        code: 'GIT_FAILED',
        message: expect.stringContaining('not today'),
      })
    expect(picture(path)).toBe(before)
    rmSync(hook)
  }
})

test('an agent that went on elsewhere is followed, and what it left behind is said', async () => {
  const { heimdall, git, commit, root, path, tip } = await withWork()
  git(path, 'switch', '--quiet', '--create', 'feature', 'HEAD~1')
  const feature = commit(path, 'feature.txt', 'f\n')
  const ended = await heimdall(...merge)
  expect(ended).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('1 commit on the first branch of amber-otter not merged'),
  })
  expect(git(root, 'rev-parse', 'main')).toBe(feature)
  expect(git(root, 'rev-parse', 'heimdall/amber-otter')).toBe(tip)
})

test('a repository inside of the worktree is not committed as a bare link: refused with its name, and nothing changes', async () => {
  const { project, heimdall, git, write, refused, picture, give } = agentsAt()
  const path = await give('amber-otter')
  write(path, 'new.txt', 'new\n')
  write(path, 'vendor/tool/a.txt', 'of the tool\n')
  git(join(path, 'vendor/tool'), 'init', '--quiet')
  git(join(path, 'vendor/tool'), 'add', '--all')
  git(join(path, 'vendor/tool'), 'commit', '--quiet', '-m', 'the tool')
  const before = picture(project.root, path)
  expect(await refused('merge', 'amber-otter', '--commit', 'all of it')).toMatchObject({
    code: 'WORKTREE_UNCOMMITTED',
    message: expect.stringMatching(/^vendor\/tool\/: a repository of its own/),
    uncommitted: ['vendor/tool/'],
  })
  expect(picture(project.root, path)).toBe(before)
  rmSync(join(path, 'vendor/tool/.git'), { recursive: true })
  expect(await heimdall('merge', 'amber-otter', '--commit', 'all of it')).toMatchObject({ code: 0 })
  expect(git(project.root, 'show', 'main:vendor/tool/a.txt')).toBe('of the tool')
})

test('an empty message is refused, and nothing is merged', async () => {
  const { git, refused, commit, root, path, picture } = await withWork()
  // What git would take the empty message to leave over: the upstream of the branch.
  git(root, 'branch', '--quiet', 'other')
  git(root, 'switch', '--quiet', 'other')
  commit(root, 'other.txt', 'other\n')
  git(root, 'switch', '--quiet', 'main')
  git(root, 'branch', '--quiet', '--set-upstream-to=other', 'main')
  const before = picture(path)
  for (const words of [
    ['-m', ''],
    ['--squash', '--message', ' '],
    ['--commit', ''],
  ])
    expect(await refused(...merge, ...words)).toMatchObject({ code: 'USAGE', message: 'the message is empty' })
  expect(picture(path)).toBe(before)
})
