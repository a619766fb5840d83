// What changed since the run began, since a time and since a commit: committed or not, without what was there before, and with a word on what it rests on.
import { expect, test } from 'vitest'
import type { ChangesReply, RunChangesReply, RunsReply } from '../../src/hub/contract.ts'
import { spine } from '../spine/spine.ts'
import { startHub } from '../support/hub.ts'
import { until } from '../support/wait.ts'

test('changes are told since then: commits by the reflog, other files by when they were touched', async () => {
  const project = spine()
  for (const name of ['committed', 'edited', 'old']) project.write(`src/${name}.ts`, 'one\n')
  project.git('add', '-A')
  project.git('commit', '--quiet', '--message=first')
  // Not committed, and nobody's work in the run.
  project.write('src/old.ts', 'before\n')
  project.write('src/older.ts', 'new before\n')
  await project.detached('amber-otter', ['sleep', '1000'])
  await project.detached('brave-heron', ['sleep', '1000'])
  const hub = await startHub(project)
  const browser = await hub.browser()
  const changes = (query = ''): Promise<ChangesReply> => browser.get(`/api/agents/amber-otter/changes${query}`)
  const files = ({ files: shown }: ChangesReply): string[] => shown.map(({ path }) => path).toSorted()
  const none = await changes()
  expect(none).toMatchObject({ files: [], older: 2, basis: 'noted', since: none.run_began, also_here: ['brave-heron'] })

  // Git knows seconds.
  await until('another second', () => Date.now() > Date.parse(none.at) + 1_000)
  project.write('src/committed.ts', 'two\n')
  project.git('add', 'src/committed.ts')
  project.git('commit', '--quiet', '--message=second')
  project.write('src/edited.ts', 'two\n')
  project.write('src/new.ts', 'two\n')
  const all = await changes()
  expect(files(all)).toEqual(['src/committed.ts', 'src/edited.ts', 'src/new.ts'])
  expect(all.base).toBe(project.git('rev-parse', 'HEAD~1').trim())

  project.write('src/last.ts', 'three\n')
  const later = await changes(`?since=${all.at}&path=src/last.ts`)
  expect(later).toMatchObject({ since: all.at, basis: 'reflog', older: 4, diff: expect.stringContaining('+three') })
  expect(files(later)).toEqual(['src/last.ts'])

  const commit = await changes('?since=HEAD~1')
  expect(commit).toMatchObject({ basis: 'named', since: null, older: 0, base: all.base })
  expect(files(commit)).toEqual(['committed', 'edited', 'last', 'new', 'old', 'older'].map((name) => `src/${name}.ts`))
  // Before there was anything.
  const ever = await changes('?since=2001-01-01T00:00:00Z')
  expect(ever).toMatchObject({ basis: 'history', older: 0 })
  expect(files(ever)).toEqual(files(commit))

  // A run that is over keeps its changes, those that it committed too.
  await project.run('hm', ['kill', 'amber-otter'])
  await until('the run to be closed', () => project.sheets().length === 1)
  const over = await changes()
  expect(over).toMatchObject({ basis: 'noted', base: all.base, since: none.run_began })
  expect(files(over)).toEqual(['committed', 'edited', 'last', 'new'].map((name) => `src/${name}.ts`))
  // And what was noted when it ended, whatever becomes of the files.
  project.write('src/committed.ts', 'later\n')
  const { runs } = await browser.get<RunsReply>('/api/runs')
  const run = runs.find(({ agent_id: id }) => id === 'amber-otter')?.run_id ?? ''
  const noted = await browser.get<RunChangesReply>(`/api/runs/${run}/changes?path=src/committed.ts`)
  expect(noted.diff).toContain('-one\n+two')
  expect(noted.noted).toMatchObject({ commit_before: all.base, commits: 1, total: 4 })
  const lines = noted.noted?.files.map(({ path, added, is_committed: is }) => [path, added, is]).toSorted()
  expect(lines).toEqual([
    ['src/committed.ts', 1, true],
    ['src/edited.ts', null, false],
    ['src/last.ts', null, false],
    ['src/new.ts', null, false],
  ])
  for (const wrong of ['nowhere', '--output=x', '2026-99-99T00:00:00Z', ''])
    await expect(changes(`?since=${encodeURIComponent(wrong)}`)).rejects.toThrow(/: 400 .*SINCE_UNKNOWN/)
})
