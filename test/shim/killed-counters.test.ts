// Counters of a run against what servers really got, when shims are killed at any moment.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFold } from '../../src/runs/read-fold.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import {
  bundle,
  checkBooks,
  eventsOfRun,
  type Json,
  parseLines,
  rule,
  runsDir,
  type ShimClient,
  startShim,
  toolCall,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const RUN = 'counted'
const budget = (limit_calls: number): object =>
  bundle([
    rule('all', 'budget', {}, { budget: { scope: 'run', limit_calls, on_exceed: 'BLOCK' } }),
    rule(
      'pace',
      'rate_limit',
      {},
      {
        rate_limit: {
          scope: 'run',
          capacity: 1_000_000,
          refill_tokens: 1,
          refill_period_ms: 86_400_000,
          on_limit: 'BLOCK',
          backoff_ms: 1,
        },
      },
    ),
  ])

const start = (home: string, name: string, limit: number): ShimClient =>
  startShim({
    home,
    name,
    env: { SUB_RUN_ID: RUN },
    policy: budget(limit),
    bin: 'heimdall',
    ownProcess: name.startsWith('victim'),
  })

/** What the record of the run says was counted: calls of the budget, tokens taken from the bucket. */
function counted(home: string): { calls: number; tokens: number } {
  const { cells } = readFold(join(runsDir(home), RUN)).saved()
  const cell = (kind: string): readonly number[] => cells.find(([id]) => id.startsWith(`${kind} `))?.[1] ?? []
  return { calls: cell('budget')[0] ?? 0, tokens: 1_000_000 - (cell('rate')[0] ?? 1_000_000) }
}

/** Whole calls that the server was sent; the kill may have cut the last one off. */
const receivedBy = (shim: ShimClient): number =>
  parseLines(shim.received()).filter((message: Json) => message['method'] === 'tools/call').length

test.each([1, 24])('a kill neither loses nor doubles a count: %i calls in flight', async (inFlight) => {
  for (let round = 0; round < scaled(2, 150); round += 1) {
    const home = temporaryFolder()
    const [survivor, victim] = [start(home, 'survivor', 1_000_000), start(home, 'victim', 1_000_000)]
    await survivor.call('echo')
    let sent = 0
    const answered = (): number => victim.program.stdout().split('\n').length - 1
    const feed = (): void => {
      for (; sent - answered() < inFlight; sent += 1)
        victim.send(toolCall(sent, 'echo', { n: sent, text: 'x'.repeat(sent % 700) }))
    }
    // The moment is anywhere: after some answers, and some turns of the loop later.
    const moment = 3 + Math.floor(Math.random() * 60)
    victim.program.stdoutStream.on('data', feed)
    feed()
    await until(`${moment} answers`, () => answered() >= moment)
    for (let turns = Math.floor(Math.random() * 20); turns > 0; turns -= 1) await new Promise(setImmediate)
    victim.program.kill('SIGKILL')
    await victim.program.ended
    const mine = 20
    for (let n = 0; n < mine; n += 1) expect(await survivor.call('echo', { n })).toHaveProperty('result')
    const { calls, tokens } = counted(home)
    const got = receivedBy(victim)
    const report = { moment, sent, got, calls: calls - mine - 1 }
    // Not lost: whatever reached the server was counted before it went. Not doubled: nothing was counted that was not sent.
    expect(report.calls, JSON.stringify(report)).toBeGreaterThanOrEqual(got)
    expect(report.calls, JSON.stringify(report)).toBeLessThanOrEqual(Math.min(sent, got + inFlight))
    expect(tokens).toBe(calls)
    await survivor.end()
    // SIGKILL may cut a write of several pages in two, and then a start stands in the record whose decision does not.
    const events = eventsOfRun(home, RUN)
    const of = (type: string): number => events.filter((event) => event['type'] === type).length
    const torn = `${of('tool_call_decision')} decisions, expected ${of('tool_call_start')}`
    expect(of('tool_call_start') - of('tool_call_decision')).toBeLessThanOrEqual(1)
    expect(checkBooks(events).filter((problem) => problem !== torn)).toEqual([])
  }
})

test('no kill lets a run spend more than its budget, and none takes away more than what was in flight', async () => {
  const home = temporaryFolder()
  const limit = 400
  const inFlight = 8
  let got = 0
  let kills = 0
  // Shims come, spend and are killed until the budget is gone; one that is not killed then finds what is left.
  for (; kills < scaled(3, 40); kills += 1) {
    const victim = start(home, `victim-${kills}`, limit)
    for (let id = 1; id <= inFlight; id += 1) victim.send(toolCall(id, 'echo', { id }))
    await victim.answer(1 + Math.floor(Math.random() * inFlight))
    victim.program.kill('SIGKILL')
    await victim.program.ended
    got += receivedBy(victim)
  }
  const last = start(home, 'last', limit)
  const answers = await Promise.all(Array.from({ length: limit + 50 }, (_, n) => last.call('echo', { n })))
  const passed = answers.filter((answer) => answer['result'] !== undefined).length
  expect(passed).toBe(receivedBy(last))
  expect(got + passed).toBeLessThanOrEqual(limit)
  expect(got + passed).toBeGreaterThanOrEqual(limit - kills * inFlight)
  expect(counted(home).calls).toBe(limit)
  await last.end()
})
