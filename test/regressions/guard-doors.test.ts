// The guard's doors: half an installation, a push refusal that repeated itself and advised what does not help, a person
// told of having gone past a guard that had let her through.
import { chmodSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { guardedRepository } from '../guard/repository.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'

test.each([
  ['a foreign hook with something in the way of setting it aside', 'foreign'],
  ['a folder where a hook belongs', 'folder'],
  ['a link to nowhere, met when three of four are in place', 'link'],
])('%s: nothing is installed at all', async (_, what) => {
  const project = temporaryProject()
  const theirs = '#!/bin/sh\necho theirs\n'
  chmodSync(project.write('.git/hooks/pre-commit', theirs), 0o755)
  if (what === 'foreign') {
    project.write('.git/hooks/post-commit', theirs)
    project.write('.git/hooks/post-commit.before-heimdall', 'x')
  } else if (what === 'folder') mkdirSync(project.path('.git/hooks/post-commit'))
  else symlinkSync('nowhere', project.path('.git/hooks/post-commit'))
  const before = readdirSync(project.path('.git/hooks')).toSorted()
  const { code } = await project.run('heimdall', ['guard', 'install'])
  expect(code).not.toBe(0)
  expect(readdirSync(project.path('.git/hooks')).toSorted()).toEqual(before)
  expect(project.read('.git/hooks/pre-commit')).toBe(theirs)
})

test('a push names each path once, and advises what helps a push', async () => {
  const repo = await guardedRepository()
  const remote = temporaryFolder()
  repo.git({}, ['init', '--quiet', '--bare', remote])
  for (let i = 0; i < 3; i += 1) {
    repo.project.write('src/api/users.ts', `${i}\n`)
    repo.git({}, ['add', '--all'])
    repo.git(repo.cobalt, ['-c', 'core.hooksPath=/dev/null', 'commit', '--quiet', '-m', 'sneaky'])
  }
  const { code, stderr } = repo.git(repo.cobalt, ['push', remote, 'main'])
  expect(code).toBe(1)
  expect(stderr.match(/src\/api\/users\.ts {2}held by/g)).toHaveLength(1)
  expect(stderr).toContain('push again')
  expect(stderr).not.toContain('--staged')
})

test('a person who was warned is not told of having gone past the guard; one who went past it is', async () => {
  const repo = await guardedRepository()
  repo.project.write('src/api/users.ts', 'x\n')
  repo.git({}, ['add', '--all'])
  const warned = await repo.gitByPerson(['commit', '--message', 'x'])
  expect(warned).toEqual({ code: 0, shown: expect.stringContaining('warning, others hold') })
  expect(warned.shown).not.toContain('went past')
  expect(repo.incursions()).toHaveLength(1)
  expect(repo.commit({}, 'src/api/more.ts', '--no-verify').stderr).toContain('went past the guard')
})

test('git does not ask before a revert: it is noticed after it', async () => {
  const repo = await guardedRepository()
  repo.commit(repo.amber, 'src/api/users.ts')
  const reverted = repo.git(repo.cobalt, ['revert', '--no-edit', 'HEAD'])
  expect(reverted).toMatchObject({ code: 0, stderr: expect.stringContaining('went past the guard') })
  expect(repo.incursions()).toMatchObject([{ payload: { incoming_agent: 'cobalt-harbor' } }])
})
