// Questions to a person have a bound and an end, answers belong to a rule as it was read, and no held call is left without an answer (seed 004 §7.4).
import { closeSync, constants, openSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { ASK_OPEN_MAX } from '../../src/limits.ts'
import { hm } from '../hm/hm.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import {
  bundle,
  checkBooks,
  type Json,
  ofType,
  rule,
  runsDir,
  startShim,
  tool,
  toolCall,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const ask = (wait_ms: number, message = 'writes are asked about'): object =>
  rule('ask-writes', 'deny', tool('write*'), { action: 'ASK', message, ask: { question: 'May it write?', wait_ms } })

async function listed(home: string, ...flags: string[]): Promise<Json[]> {
  const { stdout } = await runLauncher('heimdall', ['approvals', 'list', '--json', ...flags], {
    env: { HOME: home },
  })
  return (JSON.parse(stdout) as { data: { requests: Json[] } }).data.requests
}

/** What a person types, at a terminal of their own. */
async function person(home: string, ...words: string[]): Promise<void> {
  const terminal = ownTerminal([...launcher('heimdall'), 'approvals', ...words], { cwd: home, env: { HOME: home } })
  expect(await terminal.ended, terminal.written()).toBe(0)
}

const reason = (answer: Json): string =>
  (answer['error']?.data.subluminal.reason_code as string | undefined) ?? 'passed'

test('so many questions and no more: past the bound a call is refused unasked, until somebody answers', async () => {
  const shim = startShim({ policy: bundle([ask(0)]), env: { SUB_RUN_ID: 'full' } })
  for (let i = 0; i < ASK_OPEN_MAX; i += 1) shim.send(toolCall(i, 'write', { i }))
  expect(reason(await shim.answer(ASK_OPEN_MAX - 1))).toBe('APPROVAL_REQUIRED')
  const refused = await shim.call('write', { i: 'one more' })
  expect(reason(refused)).toBe('APPROVAL_UNAVAILABLE')
  expect(refused['error'].message).toMatch(/nobody was asked: \d+ questions are open already/)
  // A question that is open already is no new one.
  expect(reason(await shim.call('write', { i: 0 }))).toBe('APPROVAL_REQUIRED')
  const open = await listed(shim.home)
  expect(open.length).toBe(ASK_OPEN_MAX)
  await person(shim.home, 'deny', String(open[0]?.['id']))
  expect(reason(await shim.call('write', { i: 'one more' }))).toBe('APPROVAL_REQUIRED')
  const { events } = await shim.end()
  expect(checkBooks(events)).toEqual([])
})

test('the questions of a run end with it, also when it was killed', async () => {
  const home = temporaryFolder()
  const start = (id: string): ReturnType<typeof startShim> =>
    startShim({ policy: bundle([ask(0)]), bin: 'heimdall', home, env: { SUB_RUN_ID: id } })
  const ended = start('ended')
  await ended.call('write', { path: 'a' })
  const killed = start('killed')
  await killed.call('write', { path: 'a' })
  expect((await listed(home)).map(({ run_id }) => run_id as string).toSorted()).toEqual(['ended', 'killed'])
  await ended.end()
  expect((await listed(home)).map(({ run_id }) => run_id as string)).toEqual(['killed'])
  killed.program.child.kill('SIGKILL')
  await killed.program.ended
  expect(await listed(home)).toEqual([])
  expect(await listed(home, '--all')).toMatchObject([
    { answer: null, closed_at: expect.any(String) },
    { answer: null, closed_at: expect.any(String) },
  ])
  // Asked again, it is open again.
  const again = start('ended')
  await again.call('write', { path: 'a' })
  expect(await listed(home)).toMatchObject([{ run_id: 'ended', closed_at: null }])
  await again.end()
})

test('what a shim alone has asked goes with it; what a killed one leaves behind is not listed, and swept', async () => {
  const home = temporaryFolder()
  const solo = join(runsDir(home), '.solo')
  const start = (): ReturnType<typeof startShim> => startShim({ policy: bundle([ask(0)]), home })
  const alive = start()
  const killed = start()
  await alive.call('write', { path: 'alive' })
  await killed.call('write', { path: 'killed' })
  killed.program.child.kill('SIGKILL')
  await killed.program.ended
  expect(await listed(home)).toMatchObject([{ args_preview: expect.stringContaining('alive') }])
  expect(readdirSync(solo).length).toBe(2)
  for (const name of readdirSync(solo)) utimesSync(join(solo, name), 0, 0)
  await runLauncher('heimdall', ['doctor'], { env: { HOME: home }, cwd: home })
  expect(readdirSync(solo).length).toBe(1)
  expect(await listed(home)).toMatchObject([{ args_preview: expect.stringContaining('alive') }])
  await alive.end()
  expect(readdirSync(solo)).toEqual([])
})

test('an answer is one for the rule as it stood: another text of it asks again', async () => {
  const shim = startShim({ policy: bundle([ask(0)]) })
  const load = async (message: string, times: number): Promise<void> => {
    writeFileSync(shim.policyPath, JSON.stringify(bundle([ask(0, message)], { version: String(times) })))
    await until('the policy taken up', () => (ofType(shim.events(), 'policy_loaded').length > times ? true : undefined))
  }
  await shim.call('write', { path: 'a' })
  const [first] = await listed(shim.home)
  await person(shim.home, 'allow', String(first?.['id']), '--rule', '--run')
  expect(reason(await shim.call('write', { path: 'b' }))).toBe('passed')
  await load('writes are asked about, and meant differently', 1)
  expect(reason(await shim.call('write', { path: 'b' }))).toBe('APPROVAL_REQUIRED')
  // What changed is in the bundle beside the rule, not in it.
  await load('writes are asked about', 2)
  expect(reason(await shim.call('write', { path: 'b' }))).toBe('passed')
  await shim.end()
})

test('held calls are answered when the shim ends in the middle of a turn that cannot be finished', async () => {
  const pipe = join(temporaryFolder(), 'events')
  await runProgram(['mkfifo', pipe])
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const shim = startShim({ policy: bundle([ask(50_000)]), flags: ['--events', pipe] })
    shim.send(toolCall('held', 'write', { path: 'a' }))
    await until('the question', async () => ((await listed(shim.home)).length > 0 ? true : undefined))
    // Nobody reads the events: from some call on the shim waits for its record, and then its client leaves.
    const some = { text: 'x'.repeat(1_000) }
    for (let i = 0; i < 700; i += 1) shim.send(toolCall(i, 'read', some))
    const { lines } = await shim.end()
    expect(lines.filter(({ id }) => id === 'held')).toMatchObject([
      { error: { data: { subluminal: { reason_code: 'APPROVAL_REQUIRED' } } } },
    ])
  } finally {
    closeSync(reader)
  }
})

test('a shim that leaves has said so to the session', async () => {
  const box = hm()
  const { home } = box
  await box.session('agent', ['sh', '-c', 'read line'])
  const needs = async (): Promise<Json> => (await box.json(['status', 'agent']))['needs_input'] as Json
  for (let i = 0; i < 3; i += 1) {
    const shim = startShim({ policy: bundle([ask(0)]), home, env: { HEIMDALL_SESSION_ID: 'agent' } })
    await shim.call('write', { path: String(i) })
    await until('needs input', async () => ((await needs())['value'] === true ? true : undefined))
    await shim.end()
    // Nobody is left who could say it later.
    await until('nobody waited for', async () => ((await needs())['value'] === false ? true : undefined))
  }
})
