// Installing and removing the guard: existing hooks keep running, nothing of others is lost.
import { chmodSync, existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { temporaryFolder, type TemporaryProject, temporaryProject } from '../support/project.ts'
import { guardedRepository } from './repository.ts'

function addHook(project: TemporaryProject, path: string, text: string): void {
  chmodSync(project.write(path, `#!/bin/sh\n${text}\n`), 0o755)
}

const HOOKS = ['pre-commit', 'pre-push', 'prepare-commit-msg', 'post-commit']

test('hooks in .git/hooks run first, with their arguments and input, and decide first', async () => {
  const repo = await guardedRepository((project) => {
    addHook(project, '.git/hooks/pre-commit', 'echo "theirs: commit" >> hooks.log; [ ! -e stop ]')
    addHook(project, '.git/hooks/prepare-commit-msg', 'echo "theirs: $2" >> hooks.log')
    addHook(project, '.git/hooks/pre-push', 'echo "theirs: $1 $(cat | cut -d" " -f1)" >> hooks.log')
  })
  repo.project.write('.gitignore', 'hooks.log\nstop\n')
  expect(repo.commit(repo.cobalt, 'src/api/users.ts').code).toBe(1)
  expect(repo.commit(repo.amber, 'src/api/users.ts').code).toBe(0)
  const remote = temporaryFolder()
  repo.git({}, ['init', '--quiet', '--bare', remote])
  expect(repo.git(repo.amber, ['push', '--quiet', remote, 'main']).code).toBe(0)
  expect(repo.project.read('hooks.log').trim().split('\n')).toEqual([
    'theirs: commit',
    'theirs: commit',
    'theirs: message',
    `theirs: ${remote} refs/heads/main`,
  ])
  repo.project.write('stop', '')
  expect(repo.commit(repo.amber, 'src/web/app.ts').code).toBe(1)
})

test('hooks of core.hooksPath inside the project are chained as well', async () => {
  const repo = await guardedRepository((project) => {
    project.git('config', 'core.hooksPath', '.githooks')
    addHook(project, '.githooks/pre-commit', 'echo theirs >> hooks.log')
  })
  expect(repo.commit(repo.cobalt, 'src/api/users.ts').code).toBe(1)
  expect(repo.project.read('hooks.log')).toBe('theirs\n')
  expect(existsSync(repo.project.path('.githooks/pre-commit.before-heimdall'))).toBe(true)
})

test('hooks that serve other repositories too are left alone', async () => {
  const project = temporaryProject()
  project.git('config', 'core.hooksPath', temporaryFolder())
  const { code, stderr } = await project.run('heimdall', ['guard', 'install'])
  expect(code).toBe(5)
  expect(stderr).toContain('outside this repository')
  expect(stderr).toContain('git config --local core.hooksPath .git/hooks')
})

test('install twice, uninstall once: everything is as it was', async () => {
  const project = temporaryProject()
  addHook(project, '.git/hooks/pre-commit', 'exit 0')
  const before = project.read('.git/hooks/pre-commit')
  await project.run('heimdall', ['guard', 'install'])
  const { stdout } = await project.run('heimdall', ['guard', 'install', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    data: { hooks: HOOKS.map((hook) => ({ hook, chained: hook === 'pre-commit' ? expect.any(String) : null })) },
  })
  const removed = await project.run('heimdall', ['guard', 'uninstall', '--json'])
  expect(JSON.parse(removed.stdout)).toMatchObject({
    data: { hooks: [{ outcome: 'restored' }, { outcome: 'removed' }, { outcome: 'removed' }, { outcome: 'removed' }] },
  })
  expect(project.read('.git/hooks/pre-commit')).toBe(before)
  for (const hook of HOOKS.slice(1)) expect(existsSync(project.path('.git/hooks', hook))).toBe(false)
  const again = await project.run('heimdall', ['guard', 'uninstall'])
  expect(again.stdout).toContain('pre-commit: is not ours any more and was left alone')
})

test('a hook that replaced ours is neither overwritten nor removed', async () => {
  const project = temporaryProject()
  addHook(project, '.git/hooks/pre-commit', 'exit 0')
  await project.run('heimdall', ['guard', 'install'])
  addHook(project, '.git/hooks/pre-commit', 'echo newer')
  const { code, stderr } = await project.run('heimdall', ['guard', 'install'])
  expect(code).toBe(5)
  expect(stderr).toContain('is not ours')
  expect(project.read('.git/hooks/pre-commit')).toContain('newer')
})

test('no repository, and a bare one: a code, and nothing done', async () => {
  const bare = temporaryProject({ git: false })
  bare.git('init', '--quiet', '--bare')
  for (const project of [temporaryProject({ git: false }), bare]) {
    const { code, stderr } = await project.run('heimdall', ['guard', 'install'])
    expect(code).toBe(3)
    expect(stderr).toContain('no git repository with a working tree')
  }
})

test('a repository where nobody ever claimed anything is not touched by a commit', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['guard', 'install'])
  project.write('a.txt', 'x\n')
  project.git('add', '.')
  project.git('commit', '--quiet', '-m', 'x')
  expect(existsSync(project.path('.git/heimdall'))).toBe(false)
  expect(existsSync(project.path('.planning'))).toBe(false)
})
