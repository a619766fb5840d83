// Calls reached a server whose decision was in no record: the writer's timer starved behind reads, and its queue was cut.
// The judge is the server's own book (seed 004 §1.6).
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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
  runsDir,
  type ShimClient,
  type ShimSetup,
  startShim,
  tool,
  toolCall,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

interface Booked {
  readonly shim: ShimClient
  /** Numbers of the calls that reached the server. */
  readonly received: () => number[]
}

function startBooked(setup: ShimSetup): Booked {
  const book = join(temporaryFolder(), 'book')
  const shim = startShim({ server: fixture('shim-book'), ...setup, env: { BOOK: book, ...setup.env } })
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
    const { stderr } = shim.program.child
    stderr?.pause()
    const calls = scaled(2_500, 50_000)
    flood(shim, calls, 2)
    // A little at a time, with a pause after each: slower than events are made.
    const slow = setInterval(() => {
      stderr?.resume()
      setImmediate(() => stderr?.pause())
    }, 5)
    await until('all calls to arrive', () => received().length === calls / 2)
    clearInterval(slow)
    stderr?.resume()
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
