// Commands over runs: the repository in the working folder by default, all with --all-projects, and measured costs.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callEvents, envelope, runStart, writeRecord } from '../support/event-records.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'
import type { Json } from '../support/shim-client.ts'

interface Used {
  readonly input?: number
  readonly cached?: number
  readonly output?: number
  readonly usd?: number | null
  readonly saidAt?: string
}

/** A booking of usage; `total` is what the run has used with it. */
function usage(run: string, agent: string, { input = 0, cached = 0, output = 0, usd = 0, saidAt }: Used): Json {
  const tokens = { input, cached, cache_write: 0, cache_write_1h: 0, output, reasoning: 0 }
  const unpriced = usd === null ? ['some-model'] : []
  return {
    ...envelope('model_usage', run, 0, agent),
    ts: new Date().toISOString(),
    usage: {
      source: 'runtime',
      host: 'claude',
      host_version: null,
      host_session: null,
      is_subagent: false,
      message_id: 'm1',
      model: usd === null ? 'some-model' : 'claude-opus-5',
      said_at: saidAt ?? new Date().toISOString(),
      tokens,
      usd,
      is_correction: false,
      total: { messages: 1, tokens, usd: usd ?? 0, unpriced, unread: 0, prices: '2026-11-16' },
    },
  }
}

/** Two runs of this repository, one of another, and one that no host measured. */
function records() {
  const here = temporaryProject()
  const other = temporaryProject()
  const runsDir = join(here.home, '.local/state/heimdall/runs')
  mkdirSync(runsDir, { recursive: true, mode: 0o700 })
  const put = (run: string, agent: string, root: string, used?: Used): void => {
    const start = { ...runStart(run), agent_id: agent, workload: { repo_path: root } }
    const calls = callEvents(run, { callId: `call-${run}`, agent })
    writeRecord(runsDir, run, [start, ...calls, ...(used === undefined ? [] : [usage(run, agent, used)])])
  }
  put('a1', 'amber-otter', here.root, { input: 1_000, cached: 20_000, output: 300, usd: 0.5 })
  put('a2', 'amber-otter', here.root, { input: 10, output: 5, usd: 0.25, saidAt: '2026-10-01T00:00:00.000Z' })
  put('b1', 'blue-heron', here.root, { input: 7, output: 3, usd: null })
  put('c1', 'calm-lynx', here.root)
  put('far', 'far-wren', other.root, { input: 1, output: 1, usd: 9 })
  const data = async (...words: string[]): Promise<Json> => {
    const { stdout } = await here.run('heimdall', [...words, '--json'])
    return (JSON.parse(stdout) as Json)['data'] as Json
  }
  return { here, other, data }
}

const idsOf = (rows: unknown): string[] => (rows as Json[]).map(({ run_id: id }) => String(id)).toSorted()

test('runs and events show this repository, and all with a column that names each', async () => {
  const { here, other, data } = records()
  expect(idsOf((await data('runs', 'list'))['runs'])).toEqual(['a1', 'a2', 'b1', 'c1'])
  expect(idsOf((await data('events'))['calls'])).toEqual(['a1', 'a2', 'b1', 'c1'])
  for (const [words, key] of [
    [['runs', 'list'], 'runs'],
    [['events'], 'calls'],
  ] as const) {
    const rows = (await data(...words, '--all-projects'))[key] as Json[]
    expect(Object.fromEntries(rows.map(({ run_id: id, project }) => [String(id), project]))).toEqual({
      a1: here.root,
      a2: here.root,
      b1: here.root,
      c1: here.root,
      far: other.root,
    })
    const { stdout } = await here.run('heimdall', [...words, '--all-projects'])
    expect(stdout.split('\n')[0]).toMatch(/\tPROJECT$/)
  }
  // A run that is named is shown wherever it is from.
  expect(idsOf((await data('events', '--run', 'far'))['calls'])).toEqual(['far'])
  expect((await here.run('heimdall', ['events', 'tail'])).stdout).not.toContain('far-wren')
  expect((await here.run('heimdall', ['events', 'tail', '--all-projects'])).stdout).toContain('far-wren')
  expect((await here.run('sub', ['query'])).stdout).toContain('far')
})

test.each([
  [['--decision', 'DENY'], '--decision takes ALLOW, BLOCK, THROTTLE, REJECT_WITH_HINT, TERMINATE_RUN; got "DENY"'],
  [['--status', 'foo'], '--status takes OK, ERROR, TIMEOUT, CANCELLED, SUCCEEDED, FAILED, TERMINATED; got "foo"'],
  [['--type', 'x'], '--type takes all, tool_call, run_start'],
  [['--order', 'up'], '--order takes newest, oldest; got "up"'],
])('an unknown value is an error that lists the known ones: %j', async (flags, message) => {
  const { here } = records()
  const { code, stderr } = await here.run('heimdall', ['events', ...flags])
  expect(code).toBe(2)
  expect(stderr).toContain(message)
})

test('cost sums what was measured by agent, by run and by time, and says what was not', async () => {
  const { here, data } = records()
  const all = await data('cost')
  expect(all['rows']).toMatchObject([
    {
      agent_id: 'amber-otter',
      run_id: null,
      runs: 2,
      tokens_in: 1_010,
      tokens_cached: 20_000,
      tokens_out: 305,
      usd: 0.75,
    },
    { agent_id: 'blue-heron', tokens_in: 7, usd: 0, unpriced: ['some-model'] },
  ])
  expect(all['total']).toMatchObject({ runs: 3, tokens_in: 1_017, tokens_out: 308, usd: 0.75 })
  expect(all['unmeasured']).toEqual([{ run_id: 'c1', agent_id: 'calm-lynx' }])
  // The message of a2 was said weeks ago.
  expect(idsOf((await data('cost', 'amber-otter', '--today'))['rows'])).toEqual(['a1'])
  expect(idsOf((await data('cost', '--agent', 'amber-otter'))['rows'])).toEqual(['a1', 'a2'])
  expect((await data('cost', '--run', 'far'))['rows']).toMatchObject([{ run_id: 'far', usd: 9 }])
  expect((await data('cost', '--all-projects'))['total']).toMatchObject({ usd: 9.75 })
  const piped = await here.run('heimdall', ['cost'])
  expect(piped.stdout).toBe(
    'AGENT\tIN\tCACHED\tOUT\tUSD\namber-otter\t1010\t20000\t305\t0.7500\nblue-heron\t7\t0\t3\t0.0000\ntotal\t1017\t20000\t308\t0.7500\n',
  )
  expect(piped.stderr).toContain('not measured: 1 run of calm-lynx')
  expect(piped.stderr).toContain('no price, tokens only: some-model')
  for (const [words, code] of [
    [['nosuch'], 3],
    [['--run', 'nosuch'], 3],
    [['--since', 'yesterday'], 2],
    [['--today', '--since', '1d'], 2],
    [['amber-otter', '--agent', 'blue-heron'], 2],
  ] as const)
    expect((await here.run('heimdall', ['cost', ...words])).code, words.join(' ')).toBe(code)
})

test.each([80, 40])('cost fits a terminal of %i columns', async (cols) => {
  const { here } = records()
  const words = [...launcher('heimdall'), 'cost', '--all-projects'].map((word) => `'${word}'`).join(' ')
  const terminal = ownTerminal(['sh', '-c', `stty cols ${cols}; exec ${words}`], { cwd: here.root, env: here.env })
  await terminal.ended
  // oxlint-disable-next-line no-control-regex -- colours
  const lines = terminal
    .written()
    .replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '')
    .split(/\r?\n/)
  expect(lines.slice(0, 5).filter((line) => line.length > cols)).toEqual([])
  expect(lines.join('\n')).toMatch(/total .*\$9\.75/)
})
