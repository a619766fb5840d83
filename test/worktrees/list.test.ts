// heimdall worktree list and diff: what each agent has done, who is at work, and who collides with whom.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launcher } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { agentsAt, lines, listed } from './repository.ts'

test('ahead, behind, uncommitted and merged are as git counts them', async () => {
  const { project, heimdall, give, git, commit, write } = agentsAt()
  const path = await give('amber-otter')
  commit(path, 'a.txt', 'a\n')
  commit(path, 'b.txt', 'b\n')
  commit(project.root, 'm.txt', 'm\n')
  write(path, 'u.txt', 'u\n')
  const list = async () => listed(await heimdall('worktree', 'list', '--json'))
  expect(await list()).toMatchObject([
    {
      agent: 'amber-otter',
      branch: 'heimdall/amber-otter',
      against: 'main',
      state: 'ready',
      ahead: 2,
      behind: 1,
      dirty: ['u.txt'],
      merged: 'no',
      session: null,
      locked: null,
    },
  ])
  git(project.root, 'merge', '--quiet', '--squash', 'heimdall/amber-otter')
  git(project.root, 'commit', '--quiet', '-m', 'squashed by hand')
  expect(await list()).toMatchObject([{ merged: 'content', ahead: 2 }])
  git(project.root, 'merge', '--quiet', '--no-edit', 'heimdall/amber-otter')
  expect(await list()).toMatchObject([{ merged: 'history', ahead: 0 }])
})

test('two agents with the same file are told before the second is merged, and a claim in one worktree counts in the other', async () => {
  const { heimdall, agent, give, refused, write, commit } = agentsAt()
  const bin = launcher('heimdall').join(' ')
  const amber = await give('amber-otter')
  const cobalt = await give('cobalt-harbor')
  commit(amber, 'f.txt', lines({ 2: 'amber' }))
  write(amber, 'only-amber.txt', 'x\n')
  write(cobalt, 'f.txt', lines({ 2: 'cobalt' }))
  const list = await heimdall('worktree', 'list')
  expect(list.stdout).toContain('amber-otter and cobalt-harbor have both changed f.txt')
  expect(await heimdall('merge', 'amber-otter', '--commit', 'rest')).toMatchObject({ code: 0 })
  expect(await refused('merge', 'cobalt-harbor', '--commit', 'mine')).toMatchObject({
    code: 'WORKTREE_CONFLICT',
    conflicts: ['f.txt'],
  })
  // Scopes are relative to the top of each worktree: one path is one scope.
  const told = join(amber, '../told')
  const held = agent('amber-otter', `${bin} claim f.txt; until [ -e ${told} ]; do sleep 0.05; done`)
  await until('the claim to be there', async () => (await heimdall('claim', 'list')).stdout.includes('amber-otter'))
  await agent(
    'cobalt-harbor',
    `${bin} claim f.txt >${told}.2 2>&1; ${bin} claim check f.txt >>${told}.2 2>&1; mv ${told}.2 ${told}`,
  )
  expect(readFileSync(told, 'utf8')).toContain('amber-otter')
  await held
})

test('an agent that is at work is shown with its session; merge and remove wait for its end, unless said otherwise', async () => {
  const { project, heimdall, git, refused } = agentsAt()
  const script = 'echo a >a.txt; git add a.txt; git commit -qm a; while :; do sleep 1; done'
  const started = await heimdall(
    'run',
    '--worktree',
    '--agent',
    'amber-otter',
    '--detach',
    '--json',
    '--',
    'sh',
    '-c',
    script,
  )
  const { data } = JSON.parse(started.stdout) as { data: { project: string; branch: string; id: string } }
  expect(data).toMatchObject({ branch: 'heimdall/amber-otter', id: 'amber-otter' })
  await until('its commit', () => git(data.project, 'log', '-1', '--format=%s') === 'a')
  expect(listed(await heimdall('worktree', 'list', '--json'))).toMatchObject([
    { path: data.project, session: 'amber-otter' },
  ])
  expect(await refused('merge', 'amber-otter')).toMatchObject({ code: 'WORKTREE_IN_USE' })
  expect(await refused('worktree', 'remove', 'amber-otter')).toMatchObject({ code: 'WORKTREE_IN_USE' })
  expect(await heimdall('merge', 'amber-otter', '--while-running')).toMatchObject({ code: 0 })
  expect(git(project.root, 'log', '-1', '--format=%s')).toBe('a')
  expect(await heimdall('kill', 'amber-otter', '--wait')).toMatchObject({ code: 0 })
  expect(await heimdall('worktree', 'remove', 'amber-otter')).toMatchObject({ code: 0 })
})

test('diff shows what is committed, changed, deleted and untracked since the fork, and neither index nor repository change', async () => {
  const { project, heimdall, give, git, commit, write, picture } = agentsAt()
  const path = await give('amber-otter')
  commit(path, 'committed.txt', 'c\n')
  write(path, 'f.txt', lines({ 5: 'five' }))
  write(path, 'deep/untracked.txt', 'u\n')
  write(path, 'out/ignored.txt', 'i\n')
  // What main has done since is not the agent's.
  commit(project.root, 'main.txt', 'm\n')
  const before = picture(path)
  const objects = git(path, 'count-objects')
  const names = await heimdall('diff', 'amber-otter', '--name-only')
  expect(names.stdout).toBe('committed.txt\ndeep/untracked.txt\nf.txt\n')
  const patch = await heimdall('diff')
  expect(patch.stdout).toContain('-line 5\n+five\n')
  expect(patch.stdout).not.toContain('\u001b')
  expect((await heimdall('--color', 'diff')).stdout).toContain('\u001b[')
  expect((await heimdall('diff', '--stat')).stdout).toContain('3 files changed')
  const json = await heimdall('diff', '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    data: {
      files: [
        { path: 'committed.txt', status: 'A', added: 1, deleted: 0 },
        { path: 'deep/untracked.txt', status: 'A', added: 1, deleted: 0 },
        { path: 'f.txt', status: 'M', added: 1, deleted: 1 },
      ],
    },
  })
  // Since a commit, and since a time at which all of it was there already.
  const since = async (then: string): Promise<string> => (await heimdall('diff', '--name-only', '--since', then)).stdout
  expect(await since(git(path, 'rev-parse', 'HEAD').trim())).toBe('deep/untracked.txt\nf.txt\n')
  expect(await since('1h')).toBe('committed.txt\ndeep/untracked.txt\nf.txt\n')
  expect(await since(new Date(Date.now() + 60_000).toISOString())).toBe('')
  expect(await heimdall('diff', '--since', 'nowhere')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('neither a time nor a commit'),
  })
  expect(picture(path)).toBe(before)
  expect(git(path, 'count-objects')).toBe(objects)
  // In the worktree itself no name is needed; from outside, of several, one is.
  expect((await project.run('heimdall', ['diff', '--name-only'], { cwd: path })).stdout).toBe(names.stdout)
  await give('cobalt-harbor')
  expect(await heimdall('diff')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('cobalt-harbor'),
  })
})

test('diff into a reader that has seen enough ends quietly', async () => {
  const { project, give, write } = agentsAt()
  const path = await give('amber-otter')
  write(path, 'large.txt', 'a long line of text\n'.repeat(200_000))
  const shell = spawnSync('bash', ['-c', `set -o pipefail; ${launcher('heimdall').join(' ')} diff | head -1`], {
    cwd: project.root,
    env: { PATH: process.env['PATH'], ...project.env },
    encoding: 'utf8',
  })
  expect(shell).toMatchObject({ status: 0, stdout: 'diff --git a/large.txt b/large.txt\n', stderr: '' })
})
