// SIGKILL while a worktree is made, and several commands at once: whatever is left is understood by the next command.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launcher, startProgram, waitForDeath } from '../support/programs.ts'
import { scaled } from '../support/scale.ts'
import { until, waitForFile } from '../support/wait.ts'
import { type Agents, agentsAt, listed } from './repository.ts'

/** A checkout stops in the middle, at a file whose filter waits for `go`. */
function withSlowCheckout(): Agents & { readonly started: string; readonly go: string } {
  const agents = agentsAt()
  const { project, git, commit, write } = agents
  const [started, go] = [join(project.home, 'started'), join(project.home, 'go')]
  commit(project.root, '.gitattributes', 'm.slow filter=slow\n')
  commit(project.root, 'm.slow', 'slow\n')
  commit(project.root, 'z.txt', 'last\n')
  write(project.home, 'smudge.sh', `cat; echo $$ >${started}; until [ -e ${go} ]; do sleep 0.05; done\n`)
  git(project.root, 'config', 'filter.slow.smudge', `sh ${join(project.home, 'smudge.sh')}`)
  return { ...agents, started, go }
}

const run = [...launcher('heimdall'), 'run', '--worktree', '--agent', 'amber-otter', '--', 'true'] as const

test('git and heimdall killed in the middle of the checkout: the worktree is known as half made, and remove clears it', async () => {
  const { project, heimdall, git, refused, started, go, give } = withSlowCheckout()
  const program = startProgram([...run], { cwd: project.root, env: project.env })
  const filter = Number(await waitForFile(started, (text) => text.endsWith('\n')))
  process.kill(-program.pid, 'SIGKILL')
  await program.ended
  await waitForDeath(filter)
  const [half] = listed(await heimdall('worktree', 'list', '--json'))
  expect(half).toMatchObject({ agent: 'amber-otter', state: 'half made' })
  for (const command of [
    ['run', '--worktree', '--agent', 'amber-otter', '--', 'true'],
    ['merge', 'amber-otter'],
    ['diff'],
  ])
    expect(await refused(...command)).toMatchObject({ code: 'WORKTREE_HALF_MADE' })
  // What is nobody's checkout is somebody's: it stays.
  writeFileSync(join(half?.path ?? '', 'mine.txt'), 'mine\n')
  expect(await refused('worktree', 'remove', 'amber-otter')).toMatchObject({
    code: 'WORKTREE_UNCOMMITTED',
    uncommitted: expect.arrayContaining(['mine.txt']),
  })
  expect(existsSync(join(half?.path ?? '', 'mine.txt'))).toBe(true)
  git(half?.path ?? '', 'clean', '--quiet', '-f', 'mine.txt')
  writeFileSync(go, '')
  git(project.root, 'config', '--unset', 'filter.slow.smudge')
  expect(await heimdall('worktree', 'remove', 'amber-otter')).toMatchObject({ code: 0 })
  expect(git(project.root, 'branch', '--format=%(refname:short)')).toBe('main')
  expect(git(await give('amber-otter'), 'status', '--porcelain')).toBe('')
})

test('heimdall alone killed: git goes on, is waited for, and the next run takes up what it made', async () => {
  const { project, git, refused, started, go, agent } = withSlowCheckout()
  const program = startProgram([...run], { cwd: project.root, env: project.env })
  await waitForFile(started)
  program.kill('SIGKILL')
  await program.ended
  expect(await refused('worktree', 'remove', 'amber-otter')).toMatchObject({ code: 'WORKTREE_IN_USE' })
  writeFileSync(go, '')
  await until('git to be done', () => !git(project.root, 'worktree', 'list', '--porcelain').includes('initializing'))
  const path = await agent('amber-otter', 'git status --porcelain >../seen')
  expect(git(path, 'branch', '--show-current')).toBe('heimdall/amber-otter')
  expect(await waitForFile(join(path, '../seen'))).toBe('')
})

test('several agents are given worktrees, merged and removed at once, and none gets in the way of another', async () => {
  const { project, heimdall, git, give, commit } = agentsAt()
  const names = ['amber-otter', 'cobalt-harbor', 'jade-heron', 'olive-lynx'].slice(0, scaled(3, 4))
  const paths = await Promise.all([...names, ...names].map((name) => give(name)))
  expect(paths.slice(names.length)).toEqual(paths.slice(0, names.length))
  paths.slice(0, names.length).forEach((path, index) => commit(path, `${names[index]}.txt`, 'x\n'))
  const endings = await Promise.all(names.map((name) => heimdall('merge', name, '--remove')))
  expect(endings.map(({ code }) => code)).toEqual(names.map(() => 0))
  expect(git(project.root, 'ls-files', '*-*.txt').split('\n')).toEqual(names.map((name) => `${name}.txt`))
  expect(git(project.root, 'status', '--porcelain')).toBe('')
  expect(listed(await heimdall('worktree', 'list', '--json'))).toEqual([])
})

test('a merge that was killed is named by list, with what gives it up', async () => {
  const { project, heimdall, git, commit, give, refused } = agentsAt()
  const path = await give('amber-otter')
  commit(path, 'a.txt', 'of the agent\n')
  commit(project.root, 'b.txt', 'of the person\n')
  const [started, go] = [join(project.home, 'merging'), join(project.home, 'go')]
  const hook = join(project.root, '.git/hooks/pre-merge-commit')
  writeFileSync(hook, `#!/bin/sh\necho $$ >${started}\nuntil [ -e ${go} ]; do sleep 0.05; done\n`, { mode: 0o755 })
  const program = startProgram([...launcher('heimdall'), 'merge', 'amber-otter'], {
    cwd: project.root,
    env: project.env,
  })
  const waiting = Number(await waitForFile(started, (text) => text.endsWith('\n')))
  process.kill(-program.pid, 'SIGKILL')
  await program.ended
  await waitForDeath(waiting)
  rmSync(hook)
  const said = await heimdall('worktree', 'list')
  const undo = /a merge of amber-otter into .* was killed half way: git (-C .* reset --merge \w+) puts back/.exec(
    said.stdout,
  )
  expect(await refused('merge', 'amber-otter')).toMatchObject({ code: 'WORKTREE_UNFINISHED' })
  // What it says to type is enough.
  git(project.root, ...(undo?.[1] ?? '').split(' '))
  expect(git(project.root, 'status', '--porcelain', '--untracked-files=no')).toBe('')
  expect((await heimdall('worktree', 'list')).stdout).not.toContain('killed')
  expect(await heimdall('merge', 'amber-otter')).toMatchObject({ code: 0 })
})
