// heimdall runs: what is listed, shown and followed, and what is pruned; a run that goes on is never touched.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { temporaryFolder } from '../support/project.ts'
import {
  bundle,
  checkBooks,
  deny,
  eventsOfRun,
  type Json,
  runFolders,
  runsDir,
  type ShimClient,
  startShim,
  tool,
} from '../support/shim-client.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'

const DAY_MS = 86_400_000

const shimOf = (home: string, id: string, env: Record<string, string> = {}): ShimClient =>
  startShim({
    policy: bundle([deny('no-mail', tool('mail'))]),
    bin: 'heimdall',
    home,
    env: { SUB_RUN_ID: id, SUB_AGENT_ID: `agent-of-${id}`, ...env },
  })

async function ended(home: string, id: string, env: Record<string, string> = {}): Promise<void> {
  const shim = shimOf(home, id, env)
  await shim.call('echo')
  await shim.call('mail')
  await shim.end()
}

async function runs(home: string, ...words: string[]): Promise<Json> {
  const { stdout, code } = await runLauncher('heimdall', ['runs', ...words, '--json'], {
    env: { HOME: home },
    cwd: home,
  })
  return { code, ...(JSON.parse(stdout) as Json) }
}

/** As if nothing had happened in the run for so many days. */
function age(home: string, id: string, days: number): void {
  const then = new Date(Date.now() - days * DAY_MS).toISOString()
  const path = join(runsDir(home), id, 'events.jsonl')
  // In place and of the same length: a shim may have the record open, and has counted its bytes.
  const fd = openSync(path, 'r+')
  writeSync(fd, readFileSync(path, 'utf8').replaceAll(/"ts":"[^"]{24}"/g, `"ts":"${then}"`), 0)
  closeSync(fd)
}

test('list and show say who, how it went and how much room it takes', async () => {
  const home = temporaryFolder()
  expect((await runs(home, 'list'))['data']).toEqual({ runs: [], total: 0, foreign: [] })
  await ended(home, 'one', { HEIMDALL_HAID: 'haid:a.b/c', HEIMDALL_SESSION_ID: 'term' })
  const two = shimOf(home, 'two')
  await two.call('echo')
  const { data } = await runs(home, 'list')
  expect(data).toMatchObject({
    total: 2,
    runs: [
      { run_id: 'two', state: 'open', members: 1 },
      {
        run_id: 'one',
        state: 'ended',
        status: 'SUCCEEDED',
        segment: 1,
        agent_id: 'agent-of-one',
        haid: 'haid:a.b/c',
        session_id: 'term',
        calls: { total: 2, allowed: 1, blocked: 1, throttled: 0, errors: 1 },
        members: 0,
      },
    ],
  })
  expect((await runs(home, 'list', '--open'))['data'].runs).toMatchObject([{ run_id: 'two' }])
  expect((await runs(home, 'list', '--limit', '1'))['data'].runs.length).toBe(1)
  const shown = await runs(home, 'show', 'one')
  expect(shown['data']).toMatchObject({ run: { run_id: 'one' }, record: join(runsDir(home), 'one', 'events.jsonl') })
  expect(await runs(home, 'show', 'nobody')).toMatchObject({ code: 3, error: { code: 'RUN_NOT_FOUND' } })
  // A checkpoint that is torn is not used.
  writeFileSync(join(runsDir(home), 'one', 'checkpoint.json'), 'torn')
  expect((await runs(home, 'show', 'one'))['data'].run).toMatchObject({
    state: 'ended',
    calls: { total: 2, blocked: 1 },
  })
  await two.end()
})

test('prune by age and by size; never a run that goes on, however old', async () => {
  const home = temporaryFolder()
  for (const id of ['old', 'older', 'young']) await ended(home, id)
  const live = shimOf(home, 'live')
  await live.call('echo')
  age(home, 'old', 40)
  age(home, 'older', 50)
  age(home, 'live', 60)
  const dry = await runs(home, 'prune', '--older-than', '30d', '--dry-run')
  expect(dry['data']).toMatchObject({ dry_run: true, removed: [{ folder: 'older' }, { folder: 'old' }] })
  expect(runFolders(home).length).toBe(4)
  expect((await runs(home, 'prune', '--older-than', '45d'))['data'].removed).toMatchObject([{ folder: 'older' }])
  expect(runFolders(home).toSorted()).toEqual(['live', 'old', 'young'])
  // 0 would mean no bound to one reader and no runs to the other.
  expect((await runs(home, 'prune', '--older-than', '60d', '--keep-mib', '0'))['error']).toMatchObject({
    code: 'USAGE',
  })
  expect((await runs(home, 'prune', '--older-than', '0s'))['data']).toMatchObject({
    removed: [{ folder: 'old' }, { folder: 'young' }],
    problems: [],
  })
  expect(runFolders(home)).toEqual(['live'])
  expect(readdirSync(runsDir(home)).filter((name) => name.startsWith('.leaving'))).toEqual([])
  // Nobody in it has noticed anything.
  expect(await live.call('echo')).toHaveProperty('result')
  await live.end()
  expect(checkBooks(eventsOfRun(home, 'live'))).toEqual([])
})

test('the settings hold without flags, and a shim that passes by prunes by them', async () => {
  const home = temporaryFolder()
  await ended(home, 'old')
  await ended(home, 'young')
  age(home, 'old', 8)
  expect((await runs(home, 'prune', '--dry-run'))['data'].removed).toEqual([])
  // One of the shims above may have lived long enough to look.
  rmSync(join(runsDir(home), '.pruned-at'), { force: true })
  const shim = shimOf(home, 'passing', { HEIMDALL_RUNS_KEEP_DAYS: '7' })
  await shim.call('echo')
  await until('the old run to be gone', () => !existsSync(join(runsDir(home), 'old')))
  await shim.end()
  expect(runFolders(home).toSorted()).toEqual(['passing', 'young'])
})

test('an id that was pruned begins anew, also for a shim that comes at the same moment', async () => {
  const home = temporaryFolder()
  await ended(home, 'r')
  for (let round = 0; round < scaled(1, 50); round += 1) {
    const pruning = runs(home, 'prune', '--older-than', '0s')
    const shim = shimOf(home, 'r')
    await shim.call('echo')
    await pruning
    await shim.call('echo')
    await shim.end()
    const events = eventsOfRun(home, 'r')
    // Its own segment stands whole in the record, whatever became of those before.
    const from = events.map(({ type }) => type as string).lastIndexOf('run_start')
    const before = events.slice(0, from).filter(({ type }) => type === 'tool_call_start').length
    expect(checkBooks(events.slice(from), before)).toEqual([])
  }
})

test('what a killed prune left on its way out goes the next time', async () => {
  const home = temporaryFolder()
  mkdirSync(join(runsDir(home), '.leaving-1-x', 'members'), { recursive: true })
  await runs(home, 'prune')
  expect(readdirSync(runsDir(home)).filter((name) => name.startsWith('.leaving'))).toEqual([])
})
