// The folder of runs: what counts as a run, who may write into one, and how long a run id lasts.
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tryLock } from '../../src/storage/kernel-lock.ts'
import { runLauncher } from '../support/in-process.ts'
import { launcher, startProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject, type TemporaryProject } from '../support/project.ts'
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

// A run is a real folder with a record; everything else is named and left alone.
const LONG_AGO = '2020-01-01T00:00:00.000Z'

const command = async (home: string, ...words: string[]) =>
  await runLauncher('heimdall', ['runs', ...words], { env: { HOME: home }, cwd: home })

async function runs(home: string, ...words: string[]): Promise<Json> {
  const { stdout, code } = await command(home, ...words, '--json')
  return { code, ...(JSON.parse(stdout) as Json) }
}

async function ended(home: string, id: string): Promise<void> {
  const shim = startShim({ bin: 'heimdall', home, env: { SUB_RUN_ID: id } })
  await shim.call('echo')
  await shim.end()
}

const recordOf = (home: string, id: string): string => join(runsDir(home), id, 'events.jsonl')

function makeOld(home: string, id: string): void {
  const text = readFileSync(recordOf(home, id), 'utf8')
  writeFileSync(recordOf(home, id), text.replaceAll(/"ts":"[^"]{24}"/g, `"ts":"${LONG_AGO}"`))
}

/** What is in a folder, with the times of all files; links are not followed. */
function snapshot(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const { size, mtimeMs } = lstatSync(join(folder, name))
      return `${name} ${size} ${mtimeMs}`
    })
}

/** Things of other people, all of them old, and what the list has to call them. */
function litter(home: string): { readonly elsewhere: string; readonly names: readonly string[] } {
  const dir = runsDir(home)
  const elsewhere = temporaryFolder()
  writeFileSync(join(elsewhere, 'events.jsonl'), 'mine\n')
  const at = (name: string): string => {
    mkdirSync(join(dir, name), { recursive: true })
    return join(dir, name)
  }
  writeFileSync(join(at('thesis'), 'chapter.txt'), 'years of work')
  writeFileSync(join(at('binary'), 'events.jsonl'), Buffer.from([0, 1, 2, 255, 10, 0]))
  writeFileSync(join(at('empty'), 'events.jsonl'), '')
  writeFileSync(join(at('other-program'), 'events.jsonl'), `{"type":"click","ts":"${LONG_AGO}"}\n`)
  cpSync(join(dir, 'kept'), join(dir, 'copy-of-kept'), { recursive: true })
  mkdirSync(join(at('folder-record'), 'events.jsonl'))
  expect(spawnSync('mkfifo', [join(at('pipe-record'), 'events.jsonl')]).status).toBe(0)
  symlinkSync(join(dir, 'kept', 'events.jsonl'), join(at('linked-record'), 'events.jsonl'))
  symlinkSync(elsewhere, join(dir, 'link'))
  writeFileSync(join(dir, 'nohup.out'), 'x')
  const names = readdirSync(dir).filter((name) => !name.startsWith('.') && name !== 'kept')
  const past = Date.parse(LONG_AGO) / 1_000
  for (const name of names) if (name !== 'link') utimesSync(join(dir, name), past, past)
  return { elsewhere, names }
}

test('what is no run is named, and neither list, show nor prune touches it', async () => {
  const home = temporaryFolder()
  await ended(home, 'kept')
  const { elsewhere, names } = litter(home)
  const foreignOnly = (): string[] =>
    snapshot(runsDir(home)).filter((line) => names.some((name) => line === name || line.startsWith(name)))
  const before = [foreignOnly(), snapshot(elsewhere)]
  const { data, code } = await runs(home, 'list')
  expect([code, data.total]).toEqual([0, 1])
  expect(data.foreign.map(({ name }: Json) => name).toSorted()).toEqual(names.toSorted())
  expect((await command(home, 'list')).stderr).toContain('foreign, left alone: nohup.out (not a folder)')
  expect(await runs(home, 'show', 'thesis')).toMatchObject({ code: 3, error: { code: 'RUN_NOT_FOUND' } })
  expect(await runs(home, 'show', 'pipe-record')).toMatchObject({ code: 3, error: { code: 'RUN_NOT_FOUND' } })
  expect((await runs(home, 'prune', '--older-than', '0s'))['data']).toMatchObject({
    removed: [{ folder: 'kept' }],
    problems: [],
  })
  expect([foreignOnly(), snapshot(elsewhere)]).toEqual(before)
})

test('nor does a shim that passes by', async () => {
  const home = temporaryFolder()
  await ended(home, 'kept')
  const { elsewhere, names } = litter(home)
  await ended(home, 'old')
  makeOld(home, 'old')
  mkdirSync(join(runsDir(home), '.open'), { recursive: true })
  // A mark does not make a run of a link.
  writeFileSync(join(runsDir(home), '.open', 'link'), '')
  rmSync(join(runsDir(home), '.pruned-at'), { force: true })
  const shim = startShim({
    bin: 'heimdall',
    home,
    env: { SUB_RUN_ID: 'passing', HEIMDALL_RUNS_KEEP_DAYS: '7' },
  })
  await shim.call('echo')
  await until('the old run to be gone', () => !existsSync(join(runsDir(home), 'old')))
  await shim.end()
  expect(readFileSync(join(runsDir(home), 'thesis', 'chapter.txt'), 'utf8')).toBe('years of work')
  expect(runFolders(home).toSorted()).toEqual([...names, 'kept', 'passing'].toSorted())
  expect(readdirSync(elsewhere)).toEqual(['events.jsonl'])
})

test('a dry run, list and show change nothing; age is that of the last event', async () => {
  const home = temporaryFolder()
  await ended(home, 'old')
  await ended(home, 'young')
  makeOld(home, 'old')
  // The times of the files say the contrary.
  const past = Date.parse(LONG_AGO) / 1_000
  utimesSync(recordOf(home, 'young'), past, past)
  appendFileSync(recordOf(home, 'old'), '{"v":"0.2.0","type":"tool_ca')
  const before = snapshot(runsDir(home))
  await runs(home, 'list')
  await runs(home, 'show', 'old')
  expect((await runs(home, 'prune', '--older-than', '30d', '--dry-run'))['data'].removed).toMatchObject([
    { folder: 'old', changed_at: LONG_AGO },
  ])
  expect((await command(home, 'prune', '--older-than', '30d', '--dry-run')).stdout).toContain('Would remove 1 run,')
  expect(snapshot(runsDir(home))).toEqual(before)
  expect((await runs(home, 'prune', '--older-than', '30d'))['data'].removed).toMatchObject([{ folder: 'old' }])
  expect(runFolders(home)).toEqual(['young'])
})

test('a record that was torn and never ended, in which nobody takes part, is pruned like others', async () => {
  const home = temporaryFolder()
  await ended(home, 'torn')
  makeOld(home, 'torn')
  const [start = '', next = ''] = readFileSync(recordOf(home, 'torn'), 'utf8').split('\n')
  writeFileSync(recordOf(home, 'torn'), `${start}\n${next.slice(0, 30)}`)
  rmSync(join(runsDir(home), 'torn', 'checkpoint.json'), { force: true })
  expect((await runs(home, 'show', 'torn'))['data'].run).toMatchObject({ state: 'open', members: 0 })
  expect((await runs(home, 'prune', '--older-than', '30d'))['data'].removed).toMatchObject([{ folder: 'torn' }])
  expect(runFolders(home)).toEqual([])
})

test('of a run whose record tells no start, the state is unknown', async () => {
  const home = temporaryFolder()
  mkdirSync(join(runsDir(home), 'begun'), { recursive: true })
  mkdirSync(join(runsDir(home), '.open'))
  writeFileSync(recordOf(home, 'begun'), '{"v":"0.2.0","type":"run_st')
  writeFileSync(join(runsDir(home), '.open', 'begun'), '')
  expect((await runs(home, 'show', 'begun'))['data'].run).toMatchObject({ state: 'unknown', status: 'unknown' })
  expect((await command(home, 'show', 'begun')).stdout).toMatch(/^state +unknown$/m)
  expect((await command(home, 'list')).stdout).toMatch(/^begun\s+unknown/m)
  expect(statSync(recordOf(home, 'begun')).size).toBe(27)
})

// An agent writes only to its own run's record.
/** What lines of a script come to, run by an agent in its session: exit codes, in order. */
async function byAgent(
  project: TemporaryProject,
  lines: readonly string[],
): Promise<{ codes: number[]; said: string }> {
  const script = join(project.home, 'agent.sh')
  const started = (bin: string): string =>
    launcher(bin)
      .map((word) => `'${word}'`)
      .join(' ')
  const text = lines.map(
    (line) => `${line.replace('%h', started('heimdall')).replace('%s', started('sub'))} </dev/null; echo "code $?"`,
  )
  writeFileSync(script, `${text.join('\n')}\n`)
  const { stdout } = await project.run('heimdall', ['run', '--agent', 'evil-otter', '--', 'bash', script])
  return { codes: [...stdout.matchAll(/^code (\d+)/gm)].map(([, code]) => Number(code)), said: stdout }
}

const runsIn = (project: TemporaryProject): string => join(project.home, '.local/state/heimdall/runs')

async function listed(project: TemporaryProject): Promise<unknown[]> {
  const { stdout } = await project.run('heimdall', ['runs', 'list', '--json'])
  const { data } = JSON.parse(stdout) as { data: { runs: { agent_id: string; status: string }[] } }
  return data.runs.map((run) => `${run.agent_id} ${run.status}`).sort()
}

test('a run that is over stays as it was: neither another nor its name goes on with it, and nobody removes it', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['run', '--agent', 'victim-otter', '--', 'false'])
  const victim = readdirSync(runsIn(project)).find((name) => !name.startsWith('.')) ?? ''
  const record = (): string => readFileSync(join(runsIn(project), victim, 'events.jsonl'), 'utf8')
  const before = record()
  const { codes, said } = await byAgent(project, [
    `%s run --run ${victim} -- true`,
    `%s run --run ${victim} --agent victim-otter -- true`,
    '%s run --agent victim-otter -- true',
    `SUB_RUN_ID=${victim} %h mcp shim --server-name s -- true`,
    `env -u HEIMDALL_SESSION_ID -u HEIMDALL_SESSION_KEY -u HEIMDALL_SECRET SUB_RUN_ID=${victim} SUB_AGENT_ID=victim-otter %h mcp shim --server-name s -- true`,
    '%h runs prune --older-than 0s',
    '%h fleet import /dev/null',
    '%h fleet leave',
    '%h fleet invite < /dev/null',
    '%h fleet expel box',
    '%h fleet remove --yes < /dev/null',
    // What is its own stays its own.
    '%s run --agent evil-otter -- true',
    '%h runs prune --dry-run',
  ])
  expect(codes, said).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0, 0])
  expect(said).toContain('is of "victim-otter", and session evil-otter runs this')
  expect(record()).toBe(before)
  expect(await listed(project)).toEqual(['evil-otter SUCCEEDED', 'evil-otter SUCCEEDED', 'victim-otter FAILED'])
})

test('a run that goes on has one owner, and another agent’s policy does not end it', async () => {
  const project = temporaryProject()
  const wait = 'echo began; exec sleep 1000'
  const program = startProgram([...launcher('sub'), 'run', '--run', 'ci-1', '--', 'sh', '-c', wait], {
    cwd: project.root,
    env: project.env,
  })
  await program.nextLine(/began/)
  const second = await project.run('sub', ['run', '--run', 'ci-1', '--', 'false'])
  expect(second.code, second.stderr).toBe(5)
  expect(second.stderr).toContain('run "ci-1" goes on already: process')
  const { codes, said } = await byAgent(project, [
    '%s run --run ci-1 -- true',
    '%s run --run $SUB_RUN_ID -- false',
    'SUB_RUN_ID=ci-1 %h mcp shim --server-name s -- true',
  ])
  expect(codes, said).toEqual([4, 5, 4])
  expect(await listed(project)).toEqual(['evil-otter SUCCEEDED', 'unknown SUCCEEDED'])
  program.child.kill('SIGTERM')
  await program.ended
  // A script without an agent above it may go on with a run that is over.
  expect(await project.run('sub', ['run', '--run', 'ci-1', '--', 'true'])).toMatchObject({ code: 0 })
})

// A run id keeps its run and budgets when the last shim leaves and the next one starts.
const budget = (limit_calls: number, on_exceed = 'BLOCK', more: object = {}): object =>
  bundle([rule('few', 'budget', tool('echo'), { budget: { scope: 'run', limit_calls, on_exceed } })], more)

const start = (
  home: string,
  policy: object,
  env: Readonly<Record<string, string>> = {},
  ownProcess = false,
): ShimClient => startShim({ home, bin: 'heimdall', policy, ownProcess, env: { SUB_RUN_ID: 'r', ...env } })

const isPassed = (answer: Json): boolean => answer['result'] !== undefined

test.each(['0', '300'])('a budget holds over restarts of the shim, with a quiet time of %s s', async (seconds) => {
  const home = temporaryFolder()
  let passed = 0
  for (let round = 0; round < 4; round += 1) {
    const shim = start(home, budget(3), { HEIMDALL_RUN_QUIET_SECONDS: seconds }, round === 2)
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
  await runLauncher('heimdall', ['doctor', '--fix'], { env: { HOME: home } })
  const events = eventsOfRun(home, 'r')
  expect(ofType(events, 'run_start')).toHaveLength(1)
  expect(ofType(events, 'run_end')).toHaveLength(0)
  expect(ofType(events, 'tool_call_start').map((event) => event['call'].seq as number)).toEqual([1, 2, 3])
})

test('after a quiet time doctor --fix closes it', async () => {
  const home = temporaryFolder()
  const shim = start(home, budget(9), { HEIMDALL_RUN_QUIET_SECONDS: '1' })
  await shim.call('echo')
  await shim.end()
  expect(ofType(eventsOfRun(home, 'r'), 'run_end')).toHaveLength(0)
  await until('the run to be closed', async () => {
    await runLauncher('heimdall', ['doctor', '--fix'], { env: { HOME: home } })
    return ofType(eventsOfRun(home, 'r'), 'run_end').length === 1
  })
  expect(checkBooks(eventsOfRun(home, 'r'))).toEqual([])
})

test('a run whose host is gone is closed at once by doctor --fix, also in the middle of its quiet time', async () => {
  const home = temporaryFolder()
  const command = [...launcher('heimdall'), 'mcp', 'shim', '--server-name=x', '--', 'cat']
  const host = startProgram(['sh', '-c', '"$@" </dev/null & wait', 'sh', ...command], {
    env: { HOME: home, SUB_RUN_ID: 'r', HEIMDALL_RUN_QUIET_SECONDS: '300' },
  })
  await host.ended
  await runLauncher('heimdall', ['doctor', '--fix'], { env: { HOME: home } })
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
  // Half a line ends no run. It is written without the lock of the record, so no shim may be writing.
  await until('all ends to be recorded', () => ofType(eventsOfRun(home, 'r'), 'tool_call_end').length === 6)
  const stop = rule('stop', 'budget', tool('stop'), { budget: { limit_calls: 0, on_exceed: 'TERMINATE_RUN' } })
  const line = '{"v":"0.2.0","type":"tool_call_decision","call":{"call_id":"x"},"decision":{"action":"TERMINATE_RUN"'
  appendFileSync(join(runsDir(home), 'r', 'events.jsonl'), line)
  for (let n = 0; n < 3; n += 1) expect((await late.call('other'))['error']?.code).not.toBe(-32_084)
  const ender = start(home, bundle([stop]))
  expect((await ender.call('stop'))['error'].code).toBe(-32_084)
  // An idle shim ends its server too.
  await until('the late shim to end', async () => (await late.call('other'))['error']?.code === -32_084)
  await ender.end()
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

// Any process of the user can append to a record.
const FORGED = [
  { type: 'tool_call_start' },
  { type: 'tool_call_start', call: null },
  { type: 'tool_call_start', call: { call_id: 7 } },
  { type: 'tool_call_start', call: { call_id: 'x', server_name: 's', tool_name: 't', args_hash: 'h' } },
  { type: 'tool_call_decision' },
  { type: 'tool_call_decision', call: {}, decision: 'no' },
  { type: 'tool_call_end', call: [] },
  { type: 'run_start' },
  { type: 'run_start', ts: 'not a time', run_id: 'forged' },
  { type: 'run_end', run: 1 },
  { type: 'approval_requested', approval: null },
  { type: 'approval_decided' },
  { type: 'wait_start' },
  { type: 'wait_end', wait: 'x' },
  { type: 'model_usage', usage: null },
  { type: 'session_end' },
  { type: 'files_changed', changes: [] },
  { type: 'tools_changed' },
  { type: 'never_heard_of' },
  { type: null },
  { type: ['tool_call_start'] },
]

test.each([
  { events: FORGED.slice(0, 1), counted: 1 },
  { events: FORGED, counted: 10 },
])(
  '$events.length forged lines in an unended record stop no reader and no shim, and those that are no events are counted',
  async ({ events, counted }) => {
    const home = temporaryFolder()
    const first = startShim({ bin: 'heimdall', home, env: { SUB_RUN_ID: 'forged' }, ownProcess: true })
    await first.call('echo')
    first.program.kill('SIGKILL')
    await first.program.ended
    appendFileSync(recordOf(home, 'forged'), events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    for (const words of [
      ['runs', 'list'],
      ['runs', 'show', 'forged'],
      ['runs', 'prune', '--older-than', '1d'],
      ['events', '--limit', '5'],
      ['approve'],
      ['doctor'],
    ]) {
      const { code, stderr } = await runLauncher('heimdall', words, { env: { HOME: home }, cwd: home })
      expect([words.join(' '), /(Type|Range)Error/.test(stderr), [0, 1].includes(code ?? 9)]).toEqual([
        words.join(' '),
        false,
        true,
      ])
    }
    const { stdout } = await runLauncher('heimdall', ['runs', 'reindex', '--json'], { env: { HOME: home }, cwd: home })
    expect(JSON.parse(stdout)).toMatchObject({ data: { bad_lines: counted } })
    const next = startShim({ bin: 'heimdall', home, env: { SUB_RUN_ID: 'after' } })
    expect(await next.call('echo')).toHaveProperty('result')
    expect((await next.end()).code).toBe(0)
    const lines = readFileSync(recordOf(home, 'forged'), 'utf8').trimEnd().split('\n')
    expect(() => lines.map((text) => JSON.parse(text) as unknown)).not.toThrow()
  },
)

test('the recording of a terminal counts for runs_keep_mib', async () => {
  const home = temporaryFolder()
  for (const id of ['old', 'new']) {
    const shim = startShim({ home, env: { SUB_RUN_ID: id }, bin: 'heimdall' })
    await shim.call('echo')
    await shim.end()
  }
  writeFileSync(join(runsDir(home), 'new', 'terminal.cast'), Buffer.alloc(3 << 20))
  const { removed } = (await runs(home, 'prune', '--keep-mib=2', '--dry-run'))['data'] as { removed: Json[] }
  expect(removed.length).toBeGreaterThan(0)
})
