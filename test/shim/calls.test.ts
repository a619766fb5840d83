// Calls through the shim: message shapes, duplicates, and decisions that must be recorded before a call is forwarded.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { descendants, fixture, waitForTreeDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import {
  bundle,
  checkBooks,
  deny,
  type Json,
  ofType,
  parseLines,
  rule,
  runsDir,
  type ShimClient,
  type ShimSetup,
  startShim,
  tool,
  toolCall,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

// A call is forwarded only after its decision is in the record, also when the writer is starved.
interface Booked {
  readonly shim: ShimClient
  /** Numbers of the calls that reached the server. */
  readonly received: () => number[]
}

function startBooked(setup: ShimSetup): Booked {
  const book = join(temporaryFolder(), 'book')
  const shim = startShim({
    server: fixture('shim-book'),
    ownProcess: true,
    ...setup,
    env: { BOOK: book, ...setup.env },
  })
  const received = (): number[] =>
    existsSync(book) ? readFileSync(book, 'utf8').split('\n').slice(0, -1).map(Number) : []
  return { shim, received }
}

const isAllowed = ({ decision }: Json): boolean => decision.action === 'ALLOW' || decision.enforced === false

/** Numbers of the calls that the record lets through: the argument `n`, as the preview of their start shows it. */
function allowed(events: readonly Json[]): number[] {
  const numbers = new Map(
    ofType(events, 'tool_call_start').map(({ call }) => [
      call.call_id as string,
      (JSON.parse(call.preview.args_preview as string) as { n: number }).n,
    ]),
  )
  return ofType(events, 'tool_call_decision')
    .filter(isAllowed)
    .map(({ call }) => numbers.get(call.call_id as string) ?? -1)
}

const runEvents = (home: string): Json[] => parseLines(readFileSync(join(runsDir(home), 'r', 'events.jsonl'), 'utf8'))

const RULES = [deny('no', tool('denied'))]
const CALLS = scaled(6_000, 400_000)

function flood(shim: ShimClient, calls: number, allowEvery: number): void {
  for (let from = 0; from < calls; from += 1_000) {
    const lines = Array.from({ length: Math.min(1_000, calls - from) }, (_, i) => {
      const n = from + i
      return JSON.stringify(toolCall(n, n % allowEvery === 0 ? 'echo' : 'denied', { n }))
    })
    shim.send(lines.join('\n'))
  }
}

test.each(['guardrails', 'control', 'observe'])(
  'pipelined calls in mode %s: every one has its decision, and those forwarded are those allowed',
  async (mode) => {
    const { shim, received } = startBooked({
      bin: 'heimdall',
      env: { SUB_RUN_ID: 'r' },
      policy: bundle(RULES, { mode }),
    })
    // In observe all go to the server, one by one.
    const calls = mode === 'guardrails' ? CALLS : CALLS / 10
    flood(shim, calls, 200)
    // A server that is still starting when the input ends is ended with it.
    await shim.answer(0)
    const { code, stderr } = await shim.end()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const events = runEvents(shim.home)
    expect(allowed(events)).toEqual(received())
    expect(received()).toHaveLength(mode === 'observe' ? calls : calls / 200)
    expect(ofType(events, 'tool_call_decision')).toHaveLength(calls)
    expect(checkBooks(events)).toEqual([])
  },
)

test.each(['guardrails', 'control', 'observe'])(
  'in %s a call whose server kills the shim on receipt has its decision in the record',
  async (mode) => {
    for (let round = 0; round < scaled(1, 40); round += 1) {
      const { shim, received } = startBooked({
        bin: 'heimdall',
        env: { SUB_RUN_ID: 'r', KILLS: 'parent' },
        policy: bundle(RULES, { mode }),
      })
      for (let n = 0; n < 5; n += 1) shim.send(toolCall(n, 'echo', { n }))
      await shim.program.ended
      expect(received().length).toBeGreaterThan(0)
      expect(allowed(runEvents(shim.home))).toEqual(expect.arrayContaining(received()))
    }
  },
)

test.each(['guardrails', 'observe'])(
  'in %s a kill in the middle of a stream of calls leaves none without its decision',
  async (mode) => {
    const calls = 20_000
    for (let round = 0; round < scaled(1, 40); round += 1) {
      const { shim, received } = startBooked({
        bin: 'heimdall',
        env: { SUB_RUN_ID: 'r' },
        policy: bundle(RULES, { mode }),
      })
      flood(shim, calls, 1)
      const enough = Math.ceil(Math.random() * 2_000)
      await until(`${enough} calls to arrive`, () => received().length >= enough)
      const tree = descendants(shim.program.pid)
      shim.program.kill('SIGKILL')
      await shim.program.ended
      // The server still reads what is in its pipe.
      await waitForTreeDeath(shim.program.pid, tree)
      const recorded = new Set(allowed(runEvents(shim.home)))
      expect(received().filter((n) => !recorded.has(n))).toEqual([])
    }
  },
)

test.each(['guardrails', 'control'])(
  'a reader of stderr that is slow makes the agent wait in mode %s; nothing is lost',
  async (mode) => {
    const { shim, received } = startBooked({ policy: bundle(RULES, { mode }) })
    const { stderrStream: stderr } = shim.program
    stderr.pause()
    const calls = scaled(2_500, 50_000)
    flood(shim, calls, 2)
    // A little at a time, with a pause after each: slower than events are made.
    const slow = setInterval(() => {
      stderr.resume()
      setImmediate(() => stderr.pause())
    }, 5)
    await until('all calls to arrive', () => received().length === calls / 2)
    clearInterval(slow)
    stderr.resume()
    const { events } = await shim.end()
    expect(allowed(events)).toEqual(received())
    expect(checkBooks(events)).toEqual([])
  },
)

test.each(['BLOCK', 'ALLOW'])('a disk that fills up under control, decision_on_error %s', async (decision_on_error) => {
  const limit = ['bash', '-c', 'trap "" XFSZ; ulimit -S -f 20; exec "$@"', 'bash']
  const { shim, received } = startBooked({
    bin: 'heimdall',
    wrap: limit,
    env: { SUB_RUN_ID: 'r' },
    policy: bundle(RULES, { mode: 'control', defaults: { decision_on_error } }),
  })
  const calls = 400
  for (let from = 0; from < calls; from += 8) {
    for (let n = from; n < from + 8; n += 1) shim.send(toolCall(n, 'echo', { n }))
    await shim.answer(from + 7)
    if (from === 200) execFileSync('prlimit', ['--pid', String(shim.program.pid), '--fsize=unlimited'])
  }
  expect(shim.program.stderr()).toContain('events cannot be written')
  await until('the events to be written again', () => shim.program.stderr().includes('events are written again'))
  await shim.end()
  const events = runEvents(shim.home)
  expect(allowed(events)).toEqual(received())
  expect(received().length === calls).toBe(decision_on_error === 'ALLOW')
  expect(checkBooks(events)).toEqual([])
})

// One JSON-RPC object or a flat batch; everything else is refused and recorded (seed 004 §7.2).
describe('message shapes', () => {
  const FOLDER = join(import.meta.dirname, '../fixtures/smuggled')
  const LINES = readdirSync(FOLDER).map((name) => ({ name, bytes: readFileSync(join(FOLDER, name)) }))

  const POLICY = bundle(
    [
      deny('no-danger', tool('danger')),
      deny('no-force', { ...tool('push'), args: { key_equals: { force: true } } }),
      deny('no-access', { ...tool('publish'), args: { has_keys: ['access'] } }),
    ],
    // What can be read in two ways is no error of policy: it is refused even where those let calls pass.
    { defaults: { decision_on_error: 'ALLOW' } },
  )

  test('not one of the raw lines reaches the server, each is answered and stands in the record', async () => {
    const shim = startShim({ policy: POLICY })
    for (const { bytes } of LINES) shim.program.stdin.write(bytes)
    const last = toolCall('last', 'push', { force: false, path: 'a', Branch: 'main' })
    shim.send(last)
    expect(await shim.answer('last')).toHaveProperty('result')
    const { events, lines } = await shim.end()
    expect(shim.received()).toBe(`${JSON.stringify(last)}\n`)
    expect(lines.flat().filter((line) => line['error'] !== undefined).length).toBeGreaterThanOrEqual(LINES.length)
    const refused = ofType(events, 'tool_call_decision').filter(({ decision }) => decision.action === 'BLOCK')
    expect(refused.length).toBe(LINES.length)
    expect(checkBooks(events)).toEqual([])
  })

  test('in mode observe they go on as they came, and the record says what would have been done', async () => {
    const lines = LINES.filter(({ name }) => !name.startsWith('arguments-'))
    const shim = startShim({ policy: { ...POLICY, mode: 'observe' } })
    for (const { bytes } of lines) shim.program.stdin.write(bytes)
    // One that is still starting when the input ends is ended with it.
    await until('the server to read', () => shim.received() !== '')
    const { events } = await shim.end()
    expect(Buffer.from(shim.received())).toEqual(Buffer.from(Buffer.concat(lines.map(({ bytes }) => bytes)).toString()))
    const decisions = ofType(events, 'tool_call_decision').map(({ decision }) => decision)
    expect(decisions.length).toBe(lines.length)
    for (const decision of decisions) expect(decision).toMatchObject({ action: 'BLOCK', enforced: false })
  })

  test('a key in other letter case is no matter where no rule looks at it', async () => {
    const shim = startShim({ policy: POLICY })
    expect(await shim.call('echo', { Force: true, force: false })).toHaveProperty('result')
    expect(await shim.call('push', { Path: 'a', path: 'b' })).toHaveProperty('result')
    await shim.end()
  })
})

// A server that answers with nested batches must not overflow the stack.
const server = (line: string): readonly string[] => [
  process.execPath,
  '-e',
  `require("readline").createInterface(process.stdin).on("line", (line) => {
    const { id } = JSON.parse(line)
    process.stdout.write(${line} + "\\n")
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } }) + "\\n")
  })`,
]

test.each([
  ['5,000 levels of nothing', '"[".repeat(5000) + "]".repeat(5000)'],
  ['400,000 levels, never closed', '"[".repeat(400000)'],
  [
    'an answer below 900 levels',
    `"[".repeat(900) + JSON.stringify({ jsonrpc: "2.0", id, result: {} }) + "]".repeat(900)`,
  ],
])('%s: the shim goes on, and each call is answered and recorded once', async (_, line) => {
  const shim = startShim({ server: server(line) })
  for (const n of [1, 2, 3]) expect((await shim.call('read', {}, n))['result']).toEqual({ content: [] })
  const { code, events } = await shim.end()
  expect(code).toBe(0)
  expect(ofType(events, 'tool_call_end').map(({ status }) => status as string)).toEqual(['OK', 'OK', 'OK'])
  expect(checkBooks(events)).toEqual([])
})

// A failing request under the id of another call does not clear its dedupe entry (seed 004 §2.5).
describe('dedupe', () => {
  const POLICY = bundle([
    rule('once', 'dedupe', {}, { dedupe: { scope: 'tool', window_ms: 3_600_000, on_duplicate: 'BLOCK' } }),
  ])
  const line = (message: object): string => JSON.stringify(message)
  const failing = line(toolCall(1, 'fail', { n: 0 }))
  const unknown = line({ jsonrpc: '2.0', id: 1, method: 'no/such/method' })
  const write = line(toolCall(1, 'never', { n: 1 }))
  const cancelled = line({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })

  const isDuplicate = (answer: Json): boolean => answer['error']?.data?.subluminal?.reason_code === 'DEDUPE_DUPLICATE'

  test.each([
    ['a call that fails before it', [failing, write]],
    ['a call that fails behind it', [write, failing]],
    ['a request that fails before it', [unknown, write]],
    ['a request that fails behind it', [write, unknown]],
    ['a request that fails and was cancelled', [unknown, cancelled, write]],
    ['a call that fails and was cancelled', [failing, cancelled, write]],
    ['its own cancellation, and a call that fails', [write, cancelled, failing]],
  ])('%s frees no entry of dedupe', async (_, lines) => {
    const shim = startShim({ policy: POLICY })
    // In one write: all are open before the error comes back.
    shim.send(lines.join('\n'))
    await shim.answer(1)
    expect(isDuplicate(await shim.call('never', { n: 1 }, 'again'))).toBe(true)
    await shim.end()
  })

  test('a call that failed, and was alone under its id, may be made again', async () => {
    const shim = startShim({ policy: POLICY })
    expect(isDuplicate(await shim.call('fail', { n: 0 }))).toBe(false)
    expect(isDuplicate(await shim.call('fail', { n: 0 }))).toBe(false)
    expect(isDuplicate(await shim.call('echo', { n: 0 }))).toBe(false)
    expect(isDuplicate(await shim.call('echo', { n: 0 }))).toBe(true)
    await shim.end()
  })
})

// Ways around a rule that once worked: cancelling what failed, editing a message, an empty policy, an id in use.
const isRefused = (answer: Json): boolean => answer['error']?.data?.subluminal !== undefined

const BREAKER = bundle([
  rule('loop', 'breaker', tool('fail'), {
    breaker: { scope: 'tool', error_threshold: 3, window_ms: 3_600_000, on_trip: 'BLOCK' },
  }),
])

const cancellation = (requestId: number): object => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})
const cancel = (shim: ShimClient, requestId: number): void => shim.send(cancellation(requestId))

test('a call that is cancelled and fails all the same counts for a breaker (seed 004 §2.5)', async () => {
  const shim = startShim({ policy: BREAKER })
  const refused: number[] = []
  for (let id = 1; id <= 10; id += 1) {
    // In one write: else the failure may come back before the cancellation was sent.
    shim.send(`${JSON.stringify(toolCall(id, 'fail', { id }))}\n${JSON.stringify(cancellation(id))}`)
    if (isRefused(await shim.answer(id))) refused.push(id)
  }
  expect(refused).toEqual([4, 5, 6, 7, 8, 9, 10])
  const { events } = await shim.end()
  const ends = ofType(events, 'tool_call_end').map((event) => event['status'] as string)
  expect(ends).toEqual([...Array<string>(3).fill('CANCELLED'), ...Array<string>(7).fill('ERROR')])
})

test.each(['never', 'echo'])('neither do other requests under its id hide an error: %s', async (before) => {
  const shim = startShim({ policy: BREAKER })
  const refused: number[] = []
  for (let id = 1; id <= 6; id += 1) {
    shim.send(toolCall(id, before, { id }))
    cancel(shim, id)
    shim.send(toolCall(id, 'fail', { id }))
    shim.send(toolCall(id, 'never', { id }))
    await shim.answer(id)
    if (isRefused(await shim.call('fail', {}, `${id}`))) refused.push(id)
  }
  // Two failures of each round count: its own, and the one that tells.
  expect(refused).toEqual([2, 3, 4, 5, 6])
  await shim.end()
})

test('editing the message of a budget does not refill it, and a new limit is compared with what is spent', async () => {
  const budget = (limit_calls: number, message: string): object =>
    bundle([rule('few', 'budget', {}, { message, budget: { scope: 'run', limit_calls, on_exceed: 'BLOCK' } })])
  const shim = startShim({ policy: budget(3, 'three are enough') })
  const pass = async (count: number): Promise<number> => {
    let passed = 0
    for (let n = 0; n < count; n += 1) if (!isRefused(await shim.call('echo', { n }))) passed += 1
    return passed
  }
  const loaded = (): number => ofType(shim.events(), 'policy_loaded').length
  const use = async (policy: object): Promise<void> => {
    const before = loaded()
    writeFileSync(shim.policyPath, JSON.stringify(policy))
    await until('the new policy to be loaded', () => loaded() > before)
  }
  expect(await pass(5)).toBe(3)
  await use(budget(3, 'three, really'))
  expect(await pass(5)).toBe(0)
  await use(budget(5, 'two more'))
  expect(await pass(5)).toBe(2)
  await use(budget(4, 'one less'))
  expect(await pass(2)).toBe(0)
  await shim.end()
})

test.each([
  ['an empty text', { SUB_POLICY_JSON: '' }, []],
  ['a text of blanks', { SUB_POLICY_JSON: ' \n' }, []],
  ['a file that is empty', {}, ['--policy=/dev/null']],
  ['a file that is not there', {}, ['--policy=/no/such/policy.yaml']],
  ['a file without a name', {}, ['--policy=']],
])('%s is no open gate', async (_, env, flags) => {
  const shim = startShim({ env, flags })
  expect(await shim.call('echo')).toMatchObject({ error: { code: -32_081 } })
  const { stderr } = await shim.end()
  expect(stderr).toContain('decision_on_error')
})
