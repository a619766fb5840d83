// heimdall events, from outside: shims write, commands ask.
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { withFileLock } from '../../src/storage/file-lock.ts'
import { needs } from '../support/needs.ts'
import { callEvents, eventsIn, linesOf, runStart, writeRecord } from '../support/event-records.ts'
import { type Ending, launcher, runProgram, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import {
  bundle,
  deny,
  eventsOfRun,
  type Json,
  parseLines,
  rule,
  runsDir,
  type ShimClient,
  startShim,
  tool,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const heimdall = (home: string, ...words: string[]): Promise<Ending> =>
  runLauncher('heimdall', [...words], { env: { HOME: home }, cwd: home })

async function data(home: string, ...words: string[]): Promise<Json> {
  const { stdout, stderr, code } = await heimdall(home, ...words, '--json')
  const envelope = JSON.parse(stdout) as Json
  if (envelope['ok'] !== true) throw new Error(`exit ${code}: ${stdout}${stderr}`)
  return envelope['data'] as Json
}

/** Rows of the run index, read past our own code. */
function countIn(home: string, rows: string): number {
  const db = new DatabaseSync(join(home, '.local/state/heimdall/runs.db'), { readOnly: true })
  try {
    return Number(db.prepare(`select count(*) as count from ${rows}`).get()?.['count'])
  } finally {
    db.close()
  }
}

const POLICY = bundle([
  deny('no-mail', tool('mail')),
  rule(
    'branch',
    'deny',
    { args: { key_equals: { branch: 'main' } } },
    {
      action: 'REJECT_WITH_HINT',
      reason_code: 'PROTECTED_BRANCH',
      message: 'main is protected',
      hint: { hint_text: 'use a branch of your own', hint_kind: 'ARG_FIX', suggested_args: { branch: 'agent/x' } },
    },
  ),
  rule('twice', 'budget', tool('dear'), { budget: { scope: 'run', limit_calls: 2, on_exceed: 'BLOCK' } }),
])

const shimOf = (home: string, id: string, env: Record<string, string> = {}): ShimClient =>
  startShim({ policy: POLICY, bin: 'heimdall', home, env: { SUB_RUN_ID: id, SUB_AGENT_ID: `agent-of-${id}`, ...env } })

test('LED-INT-001, LED-INT-002, LED-INT-003: what a shim wrote can be asked for, decisions with rule and reason, large calls as such', async () => {
  const home = temporaryFolder()
  const shim = shimOf(home, 'r')
  await shim.call('echo', { text: 'good morning' })
  await shim.call('mail', { to: 'ana' })
  await shim.call('echo', { text: 'x'.repeat(1_100_000) })
  await shim.end()
  const { calls, behind } = await data(home, 'events', '--run', 'r', '--order', 'oldest')
  expect(behind).toEqual({ bytes: 0, runs: 0 })
  expect(calls).toMatchObject([
    {
      run_id: 'r',
      agent_id: 'agent-of-r',
      server_name: 'fake',
      tool_name: 'echo',
      seq: 1,
      decision: 'ALLOW',
      status: 'OK',
      enforced: true,
      truncated: false,
      args_preview: '{"text":"good morning"}',
    },
    {
      tool_name: 'mail',
      decision: 'BLOCK',
      rule_id: 'no-mail',
      reason_code: 'DENYLIST_MATCH',
      status: 'ERROR',
      error: { class: 'policy_block' },
    },
    { tool_name: 'echo', truncated: true, args_preview: null },
  ])
  // By each of what is known of them.
  for (const [flags, ids] of [
    [
      ['--agent', 'agent-of-r'],
      [1, 2, 3],
    ],
    [['--server', 'fake', '--tool', 'ma*'], [2]],
    [
      ['--decision', 'block'],
      [2, 3],
    ],
    [['--rule', 'no-mail'], [2]],
    [['--reason', 'DENYLIST_MATCH'], [2]],
    [['--status', 'OK'], [1]],
    [['--text', 'morning'], [1]],
    [
      ['--since', '1h', '--until', '2999-01-01'],
      [1, 2, 3],
    ],
    [['--until', '1h'], []],
    [['--since', calls[2].ts as string], [3]],
  ] as const)
    expect(
      (await data(home, 'events', '--order', 'oldest', ...flags))['calls'].map(({ seq }: Json) => seq as number),
      flags.join(' '),
    ).toEqual(ids)
  expect((await data(home, 'events', '--type', 'run_end'))['events']).toMatchObject([
    { type: 'run_end', run: { status: 'SUCCEEDED' } },
  ])
  expect(await heimdall(home, 'events', '--since', 'yesterday')).toMatchObject({ code: 2 })
})

test('query prints a table, and the columns of the field as TSV, also under the name of the field', async () => {
  const home = temporaryFolder()
  const shim = shimOf(home, 'r')
  await shim.call('mail')
  await shim.end()
  const [call] = (await data(home, 'events'))['calls'] as Json[]
  const table = await heimdall(home, 'events')
  expect(table.stdout.split('\n')[0]).toBe('TIME\tAGENT\tRUN\tTOOL\tDECISION\tRULE\tSTATUS\tMS\tCALL')
  const wanted = `ts\trun_id\tserver\ttool\tdecision\tstatus\tlatency_ms\tbytes_in\tbytes_out\tcall_id\n${[call?.['ts'], 'r', 'fake', 'mail', 'BLOCK', 'ERROR', call?.['latency_ms'], call?.['bytes_in'], call?.['bytes_out'], call?.['call_id']].join('\t')}\n`
  expect((await heimdall(home, 'events', '--tsv')).stdout).toBe(wanted)
  const sub = await runLauncher(
    'sub',
    [
      'query',
      '--run',
      'r',
      '--server',
      'fake',
      '--tool',
      'mail',
      '--decision',
      'BLOCK',
      '--status',
      'ERROR',
      '--limit',
      '5',
    ],
    { env: { HOME: home }, cwd: home },
  )
  expect(sub).toMatchObject({ code: 0, stdout: wanted })
  expect((await heimdall(home, 'events', '--tool', 'nothing')).stdout).toBe('No calls.\n')
})

test('show explains a decision: rule, reason, counters, hint, outcome, and what the agent did next', async () => {
  const home = temporaryFolder()
  const shim = shimOf(home, 'r')
  const refused = await shim.call('push', { branch: 'main' })
  await shim.call('push', { branch: 'agent/x' })
  await shim.call('push', { branch: 'agent/x' })
  for (let n = 0; n < 3; n += 1) await shim.call('dear', { n })
  await shim.end()
  const id = refused['error'].data.subluminal.call_id as string
  const shown = await data(home, 'events', 'show', id)
  expect(shown).toMatchObject({
    call: {
      call_id: id,
      decision: 'REJECT_WITH_HINT',
      rule_id: 'branch',
      reason_code: 'PROTECTED_BRANCH',
      hint_text: 'use a branch of your own',
    },
    decision: { hint: { suggested_args: { branch: 'agent/x' } } },
    next: [
      { follows: 'took_suggestion', decision: 'ALLOW' },
      { follows: 'took_suggestion' },
      { follows: 'other_tool' },
      {},
      {},
    ],
  })
  expect(shown['events'].map(({ type }: Json) => type as string)).toEqual([
    'tool_call_start',
    'tool_call_decision',
    'tool_call_end',
    'hint_issued',
  ])
  const text = (await heimdall(home, 'events', 'show', id)).stdout
  for (const part of [
    'fake/push',
    'REJECT_WITH_HINT',
    'rule       branch',
    'PROTECTED_BRANCH',
    'use a branch of your own',
    '{"branch":"agent/x"}',
    'took the suggested arguments',
  ])
    expect(text).toContain(part)
  const [over] = (await data(home, 'events', '--rule', 'twice', '--decision', 'BLOCK'))['calls'] as Json[]
  const counted = (await heimdall(home, 'events', 'show', over?.['call_id'] as string)).stdout
  expect(counted).toMatch(/counter +calls of twice: 2 before, \d after, limit 2/)
  expect(counted).toContain('no further call of this agent')
  expect(await heimdall(home, 'events', 'show', 'nobody')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('no call has the id'),
  })
})

test('E2E-003: tail shows events live, also of runs that begin later and of a run that goes on', async () => {
  const home = temporaryFolder()
  const first = shimOf(home, 'one')
  await first.call('echo', { text: 'before' })
  const tail = startProgram([...launcher('heimdall'), 'events', 'tail', '--follow', '--json', '--limit', '100'], {
    env: { HOME: home },
    cwd: home,
  })
  const only = startProgram([...launcher('heimdall'), 'events', 'tail', '--follow', '--run', 'two'], {
    env: { HOME: home },
  })
  const sub = startProgram([...launcher('sub'), 'tail'], { env: { HOME: home } })
  await until('what is there', () => tail.stdout().includes('before'))
  await until('the header', () => sub.stdout().startsWith('ts\trun_id\t'))
  await first.call('mail')
  await until('a call of the open run', () => tail.stdout().includes('no-mail'))
  const second = shimOf(home, 'two')
  await second.call('echo', { text: 'from the second' })
  await until('a run that began later', () => tail.stdout().includes('from the second'))
  await until('the run that was asked for', () => only.stdout().includes('from the second'))
  await until('rows', () => /\ttwo\tfake\techo\tALLOW\tOK\t/.test(sub.stdout()))
  await Promise.all([first.end(), second.end()])
  // The run goes on in another segment.
  const again = shimOf(home, 'one')
  await again.call('echo', { text: 'once more' })
  await again.end()
  // Each run is followed on its own: the end of one says nothing about the end of the other.
  const ends = (run: string): number =>
    parseLines(tail.stdout()).filter((event) => event['type'] === 'run_end' && event['run_id'] === run).length
  await until('all three ends', () => ends('one') === 2 && ends('two') === 1)
  await until('the end of the second', () => only.stdout().includes('run ended, SUCCEEDED, 1 calls'))
  expect(only.stdout()).not.toContain('before')
  const seen = parseLines(tail.stdout())
  for (const run of ['one', 'two']) expect(seen.filter(({ run_id: id }) => id === run)).toEqual(eventsOfRun(home, run))
})

test('tail without --follow prints the latest events of all runs in order, and ends', async () => {
  const home = temporaryFolder()
  for (const [n, run] of ['a', 'b'].entries())
    writeRecord(runsDir(home), run, [
      runStart(run, n),
      ...callEvents(run, { callId: `${run}1`, atMs: 10 * n }),
      ...callEvents(run, { callId: `${run}2`, atMs: 100 + n }),
    ])
  const { stdout, code } = await heimdall(home, 'events', 'tail', '--limit', '4', '--json')
  expect(code).toBe(0)
  expect(parseLines(stdout).map((event) => [event['call'].call_id, event['type']])).toEqual([
    ['b2', 'tool_call_start'],
    ['b2', 'tool_call_decision'],
    ['a2', 'tool_call_end'],
    ['b2', 'tool_call_end'],
  ])
  expect((await heimdall(temporaryFolder(), 'events', 'tail')).stdout).toBe('')
})

test('export writes events as they stand in the record, and calls as CSV that no spreadsheet obeys', async () => {
  const home = temporaryFolder()
  const evil = [
    '=1+1',
    '+cmd|calc',
    '-2',
    '@SUM(A1)',
    '\t=1',
    'a "quoted", text\nin two lines',
    "it's fine",
    '\u001b]0;x\u0007\u202eb',
  ]
  const path = writeRecord(runsDir(home), 'r', [
    runStart('r'),
    ...evil.flatMap((text, n) => callEvents('r', { callId: `c${n}`, atMs: n, tool: text, args: text })),
  ])
  writeRecord(runsDir(home), 's', [runStart('s', 500)])
  const jsonl = await heimdall(home, 'events', 'export', '--run', 'r')
  expect(jsonl.stdout).toBe(readFileSync(path, 'utf8'))
  const all = await heimdall(home, 'events', 'export', '--out', 'all.jsonl')
  expect(all).toMatchObject({ code: 0, stdout: '10 calls and other events in all.jsonl\n' })
  expect(eventsIn(join(home, 'all.jsonl'))).toHaveLength(eventsIn(path).length + 1)
  expect(statSync(join(home, 'all.jsonl')).mode & 0o777).toBe(0o600)
  await heimdall(home, 'events', 'export', '--format', 'csv', '--out', 'calls.csv')
  needs('python3')
  // Python reads CSV by the same rules as everybody; what it finds is what a spreadsheet would show.
  const read = spawnSync('python3', [
    '-c',
    'import csv,json,sys; print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline="")))))',
    join(home, 'calls.csv'),
  ])
  const rows = JSON.parse(read.stdout.toString()) as Json[]
  expect(rows.map((row) => row['args_preview'] as string)).toEqual([
    "'=1+1",
    "'+cmd|calc",
    "'-2",
    "'@SUM(A1)",
    "'\t=1",
    'a "quoted", text\nin two lines',
    "it's fine",
    '\\u001b]0;x\\u0007\\u202eb',
  ])
  expect(rows[0]).toMatchObject({ run_id: 'r', tool_name: "'=1+1", decision: 'ALLOW', status: 'OK', latency_ms: '3' })
  for (const row of rows) for (const value of Object.values(row)) expect(value).not.toMatch(/^[=+\-@\t\r]/)
})

test('a reader that has seen enough ends export, query and tail quietly', async () => {
  const home = temporaryFolder()
  writeRecord(runsDir(home), 'r', [
    runStart('r'),
    ...Array.from({ length: 2_000 }, (_, n) =>
      callEvents('r', { callId: `c${n}`, atMs: n, args: 'x'.repeat(300) }),
    ).flat(),
  ])
  for (const words of ['events export', 'events --limit 0', 'events tail --limit 6000 --follow']) {
    const { stderr, code, stdout } = await runProgram(
      ['/bin/sh', '-c', `"$0" "$1" ${words} | head -n 2; exit 0`, ...launcher('heimdall')],
      { env: { HOME: home }, cwd: home },
    )
    expect({ words, code, stderr, lines: stdout.split('\n').length }).toEqual({ words, code: 0, stderr: '', lines: 3 })
  }
})

test('nothing in an event is obeyed by a terminal, breaks a row or forges one', async () => {
  const home = temporaryFolder()
  const evil = 'x\u001b[31m\tforged\nrow\u202e\u009b'
  writeRecord(runsDir(home), 'r', [
    runStart('r'),
    ...callEvents('r', { callId: `id${evil}`, tool: evil, agent: evil, action: 'BLOCK', rule: evil, args: evil }),
  ])
  for (const words of [
    [],
    ['--tsv'],
    ['tail'],
    ['--type', 'all'],
    ['show', `id${evil}`],
    ['--json'],
    ['tail', '--json'],
  ]) {
    const { stdout, code } = await heimdall(home, 'events', ...words)
    expect(code, words.join(' ')).toBe(0)
    // oxlint-disable-next-line no-control-regex -- they are what it is about
    expect(stdout, words.join(' ')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
    if (words.includes('--tsv')) expect(stdout.split('\n')[1]?.split('\t')).toHaveLength(10)
  }
})

test('a file of events outside all runs can be asked too: what a shim was told to write, cut, interleaved and half foreign', async () => {
  const home = temporaryFolder()
  const path = join(home, 'events.jsonl')
  const shim = startShim({ policy: POLICY, home, bin: 'heimdall', flags: [`--events=${path}`], name: 'fake' })
  await shim.call('mail')
  await shim.end()
  const [own] = eventsIn(path)
  // As the shim of the contract's own makers writes it: times of any precision, no segment, several runs in one file.
  const [start, decision, end] = callEvents('other-run', { callId: 'uuid-1', server: 'git', tool: 'push' })
  appendFileSync(
    path,
    linesOf([
      { ...runStart('other-run'), ts: '2026-10-01T00:00:00.5Z' },
      { ...start, v: '0.1.0', ts: '2026-10-01T00:00:00.123456789Z' },
    ]),
  )
  appendFileSync(path, `{"half of a li\n${linesOf([decision, end])}{"v":"0.1.0","type":"run_e`)
  const { stderr } = await heimdall(home, 'events', '--file', path)
  expect(stderr).toContain('skipped 1 line that is not an event')
  const { calls } = await data(home, 'events', '--file', path, '--order', 'oldest')
  expect(calls).toMatchObject([
    { run_id: 'other-run', server_name: 'git', tool_name: 'push', decision: 'ALLOW', status: 'OK' },
    { run_id: own?.['run_id'], tool_name: 'mail', decision: 'BLOCK', rule_id: 'no-mail' },
  ])
  expect((await data(home, 'events', 'show', 'uuid-1', '--file', path))['call'].tool_name).toBe('push')
  expect(
    (await heimdall(home, 'events', 'export', '--file', path, '--run', 'other-run')).stdout.split('\n'),
  ).toHaveLength(5)
  // Nobody keeps anything of it.
  expect((await data(home, 'events'))['calls']).toEqual([])
  for (const bad of [join(home, 'nothing'), home])
    expect(await heimdall(home, 'events', '--file', bad)).toMatchObject({ code: 3 })
})

test('while another process indexes, a query answers from what is there and says how far behind that is; a broken index is in nobody’s way', async () => {
  const home = temporaryFolder()
  const path = writeRecord(runsDir(home), 'r', [runStart('r'), ...callEvents('r', { callId: 'a' })])
  await heimdall(home, 'events')
  const more = linesOf(callEvents('r', { callId: 'b' }))
  appendFileSync(path, more)
  const index = join(home, '.local/state/heimdall/runs.db')
  await withFileLock(index, async () => {
    expect(await data(home, 'events')).toMatchObject({
      calls: [{ call_id: 'a' }],
      behind: { bytes: more.length, runs: 1 },
    })
    expect((await heimdall(home, 'events')).stderr).toMatch(/behind by .* in 1 run/)
    expect(await heimdall(home, 'runs', 'reindex')).toMatchObject({
      code: 8,
      stderr: expect.stringContaining('another process is indexing'),
    })
  })
  expect((await data(home, 'events'))['calls']).toHaveLength(2)
  // The log would mend what is written over here.
  rmSync(`${index}-wal`, { force: true })
  writeFileSync(index, 'rubbish '.repeat(9_000))
  expect(await heimdall(home, 'events', '--tsv')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('made anew'),
  })
  expect(existsSync(`${index}.old`)).toBe(true)
})

test('reindex reads all records again and counts what is no event; pruned runs leave the index with their records', async () => {
  const home = temporaryFolder()
  for (const run of ['a', 'b']) writeRecord(runsDir(home), run, [runStart(run), ...callEvents(run, { callId: run })])
  appendFileSync(join(runsDir(home), 'b', 'events.jsonl'), 'rubbish\n')
  mkdirSync(join(runsDir(home), 'foreign'))
  writeFileSync(join(runsDir(home), 'foreign', 'events.jsonl'), linesOf(callEvents('x', { callId: 'x' })))
  expect(await data(home, 'runs', 'reindex')).toMatchObject({
    runs: 2,
    events: 8,
    bad_lines: 1,
    newer_events: 0,
    behind: { bytes: 0 },
  })
  const checks = (await runLauncher('sub', ['doctor', '--json'], { env: { HOME: home }, cwd: home })).stdout
  expect((JSON.parse(checks) as Json)['data'].checks.find(({ check }: Json) => check === 'run index')).toMatchObject({
    state: 'warn',
    found: expect.stringContaining('8 events of 2 runs'),
  })
  await heimdall(home, 'runs', 'prune', '--older-than', '0s')
  const tables = ['records', 'runs', 'entries', 'bad_lines']
  expect(tables.map((table) => countIn(home, table))).toEqual([0, 0, 0, 0])
  expect((await data(home, 'events', '--text', 'anything'))['calls']).toEqual([])
})
