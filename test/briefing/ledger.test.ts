// The token ledger: who is counted, once, as what; the gate adapter and the end of a task, which log their own cost.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { type LedgerRow, logDeclared, logText, readLedger } from '../../src/briefing/token-ledger.ts'
import { countedRows, totalsOf } from '../../src/briefing/token-report.ts'
import { temporaryDesk } from './desk.ts'
import { type Island, temporaryIsland } from './island.ts'

const rowsOf = (island: Island): LedgerRow[] =>
  island
    .read('protocol/ledger.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LedgerRow)
const count = (text: string): number => encode(text).length

test('commands that put text on the wire log its measured cost, once for each message, when a role is known', async () => {
  const island = temporaryIsland()
  await island.run('heimdall-capsule', ['write', 'w1', '--what', 'added LOB engine'])
  const build = ['build', '--task', '3.2', '--spec', 'do it', '--capsules', 'w1', '--msg-id', 'b1']
  await island.run('heimdall-brief', build)
  expect(island.has('protocol/ledger.jsonl')).toBe(false)
  const brief = await island.run('heimdall-brief', [...build, '--role', 'orchestration'])
  await island.run('heimdall-brief', [...build, '--role', 'orchestration'])
  const hydration = await island.run('heimdall-capsule', ['hydrate', 'w1'], { env: { HEIMDALL_ROLE: 'coder' } })
  writeFileSync(join(island.root, 'report.json'), '{"gate_id":"lob","status":"fail","wave":3,"metrics":{"a":1}}')
  const gate = ['to-message', '--report', 'report.json', '--from', 'sentinel', '--msg-id', 'g1']
  const message = await island.run('heimdall-gate', gate, { env: { HEIMDALL_ROLE: 'sentinel', SUB_RUN_ID: 'run-1' } })
  await island.run('heimdall-validate', ['--role', 'orchestration'], {
    stdin: message.stdout,
    env: { SUB_RUN_ID: 'run-1' },
  })
  await island.run('heimdall-validate', ['--role', 'orchestration'], {
    stdin: message.stdout,
    env: { SUB_RUN_ID: 'run-2' },
  })
  expect(JSON.parse(message.stdout)).toMatchObject({
    gate_id: 'lob',
    status: 'fail',
    report_ref: 'report.json',
    wave: '3',
  })
  // The brief holds the hydrated capsule and is one row; the validated message was logged when it was made.
  expect(
    rowsOf(island).map(({ role, kind, tokens, run_id, source, tokenizer }) => ({
      role,
      kind,
      tokens,
      run_id,
      source,
      tokenizer,
    })),
  ).toEqual(
    [
      { role: 'orchestration', kind: 'delta_brief', tokens: count(brief.stdout), run_id: undefined },
      { role: 'coder', kind: 'hydration', tokens: count(hydration.stdout), run_id: undefined },
      { role: 'sentinel', kind: 'gate_report', tokens: count(message.stdout.trim()), run_id: 'run-1' },
      { role: 'orchestration', kind: 'gate_report', tokens: count(message.stdout.trim()), run_id: 'run-2' },
    ].map((row) => ({ ...row, source: 'measured', tokenizer: 'o200k_base' })),
  )
})

test('a prefix that a run has sent before counts as cached, if it is long enough for a cache', async () => {
  const { planning } = temporaryDesk()
  const prefix = 'what every brief of this wave begins with, word by word. '.repeat(120)
  const log = (msgId: string, runId: string, start: string): Promise<LedgerRow | undefined> =>
    logText(planning, { role: 'o', kind: 'delta_brief', msgId, runId }, `${start}task ${msgId}`, { prefix: start })
  const cached = [
    await log('1', 'r', prefix),
    await log('2', 'r', prefix),
    await log('3', 'other', prefix),
    await log('4', 'r', 'short '),
    await log('5', 'r', 'short '),
  ].map((row) => row?.cached_tokens)
  expect(cached).toEqual([0, count(prefix), 0, 0, 0])
  const total = totalsOf(countedRows(readLedger(planning).rows))
  expect(total.cached).toBe(count(prefix))
  expect(total.cached + total.uncached).toBe(total.tokens)
})

test('the same message logged by twenty callers at once is one row', async () => {
  const { planning } = temporaryDesk()
  await Promise.all(
    Array.from({ length: 20 }, () => logText(planning, { role: 'r', kind: 'k', msgId: 'm1' }, 'the same text')),
  )
  expect(readLedger(planning).rows).toHaveLength(1)
})

test("seed 000, ledger: what the seed's tool wrote is read as declared, and a torn line is skipped and counted", async () => {
  const { planning, path } = temporaryDesk()
  await logDeclared(planning, { role: 'a', kind: 'k' }, { tokens: 5 })
  writeFileSync(
    path('protocol/ledger.jsonl'),
    '{"ts":"2026-06-11T12:07:27Z","role":"a","kind":"k","tokens":1e+20}\n{"ts":"2026-06-11T12:0\n[]\n{"role":"a","kind":"k","tokens":-1}\n',
    { flag: 'a' },
  )
  const { rows, unreadable } = readLedger(planning)
  expect(rows.map(({ source, tokens }) => [source, tokens])).toEqual([
    ['declared', 5],
    ['declared', 1e20],
  ])
  expect(unreadable).toBe(3)
})

test('a text given to the ledger is counted, a number is declared, and both or neither is a mistake', async () => {
  const island = temporaryIsland()
  const log = (...rest: string[]) =>
    island.run('heimdall-ledger', ['log', '--role', 'a', '--kind', 'k', ...rest], { stdin: 'one two three' })
  expect(await log('--file', '-')).toMatchObject({ code: 0, stdout: `logged a/k=${count('one two three')}\n` })
  expect(await log('--tokens', '007', '--cached', '3')).toMatchObject({ code: 0, stdout: 'logged a/k=7\n' })
  for (const bad of [
    [],
    ['--tokens', '1', '--file', '-'],
    ['--tokens', '-1'],
    ['--tokens', '1e3'],
    ['--tokens', '99999999999999999999'],
    ['--tokens', '1', '--cached', '2'],
    ['--tokens'],
  ])
    expect(await log(...bad)).toMatchObject({ code: 2, stdout: '' })
  expect(
    rowsOf(island).map(({ source, tokenizer, tokens, cached_tokens }) => [source, tokenizer, tokens, cached_tokens]),
  ).toEqual([
    ['measured', 'o200k_base', 3, undefined],
    ['declared', null, 7, 3],
  ])
  expect((await island.run('heimdall', ['tokens', 'report'])).stdout).toContain(
    'measured 3, declared 7; cached 3, uncached 7',
  )
  expect(
    (await island.run('heimdall-ledger', ['baseline', '--role', 'a', '--file', '-'], { stdin: 'word '.repeat(4) }))
      .stdout,
  ).toBe(`baseline a = ${count('word '.repeat(4))} (v1)\n`)
  expect((await island.run('heimdall-ledger', ['delta'])).stdout).toMatch(
    / {2}a: 5 -> 10 tokens \(v1 baseline -> measured; \+100%\)\n/,
  )
})

test.each([
  ['no report', undefined],
  ['not JSON', '{"gate_id":'],
  ['no gate_id', '{"status":"pass"}'],
  ['an undecided status', '{"gate_id":"g","status":"skipped"}'],
  ['a report that is a list', '[]'],
  ['a gate_id with a newline', '{"gate_id":"g\\nforged","status":"pass"}'],
])('seed 000, gate: %s is exit 1', async (_, text) => {
  const island = temporaryIsland()
  if (text !== undefined) writeFileSync(join(island.root, 'r.json'), text)
  expect(
    await island.run('heimdall-gate', ['to-message', '--report', 'r.json', '--from', 's', '--msg-id', 'g1']),
  ).toMatchObject({ code: 1, stdout: '' })
})

test('seed 000, gate: a report outside the project has no path that a message could carry', async () => {
  const { code, stderr } = await temporaryIsland().run('heimdall-gate', [
    'to-message',
    '--report',
    '/etc/hostname',
    '--from',
    's',
    '--msg-id',
    'g1',
  ])
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/outside the project\nhint: .*copy the report there/),
  })
  expect((await temporaryIsland().run('heimdall-gate', ['to-message', '--from', 's', '--msg-id', 'g1'])).code).toBe(2)
})

test('the end of a task is a capsule and a valid message in one step; when either is refused there is neither', async () => {
  const island = temporaryIsland()
  const done = (...rest: string[]) =>
    island.run('heimdall-task-result', ['done', '--task', '3.2', '--from', 'coder', ...rest])
  const { code, stdout } = await done(
    '--status',
    'pass',
    '--what',
    'added book diff',
    '--criteria',
    '1,2',
    '--commit',
    'a2ef507',
  )
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    type: 'task_result',
    task: '3.2',
    status: 'pass',
    criteria: [1, 2],
    commit: 'a2ef507',
    capsule: '3.2',
    msg_id: expect.stringMatching(/^tr-\d+-\d+$/),
  })
  expect((await island.run('heimdall-validate', [], { stdin: stdout })).code).toBe(0)
  const capsule = island.read('protocol/capsules/3.2.md')
  expect(capsule).toContain('WHAT: added book diff')
  expect(await done('--status', 'pass', '--what', 'a\nb\nc\nd\ne\nf\ng')).toMatchObject({ code: 1, stdout: '' })
  expect(await done('--status', 'pass', '--what', 'other', '--commit', 'x'.repeat(300))).toMatchObject({
    code: 1,
    stdout: '',
  })
  expect(await done('--status', 'banana', '--what', 'x')).toMatchObject({ code: 2, stdout: '' })
  expect(await done('--status', 'pass')).toMatchObject({ code: 2, stdout: '' })
  expect(island.read('protocol/capsules/3.2.md')).toBe(capsule)
})
