// A repository that is removed or moved away under a run: nobody makes it anew, and the run is closed all the same.
import { existsSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openCoordination } from '../../src/coordination/coordination.ts'
import { leaveTrail, markWait, markWatched } from '../../src/coordination/trail.ts'
import { isErrno } from '../../src/errors.ts'
import { findProject, type Project } from '../../src/paths.ts'
import { ofType } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { isClosedOnce, spine, type Spine } from './spine.ts'

const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`
/** Holds a claim, prints something, and ends, each when a file appears: a command that was used instead might close the run itself. */
const HOLDS =
  'heimdall claim src/api --task T-1 >/dev/null; echo ready; cd /; ' +
  'until [ -e "$HOME/print" ]; do sleep 0.05; done; echo more; until [ -e "$HOME/end" ]; do sleep 0.05; done; exit 0'

const openIn = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => readlinkIfOpen(`/proc/${pid}/fd/${fd}`))

function readlinkIfOpen(path: string): string[] {
  try {
    return [readlinkSync(path)]
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

async function started(project: Spine, storeDir = '.git/heimdall'): Promise<string> {
  const { run_id: run } = await project.json(['run', '--agent', 'amber-otter', '--detach', '--', 'sh', '-c', HOLDS], {
    env: { PATH },
  })
  await until('the claim', async () => (await project.run('hm', ['logs', 'amber-otter'])).stdout.includes('ready'))
  // Before, the watcher has no folder open by which it could tell where the repository went.
  const watcher = await project.watcher()
  const store = project.path(storeDir, 'coordination.db-wal')
  await until('the watcher to have the store open', () => openIn(watcher).includes(store))
  return String(run)
}

const tell = (project: Spine, what: 'print' | 'end'): void => writeFileSync(join(project.home, what), '')

async function isClosed(project: Spine, run: string, noted?: string): Promise<void> {
  await until('the run to be closed', () => project.sheets().length === 0)
  expect(isClosedOnce(project.events(run))).toBe(true)
  expect(ofType(project.events(run), 'run_end')[0]).toMatchObject({ run: { status: 'SUCCEEDED' } })
  if (noted !== undefined) {
    const log = readFileSync(join(project.home, '.local/state/heimdall/runs', run, 'watcher.log'), 'utf8')
    expect(log).toContain(`${project.root} ${noted}`)
  }
  await until('nothing of it to run', () => project.processes().length === 0)
}

test.each(['the watcher sees it', 'the watcher was killed as well'])('removed: %s', async (way) => {
  const project = spine()
  const run = await started(project)
  // Out of the way of those who write to it first, so that nothing is added while it is removed.
  const removed = join(project.home, 'removed')
  renameSync(project.root, removed)
  rmSync(removed, { recursive: true })
  tell(project, 'print')
  const isKilled = way !== 'the watcher sees it'
  if (isKilled) process.kill(await project.watcher(), 'SIGKILL')
  tell(project, 'end')
  await isClosed(project, run, isKilled ? undefined : 'was removed under the run')
  expect(existsSync(project.root)).toBe(false)
})

/** Everything that a process of ours creates in the store's folder, by a process that found the repository before it was removed. */
const CREATES: Readonly<Record<string, (project: Project) => unknown>> = {
  'the mark of a write watch': (project) => markWatched(project, TREE, TREE),
  'a line of a hook': (project) => leaveTrail(project, TREE, { at: 0, event: 'stop', host: 'claude' }),
  'the mark of a wait': (project) => markWait(project, TREE, '{}'),
  'the store': (project) => openCoordination({ project, env: {}, clock: systemClock }),
}
const TREE = 'boot/1 1'

test.each(Object.keys(CREATES))('removed: %s does not create it again', (what) => {
  const project = spine()
  const found = findProject(project.root, {})
  rmSync(project.root, { recursive: true })
  try {
    CREATES[what]?.(found)
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) expect(error).toMatchObject({ code: 'FOLDER_GONE' })
  }
  expect(existsSync(project.root)).toBe(false)
})

test('moved away: nothing appears in the old place, and in the new one nothing is held', async () => {
  const project = spine()
  const run = await started(project)
  const moved = `${project.root}-moved`
  renameSync(project.root, moved)
  const check = () => project.run('heimdall', ['claim', 'check', 'src/api'], { cwd: moved })
  expect((await check()).code).toBe(5)
  tell(project, 'print')
  tell(project, 'end')
  await isClosed(project, run, `was moved to ${moved} under the run`)
  expect(existsSync(project.root)).toBe(false)
  expect(await check()).toMatchObject({ code: 0, stdout: expect.stringContaining('clear') })
})

test('git init under a run: commands move its store, its claims are kept and released, and no second store appears', async () => {
  const project = spine({ git: false })
  const [old, moved] = [project.path('.planning/.heimdall'), project.path('.git/heimdall')]
  const run = await started(project, '.planning/.heimdall')
  project.git('init', '--quiet')
  expect(await project.claims()).toMatchObject([{ claimed_surfaces: ['src/api'] }])
  expect([existsSync(old), existsSync(moved)]).toEqual([true, false])
  expect((await project.run('heimdall', ['claim', 'docs', '--task', 'T-2'])).code).toBe(0)
  expect([existsSync(old), existsSync(moved)]).toEqual([false, true])
  expect(await project.json(['status'])).toMatchObject({
    agents: expect.arrayContaining([expect.objectContaining({ agent_id: 'amber-otter', run_id: run })]),
  })
  tell(project, 'print')
  tell(project, 'end')
  await isClosed(project, run)
  expect(await project.claims()).toMatchObject([{ claimed_surfaces: ['docs'] }])
  expect([existsSync(old), existsSync(moved)]).toEqual([false, true])
})
