// Whatever lay below the folder of runs counted as a run: prune deleted it, a look wrote into it, a stray file broke every
// command. Now a run is a real folder with a record of its own, and everything else is named and left alone.
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
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
import { runLauncher } from '../support/in-process.ts'
import { temporaryFolder } from '../support/project.ts'
import { type Json, runFolders, runsDir, startShim } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

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
  rmSync(join(runsDir(home), 'torn', 'books.json'))
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
