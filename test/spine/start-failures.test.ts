// A start that cannot be made: clear words, and nothing half started. Each step that fails undoes the ones before it.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { runInProcess } from '../support/in-process.ts'
import { type Ending, launcher, runProgram } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { isClosedOnce, spine, type Spine } from './spine.ts'

const AGENT = ['--agent', 'amber-otter']

/** To its end, unless it is detached. */
const start = (
  project: Spine,
  flags: readonly string[] = [],
  command: readonly string[] = ['true'],
): Promise<Ending> => {
  const agent = flags.includes('--agent') ? [] : AGENT
  const waits = flags.includes('--detach') ? [] : ['--detach', '--wait']
  return runInProcess('heimdall', ['run', ...agent, ...waits, ...flags, '--', ...command], {
    cwd: project.root,
    env: project.env,
  })
}

async function isNothingLeft(project: Spine): Promise<void> {
  expect(project.runs()).toEqual([])
  expect(project.sheets()).toEqual([])
  await until('nothing to run', () => project.processes().length === 0)
}

const REFUSALS: readonly (readonly [string, readonly string[], readonly string[], number, RegExp])[] = [
  ['a command that is not there', [], ['no-such-program'], 127, /cannot run "no-such-program"/],
  ['a folder that is gone', ['--workdir', '/no/such/folder'], ['true'], 2, /"\/no\/such\/folder" is not there/],
  ['a policy that is not there', ['--policy', 'none.yaml'], ['true'], 8, /none\.yaml cannot be read/],
  ['a session id that is none', ['--id', '../x'], ['true'], 2, /not a valid id/],
]

test('what can be seen to be wrong is refused before anything is started', async () => {
  const project = spine()
  project.write('broken.yaml', 'rules: [')
  const cases = [
    ...REFUSALS,
    ['a policy that is broken', ['--policy', 'broken.yaml'], ['true'], 2, /broken\.yaml/],
    ['an agent id that is none', ['--agent', 'No Such'], ['true'], 2, /not an agent id/],
  ] as const
  for (const [what, flags, command, code, words] of cases) {
    const ending = await start(project, flags, command)
    expect({ what, code: ending.code, stderr: ending.stderr }).toMatchObject({
      what,
      stderr: expect.stringMatching(words),
    })
    expect({ what, code: ending.code }).toEqual({ what, code })
    await isNothingLeft(project)
  }
  // Nobody was registered for any of it.
  expect(await project.json(['agent', 'list'])).toEqual([])
})

test('a session id that another session has: refused, and the name of the agent is free again', async () => {
  const project = spine()
  await project.run('hm', ['run', '--id', 'taken', '--detach', '--', 'sleep', '1000'])
  const { code, stderr } = await start(project, ['--id', 'taken'])
  expect(code).toBe(5)
  expect(stderr).toMatch(/session taken is already running/)
  expect(project.runs()).toEqual([])
  expect(project.sheets()).toEqual([])
  // Without it, the agent's own id is taken; where a session elsewhere has that, with the project behind it.
  expect((await start(project)).code).toBe(0)
  await project.run('hm', ['run', '--id', 'amber-otter', '--detach', '--', 'sleep', '1000'])
  const { id } = await project.detached('amber-otter', ['sleep', '1000'])
  expect(id).toMatch(/^amber-otter-[0-9a-f]{4}$/)
})

test('a repository without commits, and no repository at all, are places to run in', async () => {
  const bare = spine({ git: false })
  expect((await start(bare, [], ['sh', '-c', 'exit 4'])).code).toBe(4)
  bare.git('init', '--quiet', '--initial-branch=main')
  bare.write('new.txt', 'x')
  expect((await start(bare, [], ['sh', '-c', 'exit 5'])).code).toBe(5)
  const metas = bare.runs().map((run) => bare.events(run)[0]?.['run'].meta)
  expect(metas).toMatchObject([
    { commit: null, dirty: null },
    { commit: null, branch: 'main', dirty: expect.arrayContaining(['new.txt']) },
  ])
})

test('a store that cannot be written, at each step of the start: said, and undone', async () => {
  for (const [what, where] of [
    ['coordination', (project: Spine) => project.path('.git/heimdall')],
    ['runs', (project: Spine) => join(project.home, '.local/state/heimdall/runs')],
    ['sheets', (project: Spine) => join(project.home, '.local/state/heimdall/runs/.kept')],
    ['open runs', (project: Spine) => join(project.home, '.local/state/heimdall/runs/.open')],
    ['sessions', (project: Spine) => join(project.home, '.local/share/heimdall/sessions')],
  ] as const) {
    const project = spine()
    // A file in the place of the folder: root, too, is refused.
    const path = where(project)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, '')
    chmodSync(path, 0o600)
    const { code, stderr } = await start(project)
    expect({ what, code }).not.toEqual({ what, code: 0 })
    expect({ what, stderr }).toMatchObject({ what, stderr: expect.stringMatching(/^error: [^\n]+\n/m) })
    expect({ what, stderr }).not.toMatchObject({ stderr: expect.stringMatching(/ {4}at /) })
    rmSync(path)
    await isNothingLeft(project)
    expect({ what, code: (await start(project)).code }).toEqual({ what, code: 0 })
  }
})

/** The run that has ended may still be writing. */
const storeOf = (project: Spine) => new DatabaseSync(project.path('.git/heimdall/coordination.db'), { timeout: 30_000 })

test('a store that another process has locked, and one of a newer version: said, and what was there is as it was', async () => {
  const cases = [
    ['BEGIN EXCLUSIVE', 'ROLLBACK', /^error: \S+coordination\.db is locked by another process\nhint: [^\n]+\n$/],
    ['PRAGMA user_version = 1000', '', /^error: \S+ has schema version 1000, this program knows \d+\nhint: [^\n]+\n$/],
  ] as const
  // Both at once: who finds it locked waits for as long as a writer may hold it.
  await Promise.all(
    cases.map(async ([spoil, mend, words]) => {
      const project = spine()
      expect((await start(project)).code).toBe(0)
      const [runs, agents] = [project.runs(), await project.json(['agent', 'list'])]
      const holder = storeOf(project)
      const { user_version: known } = holder.prepare('PRAGMA user_version').get() as { user_version: number }
      holder.exec(spoil)
      expect(await start(project)).toMatchObject({ code: 8, stderr: expect.stringMatching(words) })
      expect([project.runs(), project.sheets()]).toEqual([runs, []])
      await until('nothing to run', () => project.processes().length === 0)
      holder.exec(mend === '' ? `PRAGMA user_version = ${known}` : mend)
      holder.close()
      expect(await project.json(['agent', 'list'])).toEqual(agents)
      expect((await start(project)).code).toBe(0)
    }),
  )
})

test('refused once the agent is registered: no run, no branch, nobody at work, and the name is free', async () => {
  const project = spine({ git: false })
  project.git('init', '--quiet', '--initial-branch=main')
  expect(await start(project, ['--worktree'])).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^error: \S+ has no commit yet[^\n]*\nhint: [^\n]+\n$/),
  })
  await isNothingLeft(project)
  expect(project.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(await project.json(['agent', 'list'])).toMatchObject([{ agent_id: 'amber-otter', liveness: 'evicted' }])
  expect(await project.claims()).toEqual([])
  expect((await start(project)).code).toBe(0)
})

test('several starts of one agent at once: one runs, the others say who it is and leave nothing', async () => {
  const project = spine()
  const starts = await Promise.all(Array.from({ length: 4 }, () => start(project, ['--detach'], ['sleep', '1000'])))
  expect(starts.map(({ code }) => code).toSorted((a, b) => (a ?? -1) - (b ?? -1))).toEqual([0, 5, 5, 5])
  for (const { stderr } of starts.filter(({ code }) => code === 5))
    expect(stderr).toMatch(/^error: amber-otter is at work already: process \d+\nhint: [^\n]+\n$/)
  expect([project.sheets().length, project.runs().length]).toEqual([1, 1])
  await project.run('hm', ['kill', 'amber-otter'])
  await until('the run to be closed', () => project.sheets().length === 0)
  expect(project.runs().map((run) => isClosedOnce(project.events(run)))).toEqual([true])
  await until('nothing to run', () => project.processes().length === 0)
})

test('the folder that it is called in is gone: said before anything is started', async () => {
  const project = spine()
  mkdirSync(project.path('sub'))
  const words = [
    'sh',
    '-c',
    'rmdir "$PWD"; exec "$@"',
    'sh',
    ...launcher('heimdall'),
    'run',
    ...AGENT,
    '--',
    'true',
  ] as const
  const { code, stderr } = await runProgram(words, { cwd: project.path('sub'), env: project.env })
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringMatching(/^error: the working folder no longer exists\nhint: [^\n]+\n$/),
  })
  await isNothingLeft(project)
  expect(await project.json(['agent', 'list'])).toEqual([])
})

test('a disk that takes no more, at each step of the start: said, and undone; what had begun is settled later', async () => {
  const project = spine()
  // In a process of its own, which closes the store: with the log of one that is open, each start would fail at its first step.
  expect((await project.run('heimdall', ['run', ...AGENT, '--', 'true'])).code).toBe(0)
  const before = project.runs()
  // The limit on the size of files stands for the disk; the signal that comes with it is ignored, as Node does not handle it.
  for (const blocks of [0, 1, 2, 8, 40]) {
    const limited = ['sh', '-c', `trap "" XFSZ; ulimit -f ${blocks}; exec "$@"`, 'sh'] as const
    const words = [...limited, ...launcher('heimdall'), 'run', '--agent', 'amber-otter', '--', 'true'] as const
    const { code, stderr } = await runProgram(words, { cwd: project.root, env: project.env })
    if (code !== 0) {
      expect({ blocks, stderr }).toMatchObject({ stderr: expect.stringMatching(/^error: [^\n]+\n/m) })
      expect(stderr, `${blocks} blocks`).not.toMatch(/ {4}at /)
      expect({ blocks, sheets: project.sheets() }).toEqual({ blocks, sheets: [] })
    }
    await until('nothing to run', () => project.processes().length === 0)
  }
  expect((await start(project)).code).toBe(0)
  expect(project.sheets()).toEqual([])
  const begun = project.runs().filter((run) => !before.includes(run))
  for (const run of begun) expect({ run, closed: isClosedOnce(project.events(run)) }).toEqual({ run, closed: true })
})
