// The check after a commit is spared when the one before it said all there is to say. These try to make it look away.
import { chmodSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { setRevoked } from '../../src/coordination/who/registration.ts'
import { type AgentEnv, guardedRepository, type GuardedRepository, hold } from './repository.ts'

/** A git that writes down each time a hook starts a program of ours. */
function countStarts(repo: GuardedRepository): () => number {
  const log = repo.project.path('../starts')
  writeFileSync(log, '')
  for (const hook of ['pre-commit', 'post-commit', 'prepare-commit-msg']) {
    const path = repo.project.path('.git/hooks', hook)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('guard() {', `guard() {\n  echo ${hook} >>'${log}'`))
  }
  return () => {
    const count = readFileSync(log, 'utf8').split('\n').length - 1
    writeFileSync(log, '')
    return count
  }
}

/** Runs `command` while git waits for the message of a commit: after the check before it, before the one after it. */
function duringCommit(repo: GuardedRepository, env: Partial<AgentEnv>, path: string, command: string): void {
  repo.project.write(path, `${Math.random()}\n`)
  repo.git({}, ['add', '--', path])
  const editor = repo.project.path('../editor')
  writeFileSync(editor, `#!/bin/sh\n${command}\necho message >"$1"\n`)
  chmodSync(editor, 0o755)
  const ended = repo.git({ ...env, GIT_EDITOR: editor } as Partial<AgentEnv>, ['commit'])
  expect(ended.code).toBe(0)
}

test('a commit into nobody’s paths starts one program, an agent’s own two, and a replayed one none', async () => {
  const repo = await guardedRepository()
  const starts = countStarts(repo)
  repo.commit({}, 'docs/a.md')
  expect(starts()).toBe(1)
  repo.commit({}, 'docs/b.md')
  expect(starts()).toBe(1)
  expect(existsSync(repo.project.path('.git/heimdall-clear'))).toBe(false)
  repo.commit(repo.amber, 'src/api/users.ts')
  expect(starts()).toBe(2)
  repo.git({}, ['switch', '--quiet', '--create', 'feature', 'HEAD~1'])
  for (const name of ['c', 'd', 'e']) repo.commit({}, `docs/${name}.md`)
  expect(starts()).toBe(3)
  expect(repo.git({}, ['rebase', '--quiet', 'main']).code).toBe(0)
  expect(starts()).toBe(0)
})

test('what is claimed while the message is written is noticed', async () => {
  const repo = await guardedRepository()
  const { HEIMDALL_HAID, HEIMDALL_SECRET } = repo.amber
  const claim = `HEIMDALL_HAID='${HEIMDALL_HAID}' HEIMDALL_SECRET=${HEIMDALL_SECRET} ${process.execPath} ${process.cwd()}/bin/heimdall claim 'docs/**' --agent amber-otter >/dev/null`
  // Only the store tells: the files of the ledger look as old as can be.
  const hide = 'touch -d 2001-01-01 .planning/ledger/claims .planning/ledger/events.jsonl'
  duringCommit(repo, repo.cobalt, 'docs/a.md', `${claim}\n${hide}`)
  expect(repo.incursions()).toMatchObject([
    { scope: 'docs/a.md', payload: { owner_agent: 'amber-otter', incoming_agent: 'cobalt-harbor' } },
  ])
})

test('a claim that arrives from another machine while the message is written makes the guard look again', async () => {
  const repo = await guardedRepository()
  repo.commit({}, 'docs/a.md')
  const starts = countStarts(repo)
  duringCommit(repo, {}, 'docs/b.md', 'mkdir -p .planning/ledger/claims && touch .planning/ledger/claims')
  expect(starts()).toBe(2)
})

test('the mark of a commit that was given up does not cover a later one past the guard', async () => {
  const repo = await guardedRepository()
  repo.project.write('docs/a.md', 'x\n')
  repo.git({}, ['add', '.'])
  // An empty message: the check before it has passed, and there is no commit.
  expect(repo.git(repo.cobalt, ['commit', '--message', '']).code).not.toBe(0)
  expect(existsSync(repo.project.path('.git/heimdall-clear'))).toBe(true)
  await repo.inRoom(async (room) => hold(room, repo.amber, ['docs/**']))
  // Even if the mark looked newer than the claim.
  const later = new Date(Date.now() + 60_000)
  utimesSync(repo.project.path('.git/heimdall-clear'), later, later)
  const past = repo.git(repo.cobalt, ['commit', '--no-verify', '--message', 'past'])
  expect(past.stderr).toContain('bypassed the guard')
  expect(repo.incursions()).toHaveLength(1)
})

test('what is staged between the check and the commit is noticed', async () => {
  const repo = await guardedRepository()
  const path = repo.project.path('.git/hooks/pre-commit')
  const text = readFileSync(path, 'utf8')
  // As a tool that calls git's hooks one after the other may do, with another one after ours.
  writeFileSync(path, text.replace('exit $code', 'echo late >src/late.ts; git add src/late.ts\nexit $code'))
  repo.project.write('src/keep', '')
  await repo.inRoom(async (room) => hold(room, repo.amber, ['src/late.ts']))
  expect(repo.commit(repo.cobalt, 'docs/a.md').stderr).toContain('src/late.ts')
  expect(repo.incursions()).toMatchObject([{ scope: 'src/late.ts' }])
})

test('a store that could not be read before the commit is asked again after it', async () => {
  const repo = await guardedRepository()
  const starts = countStarts(repo)
  repo.project.write('heimdall.toml', 'agent_stale_minutes = "soon"\n')
  const done = repo.commit(repo.cobalt, 'docs/a.md')
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('pre-commit was not checked') })
  expect(done.stderr).toContain('post-commit was not checked')
  expect(starts()).toBe(3)
})

test('the quick answer is none for a revoked agent, whoever holds nothing', async () => {
  const repo = await guardedRepository()
  await repo.inRoom(async (room) => setRevoked(room, { kind: 'human', name: 'ana' }, repo.cobalt.HEIMDALL_HAID, true))
  for (const env of [repo.cobalt, { BB_AGENT: 'cobalt-harbor' }, { BB_AGENT: 'COBALT-HARBOR' }])
    expect(repo.commit(env as Partial<AgentEnv>, 'docs/a.md')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is revoked'),
    })
})

test('a linked worktree has a mark of its own, and its commits past the guard are noticed', async () => {
  const repo = await guardedRepository()
  repo.commit({}, 'docs/a.md')
  repo.git({}, ['worktree', 'add', '--quiet', '../linked'])
  const linked = repo.project.path('../linked')
  const starts = countStarts(repo)
  writeFileSync(`${linked}/note.md`, 'x\n')
  repo.git({}, ['add', '.'], linked)
  expect(repo.git({}, ['commit', '--message', 'x'], linked)).toMatchObject({ code: 0, stderr: '' })
  expect(starts()).toBe(1)
  await repo.inRoom(async (room) => hold(room, repo.amber, ['note.md']))
  writeFileSync(`${linked}/note.md`, 'y\n')
  expect(repo.git(repo.cobalt, ['commit', '--no-verify', '-am', 'y'], linked).stderr).toContain('bypassed the guard')
})
