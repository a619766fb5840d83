// What a run leaves on record: how the worktree stood and what changed, each wait, the terminal; and how policy ends a run.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { fixture } from '../support/programs.ts'
import { bundle, ofType, rule, tool, toolCall } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { isClosedOnce, spine, type Spine } from './spine.ts'

const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`
const runDir = ({ home }: Spine, run: string): string => join(home, '.local/state/heimdall/runs', run)

test('commit and dirty files at the start, files changed by the end, the terminal; --no-record leaves the last away', async () => {
  const project = spine()
  project.write('kept.txt', 'dirty before and after')
  project.write('touched.txt', 'dirty before')
  project.write('old name.txt', 'committed')
  project.git('add', 'old name.txt')
  project.git('commit', '--quiet', '--message=one')
  const commit = project.git('rev-parse', 'HEAD').trim()
  const script =
    'echo more >> touched.txt; git mv "old name.txt" new.txt; git commit -qm two; echo x > fresh.txt; echo "on the screen"'
  const { code } = await project.run('heimdall', ['run', '--agent', 'amber-otter', '--', 'bash', '-c', script])
  expect(code).toBe(0)
  const [run = ''] = project.runs()
  const events = project.events(run)
  expect(events[0]).toMatchObject({
    run: { meta: { commit, branch: 'main', dirty: ['kept.txt', 'touched.txt'], dirty_total: 2 } },
  })
  expect(ofType(events, 'files_changed')[0]?.['changes']).toEqual({
    commit_before: commit,
    commit_after: project.git('rev-parse', 'HEAD').trim(),
    commits: 1,
    files: ['fresh.txt', 'new.txt', 'old name.txt', 'touched.txt'],
    total: 4,
  })
  const cast = readFileSync(join(runDir(project, run), 'terminal.cast'), 'utf8')
  expect(cast).toContain('on the screen')
  await project.run('heimdall', ['run', '--agent', 'amber-otter', '--no-record', '--', 'true'])
  const second = project.runs().find((one) => one !== run) ?? ''
  expect(existsSync(join(runDir(project, second), 'terminal.cast'))).toBe(false)
})

test('where no temporary file can be made, the state of the worktree is on record all the same', async () => {
  const project = spine()
  project.write('dirty.txt', 'x')
  const { code } = await project.run('heimdall', ['run', '--agent', 'amber-otter', '--', 'true'], {
    env: { TMPDIR: join(project.home, 'not-there') },
  })
  expect(code).toBe(0)
  const [run = ''] = project.runs()
  expect(project.events(run)[0]).toMatchObject({ run: { meta: { branch: 'main', dirty: ['dirty.txt'] } } })
})

test('each wait has its start, its end, who said so and how it was answered; the sheet has the open one', async () => {
  const project = spine()
  const started = await project.detached('amber-otter', ['cat'])
  const run = String(started['run_id'])
  await project.watched(run)
  const report = (...flags: string[]): Promise<unknown> =>
    project.run('hm', ['report', ...flags], {
      env: { HEIMDALL_SESSION_ID: 'amber-otter', HEIMDALL_SESSION_KEY: keyOf(Number(started['pid'])) },
    })
  await report('--needs-input', 'may I?')
  const open = await until('the wait to be booked', () => project.sheets()[0]?.['wait'] ?? undefined)
  expect(open).toMatchObject({ source: 'hook', evidence: 'may I?' })
  await report('--working')
  await until('the wait to be over', () => project.sheets()[0]?.['wait'] === null)
  await report('--needs-input', 'and now?')
  await until('the second to be booked', () => project.sheets()[0]?.['wait']?.['evidence'] === 'and now?')
  await project.run('hm', ['kill', 'amber-otter', '--wait'])
  await until('the run to be closed', () => project.sheets().length === 0)
  const events = project.events(run)
  expect(ofType(events, 'wait_start').map((event) => event['wait'].evidence as string)).toEqual(['may I?', 'and now?'])
  const ends = ofType(events, 'wait_end').map((event) => event['wait'] as Record<string, unknown>)
  expect(ends).toMatchObject([
    { wait_id: open['wait_id'], source: 'hook', evidence: 'may I?', waited_ms: expect.any(Number) },
    { evidence: 'and now?' },
  ])
  expect(ofType(events, 'session_end')[0]).toMatchObject({ session: { waits: 2, reason: 'kill' } })
})

const keyOf = (pid: number): string =>
  /HEIMDALL_SESSION_KEY=([^\0]+)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1] ?? ''

test('a budget that refuses is a wait like any other: booked from the refusal to the end, and listed once', async () => {
  const project = spine()
  const effect = { budget: { limit_calls: 0, on_exceed: 'BLOCK' } }
  project.write('policy.json', JSON.stringify(bundle([rule('none', 'budget', tool('mail'), effect)])))
  const shim = `heimdall mcp shim --server-name=fake -- ${fixture('shim-upstream').join(' ')}`
  const script = `(echo '${JSON.stringify(toolCall(1, 'mail'))}'; sleep 1000) | ${shim}`
  const started = await project.json(
    ['run', '--agent', 'amber-otter', '--policy', 'policy.json', '--detach', '--', 'bash', '-c', script],
    { env: { PATH } },
  )
  const open = await until('the wait to be booked', () => project.sheets()[0]?.['wait'] ?? undefined)
  expect(open).toMatchObject({ source: 'policy', evidence: expect.stringMatching(/^budget: /) })
  expect((await project.json(['status']))['waits']).toMatchObject([{ kind: 'budget', agent_id: 'amber-otter' }])
  // Whoever types has not given it more.
  await project.run('hm', ['send', 'amber-otter', 'go on\n'])
  await project.run('hm', ['kill', 'amber-otter', '--wait'])
  await until('the run to be closed', () => project.sheets().length === 0)
  const events = project.events(String(started['run_id']))
  const refused = ofType(events, 'tool_call_decision')[0]?.['ts'] as string
  expect(ofType(events, 'wait_end')).toMatchObject([
    { wait: { started_at: refused, answer: 'the session was killed', answered_by: null } },
  ])
  expect(ofType(events, 'session_end')[0]).toMatchObject({ session: { waits: 1 } })
})

test('TERMINATE_RUN ends the session with its whole tree, and the run is TERMINATED (seed 004 §3.2.1)', async () => {
  const project = spine()
  const effect = { budget: { limit_calls: 0, on_exceed: 'TERMINATE_RUN' } }
  project.write('policy.json', JSON.stringify(bundle([rule('none', 'budget', tool('mail'), effect)])))
  const shim = `heimdall mcp shim --server-name=fake -- ${fixture('shim-upstream').join(' ')}`
  // Goes on by itself, whatever the shim says.
  const script = `trap '' HUP; (echo '${JSON.stringify(toolCall(1, 'mail'))}'; sleep 1000) | ${shim}; while :; do sleep 1; done`
  const started = await project.json(
    ['run', '--agent', 'amber-otter', '--policy', 'policy.json', '--detach', '--', 'bash', '-c', script],
    { env: { PATH } },
  )
  await until('the run to be closed', () => project.sheets().length === 0)
  const events = project.events(String(started['run_id']))
  expect(isClosedOnce(events)).toBe(true)
  expect(events[0]).toMatchObject({ run: { mode: 'guardrails', policy: { policy_id: 'test' } } })
  expect(ofType(events, 'tool_call_decision')[0]).toMatchObject({ decision: { action: 'TERMINATE_RUN' } })
  expect(ofType(events, 'run_end')[0]).toMatchObject({ run: { status: 'TERMINATED', summary: { calls_blocked: 1 } } })
  await until('nothing of it to run', () => project.processes().length === 0)
})
