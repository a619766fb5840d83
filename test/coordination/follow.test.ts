// Following across processes: nothing missed and nothing twice, whoever is killed; and how seldom it looks when nothing happens.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { CommitWatch } from '../../src/coordination/sqlite/commit-watch.ts'
import { openSqliteStore } from '../../src/coordination/sqlite/open-store.ts'
import type { Store } from '../../src/coordination/store.ts'
import { systemClock } from '../../src/clock.ts'
import { createIdSource } from '../../src/id-source.ts'
import { FOLLOW_LOOK_MS } from '../../src/limits.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { fixture, type Program, startProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { withSeed } from '../support/seed.ts'
import { until } from '../support/wait.ts'
import { enter, openRoom } from './room.ts'
import { entriesOf } from './store-conformance.ts'

const worker = (...words: (string | number)[]): Program =>
  startProgram([...fixture('entry-worker'), ...words.map(String)])

function open(path: string): Store {
  const store = openSqliteStore(path, { clock: systemClock, newId: createIdSource(systemClock) })
  onTestFinished(() => store.close())
  return store
}

/** Whole lines only: what was said when the signal came is not known to have been said. */
const seen = (program: Program): number[] =>
  program
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(line.slice('entry '.length)))

test(`a follower that is killed and started again sees each of ${scaled(1_500, 100_000)} entries once`, async () => {
  const path = join(temporaryFolder(), 'coordination.db')
  open(path)
  const total = scaled(1_500, 100_000)
  await withSeed(async (random) => {
    const writers = ['a', 'b', 'c'].map((name) => worker('write', path, name, total / 3))
    const all: number[] = []
    while (all.length < total) {
      const follower = worker('follow', path, all.length)
      const wanted = Math.min(total - all.length, 1 + Math.floor((random() * total) / 8))
      await until(`${wanted} more entries`, () => seen(follower).length >= wanted, {
        waitMs: scaled(110_000, 1_800_000),
      })
      follower.kill('SIGKILL')
      await follower.ended
      all.push(...seen(follower))
    }
    expect(all).toEqual(Array.from({ length: total }, (_, i) => i + 1))
    for (const { code } of await Promise.all(writers.map(({ ended }) => ended))) expect(code).toBe(0)
  })
})

test('a process that is killed between its decision and the commit has changed nothing', async () => {
  const path = join(temporaryFolder(), 'coordination.db')
  const store = open(path)
  await store.change((rows) => rows.putSetting('k', '1'))
  expect((await worker('die', path, 'k').ended).signal).toBe('SIGKILL')
  expect(store.read((rows) => [rows.head(), rows.setting('k')])).toEqual([1, '1'])
  await store.change((rows) => rows.putSetting('k', '2'))
  expect(await entriesOf(store, 0, 2)).toMatchObject([{ seq: 1 }, { seq: 2, puts: [{ row: { value: '2' } }] }])
})

test('what was committed by one that was killed before its export is exported by the next, once', async () => {
  const project = temporaryProject()
  const room = openRoom({ project, clock: systemClock })
  // Committed, and then nothing more: as far as one gets that is killed here.
  await enter(room, 'amber-otter')
  await enter(room, 'cobalt-harbor')
  for (const name of ['dusky-lynx', 'jade-heron'])
    expect((await project.run('bb', ['agent', 'register', '--name', name, '--role', 'ui'])).code).toBe(0)
  const written = project
    .read('.planning/ledger/events.jsonl')
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { id: string }).id)
  expect(written).toEqual(room.store.read((rows) => rows.events({})).map(({ id }) => id))
})

test('while nothing happens, it looks twice a second and no more often; a file that changes is looked at without waiting', async () => {
  const clock = fakeClock()
  const folder = temporaryFolder()
  let looks = 0
  let head = 0
  let heard = 0
  const commits = new CommitWatch({ path: join(folder, 'coordination.db'), clock, head: () => ((looks += 1), head) })
  onTestFinished(commits.listen(() => (heard += 1)))
  await clock.advanceAsync(20 * FOLLOW_LOOK_MS)
  expect(looks).toBeLessThanOrEqual(21)
  // The file is written before the commit can be read: the first look finds nothing, and one of the next ones does.
  const before = looks
  writeFileSync(join(folder, 'coordination.db-wal'), 'x')
  await until('a look after the write', () => looks > before)
  expect(heard).toBe(0)
  head = 1
  await clock.advanceAsync(20)
  expect(heard).toBe(1)
})

test('where the system tells nothing, a commit is found by the slow look', async () => {
  const clock = fakeClock()
  let head = 0
  let heard = 0
  const path = join(temporaryFolder(), 'no', 'such', 'folder', 'coordination.db')
  onTestFinished(new CommitWatch({ path, clock, head: () => head }).listen(() => (heard += 1)))
  head = 1
  await clock.advanceAsync(FOLLOW_LOOK_MS)
  expect(heard).toBe(1)
})
