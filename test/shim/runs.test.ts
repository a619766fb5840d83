// One run, one record: who opens it, who closes it, and what is shared by shims in different processes.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import {
  bundle,
  checkBooks,
  eventsOfRun,
  type Json,
  ofType,
  parseLines,
  rule,
  runFolders,
  runsDir,
  segmentsOf,
  type ShimClient,
  startShim,
  toolCall,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const budget = (limit_calls: number): object =>
  bundle([rule('shared', 'budget', {}, { budget: { scope: 'run', limit_calls, on_exceed: 'BLOCK' } })])

const isAllowed = (answer: Json): boolean => answer['result'] !== undefined

test('a shim with --events and no run id is a run of its own, in a file as on stderr', async () => {
  const path = join(temporaryFolder(), 'events.jsonl')
  const one = startShim({ flags: [`--events=${path}`] })
  await one.call('echo')
  await one.end()
  const two = startShim({ flags: [`--events=${path}`], home: one.home })
  await two.call('echo')
  await two.end()
  const events = parseLines(readFileSync(path, 'utf8'))
  const ids = [...new Set(events.map((event) => event['run_id'] as string))]
  expect(ids).toHaveLength(2)
  for (const id of ids) expect(checkBooks(events.filter((event) => event['run_id'] === id))).toEqual([])
  expect(runFolders(one.home)).toEqual([])
})

test('shims that share SUB_RUN_ID are one run, opened by the first and closed by the last to leave', async () => {
  const home = temporaryFolder()
  const env = { SUB_RUN_ID: 'shared-1' }
  const start = (name: string): ShimClient => startShim({ home, env, name, bin: 'heimdall', ownProcess: true })
  const shims = ['a', 'b', 'c'].map(start)
  await Promise.all(
    shims.map((shim, i) => Promise.all(Array.from({ length: 40 }, (_, n) => shim.call('echo', { i, n })))),
  )
  for (const shim of shims) {
    expect(ofType(eventsOfRun(home, 'shared-1'), 'run_end')).toHaveLength(0)
    await shim.end()
  }
  const events = eventsOfRun(home, 'shared-1')
  expect(checkBooks(events)).toEqual([])
  expect(ofType(events, 'run_end')[0]?.['run'].summary.calls_total).toBe(120)
  expect(new Set(ofType(events, 'tool_call_start').map((event) => event['call'].server_name as string))).toEqual(
    new Set(['a', 'b', 'c']),
  )
})

test('a run that has ended goes on as its next segment under the id that was given (seed 004 §5)', async () => {
  const home = temporaryFolder()
  for (let segment = 1; segment <= 3; segment += 1) {
    const shim = startShim({ home, env: { SUB_RUN_ID: 'r' }, bin: 'heimdall' })
    for (let n = 0; n < segment; n += 1) await shim.call('echo')
    await shim.end()
  }
  expect(runFolders(home)).toEqual(['r'])
  const events = eventsOfRun(home, 'r')
  expect(new Set(events.map((event) => event['run_id'] as string))).toEqual(new Set(['r']))
  const segments = segmentsOf(events)
  expect(
    segments.map((one) => checkBooks(one, one[0]?.['run'].segment === 3 ? 3 : one[0]?.['run'].segment - 1)),
  ).toEqual([[], [], []])
  for (const [i, one] of segments.entries())
    for (const event of [one[0], one.at(-1)]) expect(event?.['run'].segment).toBe(i + 1)
})

test('shims of one host session are one run, closed by the next command that looks when the host is gone', async () => {
  const home = temporaryFolder()
  // This test process is the host of both: their parent lives, so the run stays open when they leave.
  for (const name of ['a', 'b']) {
    const shim = startShim({ home, name, bin: 'heimdall', env: { HEIMDALL_RUN_QUIET_SECONDS: '300' } })
    await shim.call('echo')
    await shim.end()
  }
  const [folder = ''] = runFolders(home)
  expect(runFolders(home)).toHaveLength(1)
  expect(ofType(eventsOfRun(home, folder), 'run_end')).toHaveLength(0)
  // The host dies: here the record says so, because a test cannot die and look.
  const record = join(runsDir(home), folder, 'events.jsonl')
  writeFileSync(record, readFileSync(record, 'utf8').replaceAll(/"parent":\{"pid":\d+/g, `"parent":{"pid":2147483`))
  const next = startShim({ home, env: { SUB_RUN_ID: 'other' }, bin: 'heimdall' })
  await until('the abandoned run to be closed', () => ofType(eventsOfRun(home, folder), 'run_end').length === 1)
  await next.end()
  expect(checkBooks(eventsOfRun(home, folder))).toEqual([])
})

test('two sessions of one host program are two runs', async () => {
  const home = temporaryFolder()
  const shims = ['s1', 's2', 's1'].map((session) =>
    startShim({ home, bin: 'heimdall', env: { CLAUDE_CODE_SESSION_ID: session } }),
  )
  await Promise.all(shims.map((shim) => shim.call('echo')))
  expect(runFolders(home)).toHaveLength(2)
  await Promise.all(shims.map((shim) => shim.end()))
})

test('a budget of scope run holds over all shims of the run (seed 004 §2.5)', async () => {
  const home = temporaryFolder()
  const env = { SUB_RUN_ID: 'budget' }
  const shims = ['a', 'b', 'c', 'd'].map((name) =>
    startShim({ home, env, name, policy: budget(50), bin: 'heimdall', ownProcess: name < 'c' }),
  )
  const answers = await Promise.all(
    shims.flatMap((shim) => Array.from({ length: 30 }, (_, n) => shim.call('echo', { n }))),
  )
  expect(answers.filter(isAllowed)).toHaveLength(50)
  await Promise.all(shims.map((shim) => shim.end()))
  expect(checkBooks(eventsOfRun(home, 'budget'))).toEqual([])
})

test('TERMINATE_RUN in one shim ends the run for the others', async () => {
  const home = temporaryFolder()
  const policy = bundle([
    rule(
      'stop',
      'budget',
      { tool_name: { glob: ['danger'] } },
      { budget: { scope: 'run', limit_calls: 0, on_exceed: 'TERMINATE_RUN' } },
    ),
  ])
  const start = (name: string): ShimClient =>
    startShim({ home, env: { SUB_RUN_ID: 't' }, name, policy, bin: 'heimdall' })
  const [one, two] = [start('a'), start('b')]
  await two.call('echo')
  expect(await one.call('danger')).toMatchObject({ error: { code: -32_084 } })
  await until('the other shim to know', async () => (await two.call('echo'))['error']?.code === -32_084)
  await Promise.all([one.end(), two.end()])
  const events = eventsOfRun(home, 't')
  expect(ofType(events, 'run_end')[0]?.['run'].status).toBe('TERMINATED')
  expect(checkBooks(events)).toEqual([])
})

test('shims killed at any moment leave no gap, no repeat, no open call, and no count lost or doubled', async () => {
  for (let round = 0; round < scaled(2, 60); round += 1) {
    const home = temporaryFolder()
    const env = { SUB_RUN_ID: 'killed' }
    const start = (name: string): ShimClient =>
      startShim({ home, env, name, policy: budget(100_000), bin: 'heimdall', ownProcess: name === 'victim' })
    const [survivor, victim] = [start('survivor'), start('victim')]
    await survivor.call('echo')
    for (let id = 1; id <= 300; id += 1)
      victim.send(toolCall(id, id % 3 === 0 ? 'never' : 'echo', { id, text: 'x'.repeat(id) }))
    await victim.answer(1 + 3 * ((round * 31) % 60))
    victim.program.kill('SIGKILL')
    await victim.program.ended
    for (let n = 0; n < 20; n += 1) await survivor.call('echo', { n })
    await survivor.end()
    const events = eventsOfRun(home, 'killed')
    expect(checkBooks(events)).toEqual([])
    expect(ofType(events, 'run_end')[0]?.['run'].status).toBe('FAILED')
    const orphaned = ofType(events, 'tool_call_end').filter((event) => event['error']?.class === 'transport')
    for (const event of orphaned) expect(event['status']).toBe('ERROR')
  }
})

test('a torn tail in the record is sealed, and the numbers go on', async () => {
  const home = temporaryFolder()
  const env = { SUB_RUN_ID: 'torn' }
  const first = startShim({ home, env, name: 'a', bin: 'heimdall' })
  await first.call('echo')
  await until('the call to be recorded', () => ofType(eventsOfRun(home, 'torn'), 'tool_call_end').length === 1)
  appendFileSync(join(runsDir(home), 'torn', 'events.jsonl'), '{"v":"0.2.0","type":"tool_call_sta')
  const second = startShim({ home, env, name: 'b', bin: 'heimdall' })
  await second.call('echo')
  await second.end()
  await first.call('echo')
  await first.end()
  expect(checkBooks(eventsOfRun(home, 'torn'))).toEqual([])
})

test('many concurrent headless runs with guardrails: right books for each', async () => {
  const home = temporaryFolder()
  const policy = bundle([
    rule(
      'five',
      'budget',
      { tool_name: { glob: ['echo'] } },
      { budget: { scope: 'run', limit_calls: 5, on_exceed: 'BLOCK' } },
    ),
  ])
  const runs = Array.from({ length: scaled(4, 50) }, (_, i) => `headless-${i}`)
  await Promise.all(
    runs.map(async (SUB_RUN_ID) => {
      const shim = startShim({ home, env: { SUB_RUN_ID, SUB_CLIENT: 'headless' }, policy, bin: 'heimdall' })
      for (let n = 0; n < 8; n += 1) await shim.call('echo', { n })
      await shim.call('fail')
      await shim.end()
    }),
  )
  for (const run of runs) {
    const events = eventsOfRun(home, run)
    expect(checkBooks(events)).toEqual([])
    expect(ofType(events, 'run_end')[0]?.['run'].summary).toMatchObject({
      calls_total: 9,
      calls_allowed: 6,
      calls_blocked: 3,
      errors_total: 4,
    })
  }
})

test('the stream of a shim has its start and its end also where the run goes on (seed 004 §1.2)', async () => {
  const home = temporaryFolder()
  const env = { SUB_RUN_ID: 'stream', HEIMDALL_RUN_QUIET_SECONDS: '300' }
  const streams: Json[][] = []
  for (const name of ['a', 'b']) {
    const shim = startShim({ home, env, name })
    await shim.call('echo')
    streams.push((await shim.end()).events)
  }
  for (const events of streams) {
    expect(events[0]?.['type']).toBe('run_start')
    expect(events.at(-1)?.['type']).toBe('run_end')
  }
  expect(streams.map((events) => events.at(-1)?.['run'].summary.calls_total as number)).toEqual([1, 2])
  expect(ofType(eventsOfRun(home, 'stream'), 'run_start')).toHaveLength(1)
  expect(ofType(eventsOfRun(home, 'stream'), 'run_end')).toHaveLength(0)
})
