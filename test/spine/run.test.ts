// `heimdall run`: identity, run and session from one command, and at the end nothing left open.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../support/programs.ts'
import { ofType } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { isClosedOnce, spine } from './spine.ts'

test('without a terminal the output is streamed and the exit code is the command’s; identity, run and session are one', async () => {
  const project = spine()
  const script = 'env -0 | tr "\\0" "\\n" | grep -E "^(HEIMDALL|SUB|BB)_"; exit 7'
  const flags = ['--agent', 'amber-otter', '--task', 'T-1']
  const { code, stdout } = await project.run('heimdall', ['run', ...flags, '--', 'bash', '-c', script])
  expect(code).toBe(7)
  const [run = ''] = project.runs()
  const seen = Object.fromEntries(
    stdout
      .replaceAll('\r', '')
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  expect(seen).toMatchObject({
    HEIMDALL_SESSION_ID: 'amber-otter',
    HEIMDALL_AGENT_ID: 'amber-otter',
    HEIMDALL_HAID: expect.stringMatching(/^haid:.*\/amber-otter$/),
    HEIMDALL_RUN_DIR: join(project.home, '.local/state/heimdall/runs', run),
    HEIMDALL_SECRET: expect.stringMatching(/^[0-9a-f]{48}$/),
    BB_AGENT: 'amber-otter',
    SUB_RUN_ID: run,
    SUB_AGENT_ID: 'amber-otter',
    SUB_ENV: 'dev',
    SUB_CLIENT: 'custom',
    SUB_PRINCIPAL: expect.any(String),
  })
  const events = project.events(run)
  expect(isClosedOnce(events)).toBe(true)
  // Seed 004 §1.4: run.meta is freeform.
  expect(ofType(events, 'run_start')[0]).toMatchObject({
    agent_id: 'amber-otter',
    haid: seen['HEIMDALL_HAID'],
    session_id: 'amber-otter',
    run: { mode: 'observe', meta: { project: project.root, task: 'T-1', program: 'bash', branch: 'main', dirty: [] } },
  })
  expect(ofType(events, 'session_end')[0]).toMatchObject({ session: { exit_code: 7, reason: 'exit' } })
  expect(ofType(events, 'run_end')[0]).toMatchObject({ run: { status: 'FAILED' } })
  expect(project.sheets()).toEqual([])
})

test('the first word that is not a flag starts the command, and what follows it is the command’s', async () => {
  const project = spine()
  const flags = ['--agent', 'amber-otter', '--worktree']
  const { code, stdout } = await project.run('heimdall', [
    'run',
    ...flags,
    'sh',
    '-c',
    'echo "$0 $1"; pwd',
    '--agent',
    '-x',
  ])
  expect(code).toBe(0)
  expect(stdout.replaceAll('\r', '')).toMatch(/^--agent -x\n\S+amber-otter\S*\n$/)
})

test('claims of the agent are released when its command ends, and the name is free for the next run', async () => {
  const project = spine()
  const script = 'heimdall claim src/api --task T-1 && heimdall claim list --json'
  for (const turn of [1, 2]) {
    const { code, stdout } = await project.run(
      'heimdall',
      ['run', '--agent', 'amber-otter', '--', 'sh', '-c', script],
      {
        env: { PATH: `${process.cwd()}/bin:${process.env['PATH'] ?? ''}` },
      },
    )
    expect({ turn, code, stdout }).toMatchObject({ turn, code: 0, stdout: expect.stringContaining('src/api') })
    expect(await project.claims()).toEqual([])
  }
  expect(project.runs()).toHaveLength(2)
  for (const run of project.runs()) {
    const events = project.events(run)
    expect(isClosedOnce(events)).toBe(true)
    expect(ofType(events, 'run_end')[0]).toMatchObject({ run: { status: 'SUCCEEDED' } })
  }
})

test('the secret is in the environment of the command and in no file, and not in that of supervisor and watcher', async () => {
  const project = spine()
  const { pid, supervisor_pid: supervisor } = await project.detached('amber-otter', ['sleep', '1000'])
  const watcher = await project.watcher()
  const environ = (one: unknown): string => readFileSync(`/proc/${String(one)}/environ`, 'latin1')
  const secret = /HEIMDALL_SECRET=([0-9a-f]{48})/.exec(environ(pid))?.[1] ?? 'none'
  expect(environ(supervisor)).not.toContain(secret)
  expect(environ(watcher)).not.toContain(secret)
  expect(secret).toHaveLength(48)
  const { code } = await runProgram(['grep', '-rqF', secret, join(project.root, '..')])
  expect(code).toBe(1)
})

test('a second run of an agent that is at work is refused, and names its process; nothing is half started', async () => {
  const project = spine()
  const first = await project.detached('amber-otter', ['sleep', '1000'])
  await project.watched(String(first['run_id']))
  const { code, stderr } = await project.run('heimdall', [
    'run',
    '--agent',
    'amber-otter',
    '--detach',
    '--',
    'sleep',
    '1',
  ])
  expect(code).toBe(5)
  expect(stderr).toMatch(/amber-otter is at work already: process \d+/)
  expect(project.runs()).toEqual([first['run_id']])
  expect(project.sheets()).toHaveLength(1)
})

test('detached, it outlives its starter and is closed all the same; hm ls shows the project', async () => {
  const project = spine()
  const started = await project.detached('amber-otter', ['sh', '-c', 'read line; exit 0'])
  const { sessions } = (await project.json(['hm', 'ls'])) as { sessions: { id: string; project: string }[] }
  expect(sessions).toMatchObject([{ id: 'amber-otter', project: project.root }])
  await project.run('hm', ['send', 'amber-otter', 'go', '--enter'])
  await until('the run to be closed', () => project.sheets().length === 0)
  expect(ofType(project.events(String(started['run_id'])), 'run_end')[0]).toMatchObject({
    run: { status: 'SUCCEEDED' },
  })
})

test('hm kill cancels the run', async () => {
  const project = spine()
  const started = await project.detached('amber-otter', ['sleep', '1000'])
  await project.run('hm', ['kill', 'amber-otter', '--wait'])
  await until('the run to be closed', () => project.sheets().length === 0)
  expect(ofType(project.events(String(started['run_id'])), 'run_end')[0]).toMatchObject({
    run: { status: 'CANCELLED' },
  })
  expect(existsSync(join(project.home, '.local/share/heimdall/sessions/amber-otter.exit.json'))).toBe(true)
})
