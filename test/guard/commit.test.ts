// The guard in real repositories: who may commit what, in which state of the repository, and what is noticed afterwards.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { setRevoked } from '../../src/coordination/who/registration.ts'
import { guardedRepository, hold } from './repository.ts'

const message = (text: string): string => text.replace(/\n+$/, '')

test('an agent may not commit what another live agent holds; the holder may, and everybody may commit the rest', async () => {
  const repo = await guardedRepository()
  const refused = repo.commit(repo.cobalt, 'src/api/users.ts')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('commit refused')
  expect(refused.stderr).toMatch(
    /src\/api\/users\.ts {2}held by amber-otter \(active\) as src\/api\/\*\* for T-1 until /,
  )
  expect(repo.incursions()).toMatchObject([
    {
      from_agent: null,
      to_agent: 'amber-otter',
      payload: { incoming_agent: 'cobalt-harbor', incursion_kind: 'partial' },
    },
  ])
  expect(repo.git({}, ['log', '--format=%s']).stdout).toBe('start\n')
  repo.git({}, ['reset', '--quiet'])

  expect(repo.commit(repo.amber, 'src/api/users.ts')).toMatchObject({ code: 0 })
  expect(message(repo.git({}, ['log', '-1', '--format=%(trailers)']).stdout)).toBe(
    `Heimdall-Agent: ${repo.amber.HEIMDALL_HAID}`,
  )
  expect(repo.commit(repo.cobalt, 'src/web/app.ts')).toMatchObject({ code: 0 })
})

test('both sides of a rename count: neither taking a file out of a claim nor putting one in passes', async () => {
  const repo = await guardedRepository()
  repo.commit(repo.amber, 'src/api/users.ts')
  repo.commit(repo.cobalt, 'src/web/app.ts')
  repo.git(repo.cobalt, ['mv', 'src/api/users.ts', 'src/web/users.ts'])
  expect(repo.git(repo.cobalt, ['commit', '-m', 'out'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('src/api/users.ts'),
  })
  repo.git(repo.cobalt, ['reset', '--hard', '--quiet'])
  repo.git(repo.cobalt, ['mv', 'src/web/app.ts', 'src/api/app.ts'])
  expect(repo.git(repo.cobalt, ['commit', '-m', 'in'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('src/api/app.ts'),
  })
  repo.git(repo.cobalt, ['reset', '--hard', '--quiet'])
  repo.git(repo.cobalt, ['rm', '--quiet', 'src/api/users.ts'])
  expect(repo.git(repo.cobalt, ['commit', '-m', 'gone']).code).toBe(1)
})

test('a person without an identity is warned, recorded, and not stopped', async () => {
  const repo = await guardedRepository()
  repo.project.write('src/api/users.ts', 'x\n')
  repo.git({}, ['add', '--all'])
  // Without a terminal it is nobody in particular: a script, or what an agent has left to init.
  expect(repo.git({}, ['commit', '--message', 'x']).code).toBe(1)
  expect(await repo.gitByPerson(['commit', '--message', 'x'])).toEqual({
    code: 0,
    shown: expect.stringContaining('warning, other agents hold paths in this commit'),
  })
  expect(repo.git({}, ['log', '-1', '--format=%(trailers)']).stdout.trim()).toBe('')
  expect(repo.incursions().at(-1)).toMatchObject({
    payload: { owner_agent: 'amber-otter', incoming_agent: 'human:Ana' },
  })
})

test('a name without its secret is nobody, and a revoked agent commits nothing', async () => {
  const repo = await guardedRepository()
  const forged = { HEIMDALL_HAID: repo.amber.HEIMDALL_HAID, HEIMDALL_SECRET: 'guess' }
  expect(repo.commit(forged, 'src/api/users.ts')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('nothing proves'),
  })
  repo.git({}, ['reset', '--quiet'])
  await repo.inRoom(async (room) => setRevoked(room, { kind: 'human', name: 'ana' }, repo.cobalt.HEIMDALL_HAID, true))
  expect(repo.commit(repo.cobalt, 'src/web/app.ts')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is revoked'),
  })
})

test('--no-verify is noticed after the commit and put on record', async () => {
  const repo = await guardedRepository()
  const past = repo.commit(repo.cobalt, 'src/api/users.ts', '--no-verify')
  expect(past.code).toBe(0)
  expect(past.stderr).toContain('bypassed the guard')
  expect(repo.incursions()).toMatchObject([
    { scope: 'src/api/users.ts', payload: { owner_agent: 'amber-otter', incoming_agent: 'cobalt-harbor' } },
  ])
})

test('an amended commit is judged by what the amendment changes', async () => {
  const repo = await guardedRepository()
  repo.commit(repo.cobalt, 'src/web/app.ts')
  await repo.inRoom(async (room) => hold(room, repo.amber, ['src/web/app.ts']))
  expect(repo.commit(repo.cobalt, 'docs/intro.md', '--amend')).toMatchObject({ code: 0, stderr: '' })
  expect(repo.incursions()).toEqual([])
  expect(repo.commit(repo.cobalt, 'src/web/app.ts', '--amend').code).toBe(1)
  // One trailer for one agent, however often it amends.
  expect(
    repo.git({}, ['log', '-1', '--format=%(trailers:key=Heimdall-Agent,valueonly)']).stdout.trim().split('\n'),
  ).toHaveLength(1)
})

test('a merge brings in the work of others; only what the merge itself changes is judged', async () => {
  const repo = await guardedRepository()
  repo.commit(repo.amber, 'src/api/users.ts')
  repo.git({}, ['switch', '--quiet', '--create', 'feature', 'HEAD~1'])
  repo.commit(repo.cobalt, 'src/web/app.ts')
  const clean = repo.git(repo.cobalt, ['merge', '--no-edit', '--no-ff', 'main'])
  expect(clean).toMatchObject({ code: 0 })
  expect(repo.incursions()).toEqual([])

  repo.git({}, ['switch', '--quiet', 'main'])
  repo.commit(repo.amber, 'src/api/users.ts')
  repo.git({}, ['switch', '--quiet', 'feature'])
  repo.project.write('src/api/users.ts', 'another version\n')
  repo.git(repo.cobalt, ['commit', '--quiet', '--no-verify', '-am', 'past it'])
  expect(repo.git(repo.cobalt, ['merge', '--no-edit', 'main']).code).not.toBe(0)
  repo.project.write('src/api/users.ts', 'a resolution\n')
  repo.git(repo.cobalt, ['add', 'src/api/users.ts'])
  expect(repo.git(repo.cobalt, ['commit', '--no-edit'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('src/api/users.ts'),
  })
})

test('in the middle of a rebase the guard judges new commits and leaves replayed ones alone', async () => {
  const repo = await guardedRepository()
  repo.commit({}, 'shared.txt')
  repo.git({}, ['switch', '--quiet', '--create', 'feature'])
  repo.commit(repo.amber, 'src/api/users.ts')
  repo.commit({}, 'shared.txt')
  repo.git({}, ['switch', '--quiet', 'main'])
  repo.commit({}, 'shared.txt')
  repo.git({}, ['switch', '--quiet', 'feature'])
  expect(repo.git(repo.cobalt, ['rebase', '--quiet', 'main']).code).not.toBe(0)
  // Amber's commit was replayed by cobalt; it stays amber's and is no incursion.
  expect(repo.git({}, ['log', '-1', '--format=%(trailers:key=Heimdall-Agent,valueonly)']).stdout.trim()).toBe(
    repo.amber.HEIMDALL_HAID,
  )
  expect(repo.incursions()).toEqual([])
  repo.project.write('shared.txt', 'resolved\n')
  repo.project.write('src/api/new.ts', 'x\n')
  repo.git(repo.cobalt, ['add', '--all'])
  expect(repo.git(repo.cobalt, ['commit', '-m', 'resolved']).code).toBe(1)
  repo.git(repo.cobalt, ['reset', '--quiet', 'src/api/new.ts'])
  expect(repo.git(repo.cobalt, ['-c', 'core.editor=true', 'rebase', '--continue'])).toMatchObject({ code: 0 })
})

test('linked worktrees are guarded by the same hooks and the same claims', async () => {
  const repo = await guardedRepository()
  const elsewhere = `${repo.project.root}-wt`
  expect(repo.git({}, ['worktree', 'add', '--quiet', elsewhere, '-b', 'other']).code).toBe(0)
  mkdirSync(`${elsewhere}/src/api`, { recursive: true })
  writeFileSync(`${elsewhere}/src/api/users.ts`, 'x\n')
  repo.git(repo.cobalt, ['add', '--all'], elsewhere)
  expect(repo.git(repo.cobalt, ['commit', '-m', 'x'], elsewhere)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('amber-otter'),
  })
  expect(repo.git(repo.amber, ['commit', '-m', 'x'], elsewhere)).toMatchObject({ code: 0 })
})

test('commit --all and commit of single paths are judged by what they commit', async () => {
  const repo = await guardedRepository()
  repo.commit(repo.amber, 'src/api/users.ts')
  repo.commit(repo.cobalt, 'src/web/app.ts')
  repo.project.write('src/api/users.ts', 'changed\n')
  repo.project.write('src/web/app.ts', 'changed\n')
  expect(repo.git(repo.cobalt, ['commit', '--all', '-m', 'all']).code).toBe(1)
  expect(repo.git(repo.cobalt, ['commit', '-m', 'one', '--', 'src/web/app.ts'])).toMatchObject({ code: 0 })
})

test('names with newlines and escapes cannot forge a line of the report', async () => {
  const repo = await guardedRepository()
  const name = 'src/api/a\nheimdall guard: all clear\u001b[2J.ts'
  const refused = repo.commit(repo.cobalt, name)
  expect(refused.code).toBe(1)
  expect(refused.stderr).not.toContain('\u001b')
  expect(refused.stderr.split('\n').filter((line) => line.startsWith('heimdall guard: all clear'))).toEqual([])
})

test('a store that cannot be read lets the commit through and says so', async () => {
  const repo = await guardedRepository()
  for (const part of ['-wal', '-shm'])
    rmSync(repo.project.path(`.git/heimdall/coordination.db${part}`), { force: true })
  repo.project.write('.git/heimdall/coordination.db', 'not a database, whatever it says')
  const done = repo.commit(repo.cobalt, 'src/api/users.ts')
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('pre-commit was not checked') })
})

// A name without its secret is not signed into a commit: a signed commit counts as the holder's own.
test('a commit under another’s name, past the guard, is neither signed with it nor overlooked', async () => {
  const repo = await guardedRepository()
  const forged = { HEIMDALL_HAID: repo.amber.HEIMDALL_HAID, HEIMDALL_SECRET: 'guess' }
  const past = repo.commit(forged, 'src/api/users.ts', '--no-verify')
  expect(repo.git({}, ['log', '-1', '--format=%(trailers:key=Heimdall-Agent,valueonly)']).stdout.trim()).toBe('')
  expect(past.stderr).toContain('bypassed the guard')
  expect(repo.incursions()).toHaveLength(1)
})

// The trailer does not turn an empty message into one that git accepts.
test('an empty message is still refused by git', async () => {
  const repo = await guardedRepository()
  repo.project.write('docs/a.md', 'x\n')
  repo.git({}, ['add', '.'])
  const ended = repo.git(repo.cobalt, ['commit', '--message', ''])
  expect(ended.code).not.toBe(0)
  expect(ended.stderr).toContain('empty commit message')
  expect(repo.git({}, ['log', '--format=%s']).stdout).toBe('start\n')
})

// A new commit made during a rebase is checked; only replayed commits are not.
test('a new commit past the guard in the middle of a rebase is noticed', async () => {
  const repo = await guardedRepository()
  repo.commit({}, 'a.txt')
  repo.commit({}, 'b.txt')
  repo.git({}, ['-c', 'sequence.editor=sed -i 1s/pick/edit/', 'rebase', '--quiet', '--interactive', 'HEAD~1'])
  expect(repo.project.git('status')).toContain('rebase in progress')
  const past = repo.commit(repo.cobalt, 'src/api/users.ts', '--no-verify')
  expect(past.stderr).toContain('bypassed the guard')
  expect(repo.incursions()).toHaveLength(1)
})
