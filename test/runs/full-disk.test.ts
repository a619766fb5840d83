// A record on a disk with no room: whole lines or none, calls go on, what is lost is counted, control mode blocks.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import {
  bundle,
  checkBooks,
  eventsOfRun,
  type Json,
  ofType,
  parseLines,
  rule,
  runsDir,
  type ShimClient,
  type ShimSetup,
  startShim,
  toolCall,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { needs } from '../support/needs.ts'

const BLOCK = 512

/** No file may grow past `bytes` until somebody lifts the limit; the signal that comes with it is ignored, as Node does not handle it. */
const limited = (bytes: number): readonly string[] => [
  'bash',
  '-c',
  `trap "" XFSZ; ulimit -S -f ${Math.ceil(bytes / 1_024)}; exec "$@"`,
  'bash',
]

/** The shim has all the room there is from now on. */
function makeRoom(shim: ShimClient): void {
  execFileSync('prlimit', ['--pid', String(shim.program.pid), '--fsize=unlimited'])
}

function startInRun(run: string, setup: ShimSetup): ShimClient {
  return startShim({ bin: 'heimdall', ...setup, env: { SUB_RUN_ID: run, FAKE_LOG: '/dev/null', ...setup.env } })
}

const recordOf = (home: string, run: string): string => readFileSync(join(runsDir(home), run, 'events.jsonl'), 'utf8')
const isWhole = (text: string): boolean =>
  text.endsWith('\n') && parseLines(text).length === text.split('\n').length - 1
const missingOf = (events: readonly Json[], calls: number): number =>
  3 * calls - ['start', 'decision', 'end'].reduce((sum, name) => sum + ofType(events, `tool_call_${name}`).length, 0)

test('what fitted of a batch is taken back, forwarding goes on, and all is written once there is room', async () => {
  const shim = startInRun('r', { wrap: limited(40 * BLOCK), policy: bundle([]) })
  const calls = 200
  for (let n = 0; n < calls; n += 1)
    expect(await shim.call('echo', { n, text: 'é'.repeat(100) })).toHaveProperty('result')
  await until('the shim to say so', () => shim.program.stderr().includes('events cannot be written'))
  const full = recordOf(shim.home, 'r')
  expect(isWhole(full)).toBe(true)
  expect(full.length).toBeLessThanOrEqual(40 * BLOCK)
  makeRoom(shim)
  await until('the events to be written again', () => shim.program.stderr().includes('events are written again'))
  await shim.end()
  const text = recordOf(shim.home, 'r')
  expect(isWhole(text)).toBe(true)
  expect(text.startsWith(full)).toBe(true)
  const events = parseLines(text)
  expect(missingOf(events, calls)).toBe(0)
  expect(ofType(events, 'tool_call_start').map((event) => event['call'].seq as number)).toEqual(
    Array.from({ length: calls }, (_, n) => n + 1),
  )
  expect(ofType(events, 'run_start')).toHaveLength(1)
  expect(ofType(events, 'run_end')).toHaveLength(1)
  expect(ofType(events, 'run_end')[0]?.['run'].summary).not.toHaveProperty('events_lost')
})

test('what no queue could keep is counted as events_lost in shim_health and run_end', async () => {
  const shim = startInRun('r', { wrap: limited(40 * BLOCK), policy: bundle([]) })
  // More than the queue holds without previews.
  const calls = 9_000
  for (let id = 1; id <= calls; id += 1) shim.send(toolCall(id, 'echo', { id }))
  const isAnswered = (): boolean => shim.program.stdout().includes(`"id":${calls},`)
  await until('the last call to be answered', isAnswered)
  makeRoom(shim)
  const said = await until(
    'the shim to say what was lost',
    () => /written again; (\d+) were lost/.exec(shim.program.stderr()) ?? undefined,
  )
  await until('a sign of life to say it in the record', () =>
    ofType(eventsOfRun(shim.home, 'r'), 'shim_health').some((event) => event['health'].events_lost === Number(said[1])),
  )
  await shim.end()
  const events = eventsOfRun(shim.home, 'r')
  const lost = missingOf(events, calls)
  expect(lost).toBeGreaterThan(0)
  expect(ofType(events, 'tool_call_decision')).toHaveLength(calls)
  expect(Number(said[1])).toBe(lost)
  expect(ofType(events, 'run_end')[0]?.['run'].summary).toMatchObject({
    events_lost: lost,
    calls_allowed: calls,
    calls_total: ofType(events, 'tool_call_start').length,
  })
})

test.each<[string, string, (answer: Json) => boolean]>([
  ['BLOCK', 'is refused', (answer) => answer['error']?.data?.subluminal?.reason_code === 'POLICY_ERROR'],
  ['ALLOW', 'passes', (answer) => answer['result'] !== undefined],
])('control mode, decision_on_error %s: a call %s while decisions cannot be written', async (onError, _, isRight) => {
  const policy = bundle([], { mode: 'control', defaults: { decision_on_error: onError } })
  const shim = startInRun('r', { wrap: limited(20 * BLOCK), policy })
  await until('the record to be full', async () => {
    await shim.call('echo', { text: 'x'.repeat(500) })
    return shim.program.stderr().includes('events cannot be written')
  })
  for (let n = 0; n < 5; n += 1) expect(isRight(await shim.call('echo'))).toBe(true)
  makeRoom(shim)
  await until('calls to be judged again', async () => {
    const answer = await shim.call('echo')
    return answer['result'] !== undefined && shim.program.stderr().includes('written again')
  })
  await shim.end()
})

test('a shim that starts with no room at all works without a record, keeps its counters in memory, and says so', async () => {
  const policy = bundle([rule('few', 'budget', {}, { budget: { scope: 'run', limit_calls: 3, on_exceed: 'BLOCK' } })])
  const shim = startInRun('r', { wrap: limited(0), policy })
  const answers: Json[] = []
  for (let n = 0; n < 5; n += 1) answers.push(await shim.call('echo', { n }))
  expect(answers.map((answer) => answer['result'] !== undefined)).toEqual([true, true, true, false, false])
  shim.program.stdin.end()
  const { code, stderr } = await shim.program.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('cannot be written') })
})

test('a run that cannot be begun has never been, and leaves nothing behind', async () => {
  const home = temporaryFolder()
  const ended = await runProgram(['env', ...limited(0), ...launcher('sub'), 'run', '--run=r', '--', 'true'], {
    env: { HOME: home },
    cwd: home,
  })
  expect(ended).toMatchObject({ code: 8, stderr: expect.stringContaining('no space left') })
  const left = readdirSync(join(home, '.local/state/heimdall'), { recursive: true }).map(String)
  expect(left.filter((name) => /host-id|(^|\/)r(\/|$)|leaving/.test(name))).toEqual([])
})

test.each([
  ['its run', (): readonly string[] => [], (home: string): string => recordOf(home, 'r')],
  ['--events FILE', (path: string) => [`--events=${path}`], (_: string, path: string) => readFileSync(path, 'utf8')],
])(
  'a shim that started with no place for %s writes there once there is one, and control mode opens again',
  async (what, flags, read) => {
    const home = temporaryFolder()
    const folder = join(temporaryFolder(), 'later')
    const path = join(folder, 'events.jsonl')
    const state = join(home, '.local')
    if (what === 'its run') writeFileSync(state, 'a file where a folder should be')
    const shim = startShim({
      home,
      bin: 'heimdall',
      flags: flags(path),
      policy: bundle([], { mode: 'control' }),
      env: what === 'its run' ? { SUB_RUN_ID: 'r' } : {},
    })
    await until('calls to be refused', async () => (await shim.call('echo'))['error']?.code === -32_081)
    if (what === 'its run') rmSync(state)
    mkdirSync(folder, { mode: 0o700 })
    await until('calls to pass', async () => (await shim.call('echo'))['result'] !== undefined)
    shim.program.stdin.end()
    expect((await shim.program.ended).code).toBe(0)
    expect(checkBooks(parseLines(read(home, path)))).toEqual([])
  },
)

test('control on a disk that is full again and again: exactly the budget reaches the server', async () => {
  const home = temporaryFolder()
  const received = join(temporaryFolder(), 'received')
  const limit = 40
  const policy = bundle(
    [rule('few', 'budget', {}, { budget: { scope: 'run', limit_calls: limit, on_exceed: 'BLOCK' } })],
    { mode: 'control' },
  )
  let allowed = 0
  let refused = 0
  // Each shim has room for a few more calls than the one before it, and is then killed.
  for (let blocks = 12; refused < 3; blocks += 24) {
    const wrap = limited(blocks * BLOCK)
    const shim = startInRun('r', { home, wrap, policy, env: { FAKE_LOG: received } })
    for (let n = 0; n < 20 && refused < 3; n += 1) {
      const answer = await shim.call('echo', { n, text: 'x'.repeat(300) })
      if (answer['result'] !== undefined) allowed += 1
      else if (answer['error']?.data?.subluminal?.rule_id === 'few') refused += 1
      else {
        expect(answer['error']?.data?.subluminal?.reason_code).toBe('POLICY_ERROR')
        break
      }
    }
    shim.program.kill('SIGKILL')
    await shim.program.ended
  }
  expect(allowed).toBe(limit)
  const got = parseLines(readFileSync(received, 'utf8')).filter(({ method }) => method === 'tools/call')
  expect(got).toHaveLength(limit)
})

test('guardrails on a full disk count in memory, write it all once there is room, and report what was too much', async () => {
  const home = temporaryFolder()
  const policy = bundle([rule('few', 'budget', {}, { budget: { scope: 'run', limit_calls: 30, on_exceed: 'BLOCK' } })])
  const full = startInRun('r', { home, wrap: limited(24 * BLOCK), policy })
  let passed = 0
  const call = async (shim: ShimClient): Promise<boolean> =>
    (await shim.call('echo', { text: 'x'.repeat(300) }))['result'] !== undefined
  await until('the record to be full', async () => {
    passed += (await call(full)) ? 1 : 0
    return full.program.stderr().includes('events cannot be written')
  })
  for (let n = 0; n < 40; n += 1) passed += (await call(full)) ? 1 : 0
  expect(passed).toBe(30)
  // Another one of the run knows nothing of what is not in the record.
  const other = startInRun('r', { home, policy, ownProcess: true })
  let more = 0
  while (await call(other)) more += 1
  expect(more).toBeGreaterThan(0)
  makeRoom(full)
  await until('the excess to be reported', () =>
    full.program.stderr().includes(`budget few was exceeded by ${more} calls`),
  )
  expect(await call(other)).toBe(false)
  for (const shim of [full, other]) await shim.end()
  const events = eventsOfRun(home, 'r')
  expect(ofType(events, 'tool_call_decision').filter(({ decision }) => decision.action === 'ALLOW')).toHaveLength(
    30 + more,
  )
})

test('--events FILE with no room: each event stands there once, or not at all', async () => {
  const path = join(temporaryFolder(), 'events.jsonl')
  const shim = startShim({
    bin: 'heimdall',
    wrap: limited(20 * BLOCK),
    flags: [`--events=${path}`],
    env: { FAKE_LOG: '/dev/null' },
  })
  for (let n = 0; n < 60; n += 1) await shim.call('echo', { n })
  await until('the file to be full', () => shim.program.stderr().includes('events cannot be written'))
  expect(isWhole(readFileSync(path, 'utf8'))).toBe(true)
  makeRoom(shim)
  await until('the events to be written again', () => shim.program.stderr().includes('events are written again'))
  await shim.end()
  const events = parseLines(readFileSync(path, 'utf8'))
  expect(ofType(events, 'run_start')).toHaveLength(1)
  expect(ofType(events, 'tool_call_start').map((event) => event['call'].seq as number)).toEqual(
    Array.from({ length: 60 }, (_, n) => n + 1),
  )
})

test('a copy that cannot be written costs nothing but the copy', async () => {
  const shim = startInRun('r', { flags: ['--events=/dev/full'] })
  for (let n = 0; n < 5; n += 1) await shim.call('echo', { n })
  const { code, stderr } = await shim.end()
  expect(code).toBe(0)
  expect(stderr).toMatch(/no copy of the events/)
  expect(ofType(eventsOfRun(shim.home, 'r'), 'tool_call_end')).toHaveLength(5)
})

test('a pipe that nobody reads from stops no call', async () => {
  const path = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  // Holds the pipe open for reading and reads nothing.
  const shim = startShim({
    bin: 'heimdall',
    wrap: ['bash', '-c', 'exec 9<>"$0"; exec "$@"', path],
    flags: [`--events=${path}`],
  })
  for (let n = 0; n < 200; n += 1) expect(await shim.call('echo', { n, t: 'x'.repeat(1_000) })).toHaveProperty('result')
  shim.program.stdin.end()
  expect((await shim.program.ended).code).toBe(0)
})

test('a memory disk that is really full: whole lines, and the run ends with its true books', async () => {
  needs('right to mount')
  const home = temporaryFolder()
  const state = join(home, '.local/state')
  const saved = temporaryFolder()
  mkdirSync(state, { recursive: true, mode: 0o700 })
  // The ballast goes when the file `room` appears outside; the disk is copied out when the shim has ended.
  const script =
    `mount -t tmpfs -o size=192k none "$0" && head -c 65536 /dev/zero > "$0/ballast" && ` +
    `(until [ -e "$SAVED/room" ]; do sleep 0.05; done; rm "$0/ballast") & sleep 0; wait_pid=$!; ` +
    `until [ -e "$0/ballast" ]; do sleep 0.01; done; "$@"; code=$?; kill $wait_pid 2>/dev/null; cp -r "$0" "$SAVED/state"; exit $code`
  const shim = startShim({
    home,
    bin: 'heimdall',
    wrap: ['unshare', '--map-root-user', '--mount', 'sh', '-c', script, state],
    env: { SUB_RUN_ID: 'r', SAVED: saved },
    policy: bundle([]),
  })
  let calls = 0
  await until('the disk to be full', async () => {
    expect(await shim.call('echo', { text: 'x'.repeat(300) })).toHaveProperty('result')
    calls += 1
    return shim.program.stderr().includes('events cannot be written')
  })
  writeFileSync(join(saved, 'room'), '')
  await until('the events to be written again', () => shim.program.stderr().includes('events are written again'))
  const { code } = await shim.end()
  expect(code).toBe(0)
  const copy = temporaryFolder()
  cpSync(join(saved, 'state'), join(copy, '.local/state'), { recursive: true })
  expect(isWhole(recordOf(copy, 'r'))).toBe(true)
  const events = eventsOfRun(copy, 'r')
  expect(missingOf(events, calls)).toBe(0)
  expect(ofType(events, 'run_end')[0]?.['run'].summary).toMatchObject({ calls_total: calls })
})
