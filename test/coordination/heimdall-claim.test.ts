// heimdall-claim and heimdall-haid as seed 000 calls them (briefing-origin §2.1, §2.2), and what a session may not do.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openCoordination } from '../../src/coordination/coordination.ts'
import { readMachine } from '../../src/coordination/moment.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { type Ending, launcher } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { enter, openRoom } from './room.ts'

const claim = (project: TemporaryProject, args: readonly string[], env: Record<string, string> = {}): Promise<Ending> =>
  project.run('heimdall-claim', args, { env: { ...project.env, ...env } })

test('claim, check, list, show, heartbeat, release, reap; exit 3 is a collision and nothing else', async () => {
  const project = temporaryProject()
  const cursor = { HEIMDALL_HAID: 'haid:ana.box-1f2e/cursor' }
  const copilot = { HEIMDALL_HAID: 'haid:ana.box-1f2e/copilot' }
  expect(await claim(project, ['heartbeat'])).toMatchObject({ code: 2 })
  expect(await claim(project, ['claim', 'src/a/**', 'lib/x.ts#foo', '--task', 'T-9'], cursor)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^claimed: src\/a\/\*\* lib\/x\.ts#foo/),
  })
  const collision = await claim(project, ['claim', './src/a/b.ts', '--task', 'T-10'], copilot)
  expect([collision.code, collision.stdout]).toEqual([3, ''])
  expect(collision.stderr).toMatch(
    /^COLLISION: \.\/src\/a\/b\.ts overlaps src\/a\/\*\* .*haid:ana\.box-1f2e\/cursor.* for T-9/,
  )
  expect(await claim(project, ['check', 'lib/x.ts#bar', 'docs'], copilot)).toMatchObject({
    code: 0,
    stdout: 'clear: lib/x.ts#bar docs\n',
  })
  expect(await claim(project, ['check', 'lib/x.ts#foo'], copilot)).toMatchObject({ code: 3 })
  expect(await claim(project, ['check', 'src/a/b.ts'], cursor)).toMatchObject({ code: 0 })
  const list = await claim(project, ['list', '--json'])
  expect(JSON.parse(list.stdout)).toMatchObject([
    {
      haid: 'haid:ana.box-1f2e/cursor',
      human: 'ana',
      claimed_surfaces: ['src/a/**', 'lib/x.ts#foo'],
      task_ref: 'T-9',
      ttl_minutes: 90,
    },
  ])
  expect((await claim(project, ['list'])).stdout).toMatch(/^ACTIVE CLAIMS \(1\)\n/)
  expect((await claim(project, ['show', '--json'], copilot)).stdout).toBe('null\n')
  expect(await claim(project, ['release', '--haid', 'haid:ana.box-1f2e/copilot'], copilot)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('no active claim'),
  })
  expect(await claim(project, ['claim', 'x', '--ttl', '0'])).toMatchObject({ code: 2 })
  expect(await claim(project, ['claim', '../out'])).toMatchObject({ code: 2 })
  expect((await claim(project, ['reap'])).stdout).toBe('reaped 0 expired claim(s); 1 active claim(s) remain\n')
})

test('a claim from a subfolder, a linked worktree and through a symlink is one and the same claim', async () => {
  const project = temporaryProject()
  project.write('src/lib/a.ts', 'x')
  project.git('add', '.')
  project.git('commit', '-qm', 'begin')
  project.git('worktree', 'add', '-q', '../linked')
  symlinkSync('src/lib', project.path('alias'))
  symlinkSync('/etc', project.path('outside'))
  const env = { HEIMDALL_HAID: 'haid:ana.box-1f2e/cursor' }
  expect(
    await project.run('heimdall-claim', ['claim', 'lib', '--task', 'T-1'], {
      cwd: project.path('src'),
      env: { ...project.env, ...env },
    }),
  ).toMatchObject({ code: 0 })
  const linked = join(project.root, '../linked')
  const others: [string, string][] = [
    [project.root, 'alias/new.ts'],
    [linked, 'src/lib/a.ts'],
    [linked, project.path('src/lib/a.ts')],
    [project.path('src/lib'), '.'],
  ]
  for (const [cwd, scope] of others)
    expect(
      (
        await project.run('heimdall-claim', ['check', scope], {
          cwd,
          env: { ...project.env, HEIMDALL_HAID: 'haid:ana.box-1f2e/copilot' },
        })
      ).stderr,
      scope,
    ).toContain('COLLISION')
  expect(await claim(project, ['check', 'outside/passwd'])).toMatchObject({ code: 2 })
})

test('seed 000: show keeps the claims of one holder apart', async () => {
  const project = temporaryProject()
  await claim(project, ['claim', 'src', '--task', 'T-1'])
  await claim(project, ['claim', 'docs', '--task', 'T-2'])
  const one = (task_ref: string, surface: string) => ({ task_ref, claimed_surfaces: [surface] })
  expect(JSON.parse((await claim(project, ['show', '--json'])).stdout)).toMatchObject({
    ...one('T-2', 'docs'),
    claims: [one('T-1', 'src'), one('T-2', 'docs')],
  })
})

test("exit codes of seed 000's launchers are 0 to 3, and 3 is no error", async () => {
  const project = temporaryProject()
  await claim(project, ['claim', 'src', '--task', 'T-1'])
  await project.run('heimdall-haid', ['register', '--haid', 'haid:ana.box-1f2e/cursor'])
  const forged = { HEIMDALL_HAID: 'haid:ana.box-1f2e/cursor', HEIMDALL_SECRET: 'guess' }
  for (const [bin, args, env] of [
    ['heimdall-claim', ['release', 'docs'], {}],
    ['heimdall-claim', ['release'], forged],
    ['heimdall-haid', ['register'], forged],
    ['heimdall-haid', ['get', 'haid:ana.box-1f2e'], {}],
    ['heimdall-haid', ['heartbeat', 'haid:ana.box-1f2e'], {}],
  ] as const) {
    const { code, stderr } = await project.run(bin, args, { env: { ...env } })
    expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(/^error: /)])
  }
})

test('keys and the database are never committed, and claims made before git init are carried over', async () => {
  const project = temporaryProject({ git: false })
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'coder'])
  expect(
    await project.run('heimdall-claim', ['claim', 'src', '--task', 'T-1', '--agent', 'amber-otter']),
  ).toMatchObject({
    code: 0,
  })
  expect(existsSync(project.path('.planning/.heimdall/keys'))).toBe(true)
  project.git('init', '--quiet')
  project.git('add', '-A')
  expect(project.git('ls-files')).not.toContain('.heimdall')
  const list = await project.run('heimdall-claim', ['list'])
  expect(list.stdout).toMatch(/^ACTIVE CLAIMS \(1\)\n[^]*src\s.*amber-otter/)
  // A command that only reads leaves the store where it is; one that writes moves it.
  expect(existsSync(project.path('.git/heimdall'))).toBe(false)
  const released = await project.run('heimdall-claim', ['release', '--haid', 'amber-otter'])
  expect(released).toMatchObject({ code: 0, stdout: 'released: src\n' })
  expect(existsSync(project.path('.planning/.heimdall'))).toBe(false)
  expect(existsSync(project.path('.git/heimdall/keys'))).toBe(true)
})

test('a store that a command moved after git init is found again by a process that had it open', async () => {
  const project = temporaryProject({ git: false })
  const [old, moved] = [project.path('.planning/.heimdall'), project.path('.git/heimdall')]
  const room = openRoom({ project, clock: systemClock, boot: readMachine().boot })
  const known = room.project
  await enter(room, 'amber-otter')
  project.git('init', '--quiet')
  expect(await claim(project, ['list'])).toMatchObject({ code: 0 })
  expect([existsSync(old), existsSync(moved)]).toEqual([true, false])
  expect(await claim(project, ['claim', 'src', '--task', 'T-1'])).toMatchObject({ code: 0 })
  await expect(enter(room, 'jade-heron')).rejects.toMatchObject({ code: 'STORE_REPLACED' })
  const again = openCoordination({ project: known, env: project.env, clock: systemClock })
  onTestFinished(() => again.store.close())
  expect(again.store.read((rows) => rows.claims({ state: 'active' }))).toHaveLength(1)
  expect(again.store.read((rows) => rows.agents().map(({ agentId }) => agentId))).toContain('amber-otter')
  expect([existsSync(old), existsSync(moved)]).toEqual([false, true])
})

test('a planning folder of its own inside a repository keeps its keys out of commits', async () => {
  const project = temporaryProject()
  const env = { HEIMDALL_PLANNING_DIR: project.path('fixture') }
  await project.run('heimdall-claim', ['claim', 'src', '--task', 'T-1'], { env })
  expect(existsSync(project.path('fixture/.heimdall/coordination.db'))).toBe(true)
  project.git('add', '-A')
  expect(project.git('ls-files')).toContain('fixture/protocol.log')
  expect(project.git('ls-files')).not.toContain('.heimdall')
})

test('linked worktrees share facts, symbols and capsules', async () => {
  const project = temporaryProject()
  project.git('commit', '--quiet', '--allow-empty', '-m', 'first')
  project.git('worktree', 'add', '-q', '../linked')
  const cwd = project.path('../linked')
  await project.run('heimdall-blackboard', ['set', 'dev_port', '5173'], { cwd })
  await project.run('heimdall-resolve', ['set', 'F12', 'src/a.ts'])
  await project.run('heimdall-capsule', ['write', 'w1', '--what', 'done'])
  expect((await project.run('heimdall-blackboard', ['get', 'dev_port'])).stdout).toBe('5173\n')
  expect((await project.run('heimdall-resolve', ['F12'], { cwd })).stdout).toBe('src/a.ts\n')
  expect((await project.run('heimdall-capsule', ['list'], { cwd })).stdout).toBe('w1\n')
  expect(existsSync(`${cwd}/.planning`)).toBe(false)
})

test('heimdall-haid: derived from the project, registered, revoked, enforced, reinstated', async () => {
  const project = temporaryProject()
  project.git('config', 'user.email', 'Ana.Maria@example.org')
  const haid = async (...args: string[]): Promise<[number | null, string]> => {
    const { code, stdout } = await project.run('heimdall-haid', args)
    return [code, stdout.trim()]
  }
  const [, root] = await haid('current')
  expect(root).toMatch(/^haid:ana-maria\.[a-z0-9-]+-[0-9a-f]{4}$/)
  expect(await haid('spawn', 'Code Reviewer')).toEqual([0, `${root}/code-reviewer`])
  expect((await haid('spawn', '!!'))[0]).toBe(2)
  expect(await haid('check', root)).toEqual([3, 'absent'])
  expect((await haid('heartbeat', root))[0]).toBe(2)
  expect((await haid('get', root))[0]).toBe(2)
  expect(await haid('register', '--role', 'orchestrator')).toEqual([0, root])
  expect(await haid('check', root)).toEqual([0, 'active'])
  const person = async (...args: string[]): Promise<void> => {
    const { env, root: cwd } = project
    const terminal = ownTerminal([...launcher('heimdall-haid'), ...args], { cwd, env })
    expect(await terminal.ended, terminal.written()).toBe(0)
  }
  await person('revoke', root)
  expect(await haid('check', root)).toEqual([3, 'revoked'])
  expect((await claim(project, ['claim', 'src', '--task', 'T-1'])).code).toBe(2)
  expect(JSON.parse((await haid('list', '--json'))[1])).toMatchObject({
    version: '1.0.0',
    agents: { [root]: { human: 'ana-maria', role: 'orchestrator', status: 'revoked' } },
  })
  await person('reinstate', root)
  const history = await project.run('heimdall', [
    'claim',
    'history',
    '--type',
    'REVOKE',
    '--type',
    'REINSTATE',
    '--json',
  ])
  const by = { actor_kind: 'human', payload: { by: userInfo().username, haid: root } }
  expect((JSON.parse(history.stdout) as { data: unknown }).data).toMatchObject([by, by])
  expect((await claim(project, ['claim', 'src', '--task', 'T-1'])).code).toBe(0)
  expect(await haid('trailer')).toEqual([0, `Heimdall-Agent: ${root}`])
  expect((await haid('check', 'haid:ana.box-1F2E'))[0]).toBe(2)
})

test('a session with a secret of its own can be nobody else, and an attempt is on record', async () => {
  const project = temporaryProject()
  const bb = (args: readonly string[], env = {}): Promise<Ending> =>
    project.run('bb', ['agent', ...args, '--json'], { env: { ...project.env, ...env } })
  await bb(['register', '--name', 'amber-otter', '--role', 'backend'])
  await bb(['register', '--name', 'cobalt-harbor', '--role', 'ui'])
  await bb(['reserve', '--agent', 'amber-otter', '--scope', 'src'])
  const session = { HEIMDALL_AGENT_ID: 'cobalt-harbor', HEIMDALL_SECRET: 'not-the-secret' }
  for (const agent of ['amber-otter', 'cobalt-harbor']) {
    const { code, stdout } = await bb(['release', '--agent', agent, '--scope', 'src'], session)
    expect([code, (JSON.parse(stdout) as { error: { code: string } }).error.code]).toEqual([1, 'IDENTITY_UNPROVEN'])
  }
  const forced = await project.run(
    'heimdall',
    ['claim', 'takeover', 'src', '--agent', 'cobalt-harbor', '--force', '--reason', 'x', '--json'],
    { stdin: '' },
  )
  expect([forced.code, (JSON.parse(forced.stdout) as { error: { code: string } }).error.code]).toEqual([
    4,
    'PERSON_REQUIRED',
  ])
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  // Two wrong secrets, and a --force that no person asked for.
  expect((JSON.parse(stdout) as { data: unknown[] }).data).toHaveLength(3)
})

test('bad stores and bad settings: a stable code, and nothing half done', async () => {
  const project = temporaryProject()
  mkdirSync(project.path('.git/heimdall'))
  writeFileSync(project.path('.git/heimdall/coordination.db'), 'no database '.repeat(100))
  const broken = await project.run('heimdall', ['claim', 'check', 'src', '--json'])
  expect([broken.code, (JSON.parse(broken.stdout) as { error: { code: string } }).error.code]).toEqual([
    8,
    'STORE_CORRUPT',
  ])
  expect((await claim(project, ['check', 'src'])).code).toBe(2)
  const stale = await project.run('heimdall', ['agent', 'list', '--json'], {
    env: { ...project.env, BB_AGENT_STALE_MINUTES: '0' },
  })
  expect((JSON.parse(stale.stdout) as { error: { code: string } }).error.code).toBe('CONFIG_INVALID')
})
