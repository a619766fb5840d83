// The watcher: one process for all runs of a state folder, replaced when it is killed, taken over by a newer version, and stopped by nothing that is wrong with one run.
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openCoordinationToRead } from '../../src/coordination/coordination.ts'
import { processRef } from '../../src/coordination/who/process-ref.ts'
import { findProject } from '../../src/paths.ts'
import { watchAll } from '../../src/spine/watcher.ts'
import { tryLock, unlock } from '../../src/storage/kernel-lock.ts'
import { onTestFinished } from '../support/cleanup.ts'
import { fakeClock, type FakeClock } from '../support/fake-clock.ts'
import { isRunning, launcher, procFile, runProgram, waitForDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { EMPTY_REPOSITORY } from '../support/repository.ts'
import { type Json, ofType } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { isClosedOnce, isWatcher, spine, type Spine } from './spine.ts'

const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`
const READS = ['sh', '-c', 'read line']
const folderOf = (project: Spine): string => join(project.home, '.local/state/heimdall/watcher')

const watchers = (project: Spine): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isWatcher(pid) && procFile(pid, 'cmdline').includes(project.home) && isRunning(pid))

async function onDoctor(project: Spine): Promise<Json> {
  const { checks } = await project.json(['doctor'])
  return (checks as Json[]).find(({ check }) => check === 'watcher') ?? {}
}

test('one process follows the runs of all projects and socket folders; it is in no folder, and knows no secret and no run', async () => {
  const project = spine()
  const other = join(project.home, 'other')
  cpSync(EMPTY_REPOSITORY, join(other, '.git'), { recursive: true })
  const env = { SUB_ENV: 'ci', ANTHROPIC_API_KEY: 'sk-ant-1', GITHUB_TOKEN: 'x' }
  const first = await project.detached('amber-otter', READS, [], { env })
  const second = await project.detached('brisk-heron', READS, ['--socket-dir', join(project.home, 's')], {
    cwd: other,
    env,
  })
  for (const { run_id: run } of [first, second]) await project.watched(String(run))
  // Of two that were started at once, one stays.
  const [watcher = 0] = await until('one watcher', () => watchers(project).length === 1 && watchers(project))
  expect(readlinkSync(`/proc/${watcher}/cwd`)).toBe('/')
  expect(procFile(watcher, 'environ')).not.toMatch(/(^|\0)(SUB_|ANTHROPIC|GITHUB|HEIMDALL_SE|HEIMDALL_AGENT)/)
  expect(await onDoctor(project)).toMatchObject({
    state: 'ok',
    found: expect.stringContaining(`process ${watcher}`) as string,
  })
  // Another one of the same version finds that it is not needed.
  const command: [string, string] = [process.execPath, resolve('dist/watcher.cjs')]
  expect(await runProgram([...command, folderOf(project)], { env: project.env })).toMatchObject({ code: 0 })
  expect(watchers(project)).toEqual([watcher])
})

test('killed with the supervisor of one run, while another goes on: a new watcher ends what is left and closes the run', async () => {
  const project = spine()
  const stubborn = `trap '' HUP TERM; heimdall claim src/api >/dev/null; echo ready; while :; do sleep 1000; done`
  await project.detached('brisk-heron', READS)
  const lost = await project.detached('amber-otter', ['sh', '-c', stubborn], [], { env: { PATH } })
  await until('the claim', async () => (await project.run('hm', ['logs', 'amber-otter'])).stdout.includes('ready'))
  await project.watched(String(lost['run_id']))
  const watcher = await project.watcher()
  const killedMs = performance.now()
  process.kill(watcher, 'SIGKILL')
  process.kill(Number(lost['supervisor_pid']), 'SIGKILL')
  await waitForDeath(Number(lost['pid']))
  // Five seconds, and as much again for a machine that is busy with other tests.
  expect(performance.now() - killedMs).toBeLessThan(10_000)
  await until('the run to be closed', () => project.sheets().length === 1)
  const events = project.events(String(lost['run_id']))
  expect(isClosedOnce(events)).toBe(true)
  expect(ofType(events, 'session_end')[0]).toMatchObject({
    session: { reason: 'lost', ended_by: expect.stringMatching(/^the watcher \(process \d+\)$/) as string },
  })
  expect(await project.claims()).toEqual([])
  expect(await project.watcher()).not.toBe(watcher)
})

test('a session that was renamed while no watcher ran is followed under its new name', async () => {
  const project = spine()
  const { run_id: run } = await project.detached('amber-otter', READS)
  await project.watched(String(run))
  const watcher = await project.watcher()
  // Stopped it is the watcher still, and hears of nothing.
  process.kill(watcher, 'SIGSTOP')
  expect((await project.run('hm', ['rename', 'amber-otter', 'plum-kite'])).code).toBe(0)
  process.kill(watcher, 'SIGKILL')
  await waitForDeath(watcher)
  await until('a new watcher', () => watchers(project).length === 1)
  await until('the new name', () => project.sheets().some((sheet) => (sheet['session'] as Json)['id'] === 'plum-kite'))
  await project.run('hm', ['send', 'plum-kite', 'go', '--enter'])
  await until('the run to be closed', () => project.sheets().length === 0)
  expect(ofType(project.events(String(run)), 'run_end')[0]).toMatchObject({ run: { status: 'SUCCEEDED' } })
})

test('a session that ends while the watcher is stopped is closed when it goes on', async () => {
  const project = spine()
  const { run_id: run } = await project.detached('amber-otter', READS)
  await project.watched(String(run))
  const watcher = await project.watcher()
  process.kill(watcher, 'SIGSTOP')
  await project.run('hm', ['send', 'amber-otter', 'go', '--enter'])
  await until('the session to end', () => project.processes().length === 0)
  expect(project.sheets()).toHaveLength(1)
  process.kill(watcher, 'SIGCONT')
  await until('the run to be closed', () => project.sheets().length === 0)
  expect(ofType(project.events(String(run)), 'run_end')[0]).toMatchObject({ run: { status: 'SUCCEEDED' } })
  expect(await project.watcher()).toBe(watcher)
})

/** What is wrong with a state file, and its text. */
const DAMAGED: readonly (readonly [string, string])[] = [
  ['cut off', '{"v":1,"session":'],
  ['nothing', 'null'],
  ['hollow', '{"v":1,"session":{},"agent":{}}'],
]

test.each(DAMAGED)('a run whose files are %s is set aside with its error, and the others go on', async (_, text) => {
  const project = spine()
  const good = await project.detached('brisk-heron', READS)
  await project.watched(String(good['run_id']))
  const watcher = await project.watcher()
  const damaged = join(project.home, '.local/state/heimdall/runs/.kept/01J00000000000000000000000.json')
  writeFileSync(damaged, text, { mode: 0o600 })
  await until('doctor to name it', async () => (await onDoctor(project))['state'] === 'warn')
  expect((await onDoctor(project))['found']).toContain('01J00000000000000000000000')
  await project.run('hm', ['send', 'brisk-heron', 'go', '--enter'])
  await until('the other to be closed', () => readdirSync(join(damaged, '..')).length === 1)
  rmSync(damaged)
  await until('doctor to be content', async () => (await onDoctor(project))['state'] === 'ok')
  expect(await project.watcher()).toBe(watcher)
})

/** Nobody else writes to the store until what is returned is called. */
function locked(path: string): () => void {
  const db = new DatabaseSync(path)
  db.exec('BEGIN IMMEDIATE')
  let isOver = false
  const unlock = (): void => {
    if (!isOver) db.close()
    isOver = true
  }
  onTestFinished(unlock)
  return unlock
}

test('a run of another pid namespace is left alone while that namespace has a watcher, or the run is young', async () => {
  const project = spine()
  const run = await project.detached('amber-otter', READS)
  await project.watched(String(run['run_id']))
  const pids = project.processes()
  for (const pid of [...watchers(project), ...pids]) process.kill(pid, 'SIGKILL')
  await Promise.all(pids.map((pid) => waitForDeath(pid)))
  const sheet = join(project.home, `.local/state/heimdall/runs/.kept/${String(run['run_id'])}.json`)
  const state = JSON.parse(readFileSync(sheet, 'utf8')) as Json & { place: Json }
  writeFileSync(sheet, JSON.stringify({ ...state, place: { ...state.place, namespace: '1' } }))
  const lock = openSync(join(folderOf(project), 'watcher1.lock'), 'a+', 0o600)
  tryLock(lock)
  // Once another run was followed to its end, the watcher has seen this one.
  const isLeftAlone = async (): Promise<boolean> => {
    expect((await project.run('heimdall', ['run', '--', 'true'])).code).toBe(0)
    await until('the other run to be closed', () => readdirSync(join(sheet, '..')).length === 1)
    return existsSync(sheet)
  }
  expect(await isLeftAlone()).toBe(true)
  const before = new Date(Date.now() - 60_000)
  utimesSync(sheet, before, before)
  expect(await isLeftAlone()).toBe(true)
  unlock(lock)
  closeSync(lock)
  await until('the run that was left behind to be closed', () => !existsSync(sheet))
})

test('a store that is locked holds up the runs of its own project alone, and they end when it is free', async () => {
  const project = spine()
  const other = join(project.home, 'other')
  cpSync(EMPTY_REPOSITORY, join(other, '.git'), { recursive: true })
  const held = String((await project.detached('amber-otter', READS))['run_id'])
  const free = String((await project.detached('brisk-heron', READS, [], { cwd: other }))['run_id'])
  for (const run of [held, free]) await project.watched(run)
  const unlock = locked(project.path('.git/heimdall/coordination.db'))
  const startMs = performance.now()
  await project.run('hm', ['send', 'amber-otter', 'go', '--enter'])
  // What the run held is released next.
  await until('its end to be recorded', () => ofType(project.events(held), 'session_end').length === 1)
  await project.run('hm', ['send', 'brisk-heron', 'go', '--enter'])
  await until('the other to be closed', () => isClosedOnce(project.events(free)))
  // A command waits for a locked store for ten seconds.
  expect(performance.now() - startMs).toBeLessThan(9_000)
  expect(ofType(project.events(held), 'run_end')).toEqual([])
  unlock()
  await until('both to be closed', () => project.sheets().length === 0)
  expect(isClosedOnce(project.events(held))).toBe(true)
})

test('an agent whose store was locked at its start is bound to its command when it is free', async () => {
  const project = spine()
  await project.detached('brisk-heron', READS)
  const watcher = await project.watcher()
  process.kill(watcher, 'SIGSTOP')
  const { run_id: run, pid } = await project.detached('amber-otter', READS)
  const child = processRef(Number(pid))
  const unlock = locked(project.path('.git/heimdall/coordination.db'))
  process.kill(watcher, 'SIGCONT')
  await project.watched(String(run))
  const boundTo = (): unknown => {
    const room = openCoordinationToRead({
      project: findProject(project.root, project.env),
      env: project.env,
      clock: systemClock,
    })
    try {
      const agent = room?.store.read((rows) => rows.agents()).find(({ agentId }) => agentId === 'amber-otter')
      return agent?.runtime.process
    } finally {
      room?.store.close()
    }
  }
  expect(boundTo()).not.toBe(child)
  unlock()
  await until('the agent to be bound', () => boundTo() === child)
})

/** The package with another version. */
function copyOf(project: Spine, version: string): string {
  const copy = join(project.home, `heimdall-${version}`)
  mkdirSync(copy)
  const root = join(launcher('heimdall')[1], '../..')
  for (const name of ['bin', 'dist', 'package.json']) cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const { version: own } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  for (const name of readdirSync(join(copy, 'dist'), { recursive: true, encoding: 'utf8' })) {
    const path = join(copy, 'dist', name)
    if (name.endsWith('.cjs')) writeFileSync(path, readFileSync(path, 'utf8').replaceAll(own, version))
  }
  return join(copy, 'bin/heimdall')
}

test('a newer version takes over from an older one, and the runs of both go on to one end', async () => {
  const project = spine()
  const { run_id: old } = await project.detached('amber-otter', READS)
  await project.watched(String(old))
  const before = await project.watcher()
  const start = ['run', '--agent', 'brisk-heron', '--detach', '--', ...READS]
  const newer = copyOf(project, '99.0.0')
  const { code, stderr } = await runProgram([process.execPath, newer, ...start], {
    cwd: project.root,
    env: project.env,
  })
  expect(code, stderr).toBe(0)
  await waitForDeath(before)
  const after = await project.watcher()
  expect(procFile(after, 'cmdline')).toContain('heimdall-99.0.0')
  // One of the old version leaves it in peace.
  await project.detached('plum-kite', READS)
  for (const agent of ['amber-otter', 'brisk-heron', 'plum-kite'])
    await project.run('hm', ['send', agent, 'x', '--enter'])
  await until('all to be closed', () => project.sheets().length === 0)
  for (const run of project.runs()) expect(isClosedOnce(project.events(run))).toBe(true)
  expect(watchers(project)).toEqual([after])
})

test('started inside a session, it survives the end of that session', async () => {
  const project = spine()
  const inner = 'heimdall run --agent amber-otter --detach -- sleep 1000; echo started; read line'
  await project.run('hm', ['run', '--id', 'outer', '--detach', '--', 'sh', '-c', inner], { env: { PATH } })
  const watcher = await project.watcher()
  await until('the inner run', () => project.sheets().length === 1)
  expect((await project.run('hm', ['kill', 'outer', '--wait'])).code).toBe(0)
  expect(isRunning(watcher)).toBe(true)
  expect(project.sheets()).toHaveLength(1)
})

test('it ends when its state folder is removed, and three minutes after the last run', async () => {
  const clock = fakeClock()
  const home = temporaryFolder()
  const begin = (): { over: Promise<void>; path: string } => {
    const folder = join(home, 'watcher')
    mkdirSync(folder, { recursive: true })
    mkdirSync(join(home, 'runs'), { recursive: true })
    const parts = { folder, runsDir: join(home, 'runs'), env: {}, clock, note: () => undefined }
    return { over: watchAll({ ...parts, signal: new AbortController().signal }), path: folder }
  }
  const idle = begin()
  let isOver = false
  void idle.over.then(() => (isOver = true))
  await passing(clock, 170_000)
  expect(isOver).toBe(false)
  await passing(clock, 20_000)
  await idle.over
  expect(readdirSync(idle.path).filter((name) => name.endsWith('.json'))).toEqual([])

  const removed = begin()
  await passing(clock, 5_000)
  rmSync(home, { recursive: true })
  await passing(clock, 5_000)
  await removed.over
})

/** A second at a time: what waits for the one is then done before the next. */
async function passing(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    clock.advance(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
