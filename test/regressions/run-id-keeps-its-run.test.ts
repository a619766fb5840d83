// A run id kept nothing: the last shim to leave closed the run, and the next got another id with fresh budgets.
// Events carry the id that was given (seed 004 §5); counters and the word TERMINATED belong to it.
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { tryLock } from '../../src/storage/kernel-lock.ts'
import { launcher, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import {
  bundle,
  checkBooks,
  eventsOfRun,
  type Json,
  ofType,
  rule,
  runFolders,
  runsDir,
  segmentsOf,
  type ShimClient,
  startShim,
  tool,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const budget = (limit_calls: number, on_exceed = 'BLOCK', more: object = {}): object =>
  bundle([rule('few', 'budget', tool('echo'), { budget: { scope: 'run', limit_calls, on_exceed } })], more)

const start = (home: string, policy: object, env: Readonly<Record<string, string>> = {}): ShimClient =>
  startShim({ home, bin: 'heimdall', policy, env: { SUB_RUN_ID: 'r', ...env } })

const isPassed = (answer: Json): boolean => answer['result'] !== undefined

test.each(['0', '300'])('a budget holds over restarts of the shim, with a quiet time of %s s', async (seconds) => {
  const home = temporaryFolder()
  let passed = 0
  for (let round = 0; round < 4; round += 1) {
    const shim = start(home, budget(3), { HEIMDALL_RUN_QUIET_SECONDS: seconds })
    for (let n = 0; n < 3; n += 1) if (isPassed(await shim.call('echo', { n }))) passed += 1
    if (round === 2) {
      shim.program.kill('SIGKILL')
      await shim.program.ended
    } else await shim.end()
  }
  expect(passed).toBe(3)
  expect(runFolders(home)).toEqual(['r'])
})

test('a run that was terminated stays terminated, in every later segment', async () => {
  const home = temporaryFolder()
  for (let segment = 1; segment <= 3; segment += 1) {
    const shim = start(home, budget(1, 'TERMINATE_RUN'))
    const answers = [await shim.call('echo'), await shim.call('echo'), await shim.call('other')]
    const codes = answers.map((answer) => answer['error']?.code as number | undefined)
    expect(codes).toEqual([segment === 1 ? undefined : -32_084, -32_084, -32_084])
    await shim.end()
  }
  const ends = ofType(eventsOfRun(home, 'r'), 'run_end')
  expect(ends.map((event) => event['run'].status as string)).toEqual(['TERMINATED', 'TERMINATED', 'TERMINATED'])
})

test('without an owner a run stays open while its host lives, and is one segment however often shims come and go', async () => {
  const home = temporaryFolder()
  for (let n = 0; n < 3; n += 1) {
    const shim = start(home, budget(9), { HEIMDALL_RUN_QUIET_SECONDS: '300' })
    await shim.call('echo')
    await shim.end()
  }
  await runLauncher('heimdall', ['doctor'], { env: { HOME: home } })
  const events = eventsOfRun(home, 'r')
  expect(ofType(events, 'run_start')).toHaveLength(1)
  expect(ofType(events, 'run_end')).toHaveLength(0)
  expect(ofType(events, 'tool_call_start').map((event) => event['call'].seq as number)).toEqual([1, 2, 3])
})

test('after a quiet time the next command that looks closes it', async () => {
  const home = temporaryFolder()
  const shim = start(home, budget(9), { HEIMDALL_RUN_QUIET_SECONDS: '1' })
  await shim.call('echo')
  await shim.end()
  expect(ofType(eventsOfRun(home, 'r'), 'run_end')).toHaveLength(0)
  await until('the run to be closed', async () => {
    await runLauncher('heimdall', ['doctor'], { env: { HOME: home } })
    return ofType(eventsOfRun(home, 'r'), 'run_end').length === 1
  })
  expect(checkBooks(eventsOfRun(home, 'r'))).toEqual([])
})

test('a run whose host is gone is closed at once by whoever looks, also in the middle of its quiet time', async () => {
  const home = temporaryFolder()
  const command = [...launcher('heimdall'), 'shim', '--server-name=x', '--', 'cat']
  const host = startProgram(['sh', '-c', '"$@" </dev/null & wait', 'sh', ...command], {
    env: { HOME: home, SUB_RUN_ID: 'r', HEIMDALL_RUN_QUIET_SECONDS: '300' },
  })
  await host.ended
  await runLauncher('heimdall', ['doctor'], { env: { HOME: home } })
  expect(ofType(eventsOfRun(home, 'r'), 'run_end')).toHaveLength(1)
})

test('a shim that cannot join its run joins as soon as it can, with what it has counted, and hears that the run is over', async () => {
  const home = temporaryFolder()
  const state = join(home, '.local')
  writeFileSync(state, 'a file where a folder should be')
  const late = start(home, budget(5))
  for (let n = 0; n < 2; n += 1) expect(isPassed(await late.call('echo', { n }))).toBe(true)
  rmSync(state)
  await until('the run to be joined', () => existsSync(join(runsDir(home), 'r', 'events.jsonl')))
  const other = start(home, budget(5))
  // The late one counts in the run from its next call on; what it had counted before comes along.
  await until('the calls to be recorded', () => ofType(eventsOfRun(home, 'r'), 'tool_call_end').length === 2)
  expect(isPassed(await late.call('echo'))).toBe(true)
  const answers = [await other.call('echo'), await other.call('echo'), await other.call('echo')]
  expect(answers.map(isPassed)).toEqual([true, true, false])
  mkdirSync(join(runsDir(home), 'r', 'orders'), { recursive: true, mode: 0o700 })
  const ended = {
    action: 'TERMINATE_RUN',
    rule_id: null,
    severity: 'critical',
    reason_code: 'X',
    summary: 'over',
    enforced: true,
  }
  const order = join(runsDir(home), 'r', 'orders', 'terminated.json')
  // Half an order is none, and nobody stumbles over it.
  writeFileSync(order, JSON.stringify(ended).slice(0, 20))
  for (let n = 0; n < 3; n += 1) expect((await late.call('other'))['error']?.code).not.toBe(-32_084)
  writeFileSync(order, JSON.stringify(ended))
  await until('the late shim to hear of it', async () => (await late.call('other'))['error']?.code === -32_084)
  await Promise.all([late.end(), other.end()])
  expect(segmentsOf(eventsOfRun(home, 'r')).map((one) => checkBooks(one))).toEqual([[]])
})

test('a record that another process holds at the start: control takes decision_on_error until it is let go', async () => {
  const home = temporaryFolder()
  const runDir = join(runsDir(home), 'r')
  mkdirSync(runDir, { recursive: true })
  const held = openSync(join(runDir, 'events.jsonl'), 'a+')
  expect(tryLock(held)).toBe(true)
  const shim = start(home, budget(9, 'BLOCK', { mode: 'control' }))
  expect(await shim.call('other')).toMatchObject({ error: { data: { subluminal: { reason_code: 'POLICY_ERROR' } } } })
  closeSync(held)
  await until('calls to pass', async () => isPassed(await shim.call('other')))
  await shim.end()
  expect(checkBooks(eventsOfRun(home, 'r'))).toEqual([])
})
