// Runs and agent names: one active run per agent, lost runs, and names held by another session.
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { launcher, runProgram, startProgram, waitForDeath } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'
import { shellIn } from '../support/shell.ts'
import { until } from '../support/wait.ts'
import { spine } from './spine.ts'

// An agent is taken from the moment `heimdall run --detach` returns, before its watcher has started.
test('the agent of a run that has just begun is at work, watcher or not', async () => {
  const project = spine()
  const [, bin] = launcher('heimdall')
  const root = join(bin, '../..')
  const copy = join(project.home, 'heimdall')
  mkdirSync(copy)
  for (const name of ['bin', 'dist', 'package.json']) cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  writeFileSync(join(copy, 'dist/watcher.cjs'), 'setInterval(() => undefined, 1_000)\n')
  const run = (...args: string[]): ReturnType<typeof runProgram> =>
    runProgram([process.execPath, join(copy, 'bin/heimdall'), ...args], { cwd: project.root, env: project.env })
  const first = await run('run', '--agent', 'amber-otter', '--detach', '--', 'sleep', '1000')
  expect(first.code, first.stderr).toBe(0)
  const shown = await run('agent', 'show', 'amber-otter')
  expect(shown.stdout).toContain('liveness: active')
  const second = await run('run', '--agent', 'amber-otter', '--detach', '--', 'sleep', '1000')
  expect(second.code, second.stdout).toBe(5)
  expect(second.stderr).toMatch(/amber-otter is at work already: process \d+/)
  expect(project.sheets()).toHaveLength(1)
})

// An agent cannot become another one by killing it and running under its name, and removes no session logs.
test('a name that has become free is another agent’s all the same; what an agent has started it starts again', async () => {
  const at = spine()
  await at.detached('victim-a', ['sleep', '600'])
  const evil = await shellIn(hm(), at, 'evil')
  expect(await evil.run('hm kill --wait victim-a')).toMatchObject({ code: 0 })
  await until('the run to be closed', () => at.sheets().length === 0)
  const own = await evil.whoami()
  for (const how of ['', 'env -u HEIMDALL_SESSION_ID -u HEIMDALL_SESSION_KEY ', 'BB_AGENT=victim-a ', 'setsid -w ']) {
    const taken = await evil.run(`${how}heimdall run --agent victim-a --detach -- true`)
    expect([how, taken]).toMatchObject([how, { code: 4 }])
    expect(taken.text).toMatch(/haid:\S+ may not (?:go on|act) as victim-a/)
  }
  expect(await at.json(['run', '--agent', 'victim-a', '--detach', '--', 'true'])).toMatchObject({
    agent_id: 'victim-a',
  })

  for (let round = 0; round < 2; round += 1) {
    expect(await evil.run('heimdall run --agent its-own --detach -- true')).toMatchObject({ code: 0 })
    await until('its run to be closed', () => at.sheets().length === 0)
  }
  const history = at.read('.planning/ledger/events.jsonl')
  expect(history.match(new RegExp(`"started_by":"${own.haid}"`, 'g'))).toHaveLength(2)
})

test('logs of ended sessions are not an agent’s to remove', async () => {
  const at = spine()
  const sessions = hm()
  await sessions.run(['run', '--id', 'nightly', '--', 'echo', 'said'])
  const evil = await shellIn(sessions, at, 'evil')
  const { text, code } = await evil.run(`hm clean --force --older-than 0s --socket-dir ${sessions.dir}`)
  expect(code).not.toBe(0)
  expect(text).toContain('removing files of ended sessions needs a human')
  expect((await sessions.run(['logs', 'nightly'])).stdout).toContain('said')
  expect((await sessions.run(['clean', '--force', '--older-than', '0s'])).code).toBe(0)
})

// A session started for an agent that another live session holds is told so; the guard does not block it.
test('the second session of one agent is refused as long as the first runs, and commits what nobody claims', async () => {
  const project = temporaryProject()
  const sessions = hm()
  await project.run('heimdall', ['guard', 'install'])
  await project.run('bb', ['agent', 'register', '--name', 'heron-two', '--role', 'ui'])
  const startedFor = { BB_AGENT: 'heron-two' }
  const first = await shellIn(sessions, project, 'first', startedFor)
  expect(await first.run('heimdall claim web')).toMatchObject({ code: 0 })

  const second = await shellIn(sessions, project, 'second', startedFor)
  expect(await second.run('heimdall whoami')).toMatchObject({ code: 0, text: expect.stringContaining('is held by') })
  expect(await second.run('heimdall claim check web')).toMatchObject({ code: 5 })
  for (const line of ['claim lib', 'claim release', 'claim release --agent heron-two', 'claim x --agent other'])
    expect([line, await second.run(`heimdall ${line} --json`)]).toEqual([
      line,
      { code: 5, text: expect.stringContaining('IDENTITY_HELD') },
    ])
  project.write('lib/x', 'x')
  expect(await second.run('git add lib/x && git commit -qm second')).toMatchObject({ code: 0 })

  expect((await first.whoami()).holds).toMatchObject([{ claimed_surfaces: ['web'] }])
  expect((await first.run('heimdall whoami')).text).toMatch(/^holds web until /m)
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  const refused = (JSON.parse(stdout) as { data: { from_agent: string | null; to_agent: string }[] }).data
  expect(refused.map((event) => [event.from_agent, event.to_agent])).toEqual(
    Array.from({ length: 4 }, () => [null, 'heron-two']),
  )
})

// Readers show a run whose processes were killed as lost, and write nothing.
test('runs list and runs show say lost, doctor --fix closes, and only then it has ended', async () => {
  const project = temporaryProject()
  const folder = join(project.home, '.local/state/heimdall/runs/ci-1')
  const wait = 'echo began; exec sleep 1000'
  const program = startProgram([...launcher('sub'), 'run', '--run', 'ci-1', '--', 'sh', '-c', wait], {
    cwd: project.root,
    env: project.env,
  })
  await program.nextLine(/began/)
  const stateOf = async (): Promise<unknown> => {
    const { stdout } = await project.run('heimdall', ['runs', 'list', '--json'])
    return (JSON.parse(stdout) as { data: { runs: { state: string; status: string }[] } }).data.runs.map(
      ({ state, status }) => [state, status],
    )
  }
  const all = (): unknown =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
      const stats = statSync(join(folder, name))
      return [name, stats.mtimeMs, stats.isFile() ? readFileSync(join(folder, name), 'hex') : '']
    })
  expect(await stateOf()).toEqual([['open', 'SUCCEEDED']])
  process.kill(program.pid, 'SIGKILL')
  await waitForDeath(program.pid)
  const before = all()
  expect(await stateOf()).toEqual([['lost', 'SUCCEEDED']])
  expect((await project.run('heimdall', ['runs', 'show', 'ci-1'])).stdout).toContain('lost: its processes are gone')
  expect((await project.run('heimdall', ['runs', 'list', '--open'])).stdout).toContain('No runs in this repository')
  expect(all()).toEqual(before)
  await project.run('heimdall', ['doctor', '--fix'])
  expect(await stateOf()).toEqual([['ended', 'FAILED']])
})
