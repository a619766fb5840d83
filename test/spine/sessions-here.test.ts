// heimdall ls, attach, logs and kill: the sessions of a repository, by the names of their agents.
import { expect, test } from 'vitest'
import { atTerminal } from '../hm/person.ts'
import { until } from '../support/wait.ts'
import { spine } from './spine.ts'

interface Row {
  readonly agent_id: string
  readonly state: string
  readonly host: string | null
  readonly task: string | null
  readonly session_id: string | null
  readonly exit_code: number | null
}

test('ls lists agents of runs and plain sessions of this repository; with --all ended ones too, each once', async () => {
  const here = spine()
  const agents = async (...flags: string[]): Promise<Row[]> =>
    ((await here.json(['ls', ...flags])) as unknown as { agents: Row[] }).agents
  const empty = await here.run('heimdall', ['ls'])
  expect(empty.stdout).toBe('AGENT\tSTATE\tAGE\tHOST\tTASK/BRANCH\n')
  expect(empty.stderr).toMatch(/^No agent runs in \S+\. heimdall run -- claude starts one\.\n$/)
  await here.detached('amber-otter', ['sh', '-c', 'read line'], ['--task', 'fix the login page'])
  await here.run('hm', ['run', '--id', 'build', '--detach', '--', 'cat'])
  await here.run('hm', ['run', '--id', 'other', '--detach', '--workdir', here.home, '--', 'cat'])
  expect(await agents()).toMatchObject([
    { agent_id: 'amber-otter', host: 'sh', task: 'fix the login page', session_id: 'amber-otter' },
    { agent_id: 'build', host: 'cat', session_id: 'build', exit_code: null },
  ])
  expect((await here.run('heimdall', ['ls'])).stdout).toMatch(/^amber-otter\t\w+\t\d+s\tsh\tfix the login page$/m)
  await here.run('hm', ['kill', 'build', '--wait'])
  await here.run('heimdall', ['send', 'amber-otter', 'go', '--enter'])
  await until('the run to be closed', () => here.sheets().length === 0)
  expect(await agents()).toEqual([])
  expect(await agents('--all')).toMatchObject([
    { agent_id: 'amber-otter', host: 'sh', exit_code: 0 },
    { agent_id: 'build', state: 'ended', host: 'cat' },
  ])
})

test('the name of an agent means its session, flags may stand on either side, and hm takes ids only', async () => {
  const here = spine()
  await here.detached('amber-otter', ['sh', '-c', 'echo hello; read line; exit 7'], ['--id', 'login'])
  await until('the output', async () => (await here.run('heimdall', ['logs', 'amber-otter'])).stdout === 'hello\n')
  const following = [
    here.run('heimdall', ['logs', '-f', 'amber-otter']),
    here.run('heimdall', ['logs', 'login', '--follow']),
  ]
  expect((await here.run('hm', ['logs', 'amber-otter'])).code).toBe(1)
  expect(await here.run('heimdall', ['send', 'amber-otter', 'go', '--enter'])).toMatchObject({ code: 0 })
  for (const { code, stdout } of await Promise.all(following)) expect([code, stdout]).toEqual([0, 'hello\ngo\n'])
})

test('kill --all ends the sessions of this repository and no other, asks first, and refuses where it cannot ask', async () => {
  const here = spine()
  await here.detached('amber-otter', ['sh', '-c', 'read line'])
  await here.run('hm', ['run', '--id', 'build', '--detach', '--', 'cat'])
  await here.run('hm', ['run', '--id', 'other', '--detach', '--workdir', here.home, '--', 'cat'])
  const running = async (): Promise<string[]> =>
    ((await here.json(['hm', 'ls'])) as unknown as { sessions: { id: string }[] }).sessions.map(({ id }) => id)
  const refused = await here.run('heimdall', ['kill', '--all'])
  expect([refused.code, refused.stdout]).toEqual([2, ''])
  expect(refused.stderr).toMatch(
    /^error: 2 sessions of \S+ would be ended, and this command cannot ask: it has no terminal\nhint: heimdall kill --all --yes ends them without asking\n$/,
  )
  const human = atTerminal({ home: here.root, env: here.env }, ['kill', '--all'], { bin: 'heimdall' })
  await human.see(/End these 2 sessions of \S+\? \[y\/N\]/)
  for (const name of ['amber-otter', 'build']) await human.see(new RegExp(`^${name} `, 'm'))
  human.type('n\r')
  expect(await human.ended).toBe(130)
  expect(await running()).toEqual(['amber-otter', 'build', 'other'])
  for (const [words, code] of [
    [['kill', '--all', 'build'], 2],
    [['kill', '--all', '--host', 'box'], 2],
    [['kill'], 2],
  ] as const)
    expect([words, (await here.run('heimdall', words)).code]).toEqual([words, code])
  const { sessions } = (await here.json(['kill', '--all', '--yes', '--wait'])) as unknown as { sessions: Row[] }
  // The order is that of `ls`: by who needs a human, which changes while they run.
  expect(sessions).toHaveLength(2)
  for (const id of ['amber-otter', 'build'])
    expect(sessions).toContainEqual(expect.objectContaining({ id, ended: true, error: null }))
  expect(await running()).toEqual(['other'])
  expect((await here.run('heimdall', ['kill', '--all', '--yes'])).stdout).toBe('No session runs in this repository\n')
})

test('commands that block say at a terminal what they wait for and how to leave', async () => {
  const here = spine()
  await here.run('hm', ['run', '--id', 'build', '--detach', '--', 'cat'])
  const place = { home: here.root, env: here.env }
  const waiting = atTerminal(place, ['wait', 'build'])
  await waiting.see('waiting for session build: exit; Ctrl-C stops waiting and leaves it running')
  const following = atTerminal(place, ['logs', 'build', '-f'], { bin: 'heimdall' })
  await following.see('following session build until it ends; Ctrl-C stops')
  await here.run('heimdall', ['kill', 'build'])
  expect([await waiting.ended, await following.ended]).toEqual([0, 0])
})
