// sub run, and the field's name for it, `sub run`: a plain command that owns a run (seed 004 §5).
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { fixture, launcher, runProgram, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { bundle, eventsOfRun, type Json, rule, runsDir, tool } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const call = (name: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } })

/** A command that calls through a shim, as a host below `sub run` would. */
const shimCall = (name: string): string =>
  `printf '%s\\n' '${call(name)}' | ${[...launcher('heimdall'), 'mcp', 'shim', '--server-name=fake', '--', ...fixture('shim-upstream')].join(' ')}`

test('sub run: one run with the identity that was given, around all shims below it, and the exit code of the command', async () => {
  const home = temporaryFolder()
  const words = [
    'run',
    '--run',
    'ci-42',
    '--agent',
    'nightly',
    '--client',
    'codex',
    '--env',
    'ci',
    '--principal',
    'ana',
  ]
  const ended = await runLauncher(
    'sub',
    [
      ...words,
      '--print-run-id',
      '--',
      'sh',
      '-c',
      `${shimCall('echo')} >/dev/null; ${shimCall('echo')} >/dev/null; env | grep ^SUB_ | sort; echo bad >&2; exit 7`,
    ],
    { env: { HOME: home, FAKE_LOG: '/dev/null' }, cwd: home },
  )
  expect(ended).toMatchObject({ code: 7, stderr: 'bad\n' })
  expect(ended.stdout).toBe(
    'ci-42\nSUB_AGENT_ID=nightly\nSUB_CLIENT=codex\nSUB_ENV=ci\nSUB_PRINCIPAL=ana\nSUB_RUN_ID=ci-42\n',
  )
  const events = eventsOfRun(home, 'ci-42')
  const types = events.map(({ type }) => type as string)
  expect(types.filter((type) => type.startsWith('run_'))).toEqual(['run_start', 'run_end'])
  expect([types[0], types.at(-1)]).toEqual(['run_start', 'run_end'])
  expect(events.at(-1)?.['run']).toMatchObject({ status: 'FAILED', summary: { calls_total: 2 } })
  for (const event of events)
    expect(event).toMatchObject({ run_id: 'ci-42', agent_id: 'nightly', client: 'codex', env: 'ci', principal: 'ana' })
})

test('it ends with what its caller or a policy says, and starts nothing that cannot be run', async () => {
  const home = temporaryFolder()
  const policy = bundle([
    rule('once', 'budget', tool('echo'), { budget: { scope: 'run', limit_calls: 1, on_exceed: 'TERMINATE_RUN' } }),
  ])
  const exec = (id: string, script: string): [string, ...string[]] => [
    ...launcher('sub'),
    'run',
    '--json',
    '--run',
    id,
    '--',
    'sh',
    '-c',
    script,
  ]
  const waiting = startProgram(exec('asked', 'echo ready >&2; exec sleep 600'), { env: { HOME: home }, cwd: home })
  await until('the command', () => waiting.stderr().includes('ready'))
  waiting.kill('SIGTERM')
  const asked = await waiting.ended
  expect(asked.code).toBe(143)
  expect((JSON.parse(asked.stdout) as Json)['data']).toMatchObject({
    run_id: 'asked',
    exit_code: 143,
    status: 'CANCELLED',
  })
  const ended = await runProgram(exec('over', `${shimCall('echo')}; ${shimCall('echo')}; exec sleep 600`), {
    env: { HOME: home, FAKE_LOG: '/dev/null', SUB_POLICY_JSON: JSON.stringify(policy) },
    cwd: home,
  })
  expect((JSON.parse(ended.stdout) as Json)['data']).toMatchObject({ status: 'TERMINATED' })
  expect(eventsOfRun(home, 'over').at(-1)).toMatchObject({ type: 'run_end', run: { status: 'TERMINATED' } })
  expect(
    await runLauncher('sub', ['run', '--run', 'none', '--', 'no-such-program'], {
      env: { HOME: home },
      cwd: home,
    }),
  ).toMatchObject({ code: 127 })
  expect(existsSync(join(runsDir(home), 'none'))).toBe(false)
})

test.each(['--run', '--agent'])('%s of a variable that is not set is no name', async (flag) => {
  const home = temporaryFolder()
  const ended = await runLauncher('sub', ['run', flag, '', '--', 'true'], {
    env: { HOME: home },
    cwd: home,
  })
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(`${flag} is empty`) })
  expect(existsSync(runsDir(home))).toBe(false)
})
