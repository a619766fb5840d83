// Each process of a run killed in turn with SIGKILL, and all at once: no orphan, nothing to clean up by hand, books right.
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { fixture, waitForDeath } from '../support/programs.ts'
import { checkBooks, type Json, ofType } from '../support/shim-client.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'
import { isClosedOnce, isOurs, isShim, isUpstream, spine, type Spine } from './spine.ts'

const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`
/** Holds a claim, and does not care when its terminal goes. */
const STUBBORN = `trap '' HUP TERM; heimdall claim src/api --task T-1 >/dev/null; echo ready; while :; do sleep 1; done`
/** The same, and ends when it is told to. */
const OBEDIENT = 'heimdall claim src/api --task T-1 >/dev/null; echo ready; read line; exit 0'

async function started(project: Spine, script: string): Promise<{ run: string; supervisor: number }> {
  const { run_id: run, supervisor_pid: supervisor } = await project.json(
    ['run', '--agent', 'amber-otter', '--detach', '--', 'sh', '-c', script],
    { env: { PATH } },
  )
  await until('the command to hold its claim', async () => (await said(project)).includes('ready'))
  expect(await project.claims()).toHaveLength(1)
  await project.watched(String(run))
  return { run: String(run), supervisor: Number(supervisor) }
}

const said = async (project: Spine): Promise<string> => (await project.run('hm', ['logs', 'amber-otter'])).stdout

async function isAllOver(project: Spine, run: string, status: string): Promise<void> {
  await until('the run to be closed', () => project.sheets().length === 0)
  const events = project.events(run)
  expect(isClosedOnce(events)).toBe(true)
  expect(ofType(events, 'run_end')[0]).toMatchObject({ run: { status } })
  expect(await project.claims()).toEqual([])
  await until('nothing of it to run', () => project.processes().length === 0)
}

test('the supervisor: the watcher ends what does not care, releases and closes', async () => {
  const project = spine()
  const { run, supervisor } = await started(project, STUBBORN)
  process.kill(supervisor, 'SIGKILL')
  await isAllOver(project, run, 'FAILED')
  expect(ofType(project.events(run), 'session_end')[0]).toMatchObject({
    session: { reason: 'lost', ended_by: expect.stringMatching(/^the watcher \(process \d+\)$/) as string },
  })
})

test('the watcher: another comes, and the run goes on to one end', async () => {
  const project = spine()
  const { run } = await started(project, OBEDIENT)
  for (let turn = 0, last = await project.watcher(); turn < scaled(1, 5); turn += 1) {
    process.kill(last, 'SIGKILL')
    await waitForDeath(last)
    // Whoever looks meanwhile takes the run for what it is: open.
    expect(await project.claims()).toHaveLength(1)
    expect(ofType(project.events(run), 'run_end')).toHaveLength(0)
    const next = await project.watcher()
    expect(next).not.toBe(last)
    last = next
  }
  await project.run('hm', ['send', 'amber-otter', 'go', '--enter'])
  await isAllOver(project, run, 'SUCCEEDED')
})

for (const [what, isIt] of [
  ['the shim', isShim],
  ['the server behind it', isUpstream],
] as const)
  test(`${what}: the run goes on, and its books are right in the end`, async () => {
    const project = spine()
    const shim = `heimdall mcp shim --server-name=fake -- ${fixture('shim-upstream').join(' ')}`
    const script = `(sleep 1000 | ${shim} >/dev/null) & read line; exit 0`
    const { run_id: id } = await project.json(['run', '--agent', 'amber-otter', '--detach', '--', 'sh', '-c', script], {
      env: { PATH },
    })
    const run = String(id)
    await until('the shim to have joined', () => ofType(project.events(run), 'policy_loaded').length === 1)
    process.kill(await until(what, () => project.processes().find(isIt)), 'SIGKILL')
    await until('both to be gone', () => !project.processes().some((pid) => isShim(pid) || isUpstream(pid)))
    expect(ofType(project.events(run), 'run_end')).toHaveLength(0)
    await project.run('hm', ['send', 'amber-otter', 'go', '--enter'])
    await until('the run to be closed', () => project.sheets().length === 0)
    expect(checkBooks(project.events(run))).toEqual([])
    expect(isClosedOnce(project.events(run))).toBe(true)
    await until('nothing of it to run', () => project.processes().length === 0)
  })

test('all at once: kill settles it, however many of them at once', async () => {
  const project = spine()
  const { run } = await started(project, STUBBORN)
  // The command itself goes on: it does not care for a terminal that is gone.
  const ours = [await project.watcher(), ...project.processes().filter((pid) => isOurs(pid))]
  expect(ours.length).toBeGreaterThanOrEqual(2)
  for (const pid of ours) process.kill(pid, 'SIGKILL')
  await Promise.all(ours.map((pid) => waitForDeath(pid)))
  expect(project.sheets()).toHaveLength(1)
  // A reader says how it stands, and leaves it so.
  expect((await project.run('heimdall', ['runs', 'list'])).stdout).toMatch(/\blost\b/)
  expect(project.sheets()).toHaveLength(1)
  const looks = Array.from({ length: scaled(3, 12) }, () => project.run('heimdall', ['kill', 'amber-otter']))
  await Promise.all(looks)
  await isAllOver(project, run, 'FAILED')
  // The name is free at once.
  const { code } = await project.run('heimdall', ['run', '--agent', 'amber-otter', '--', 'true'])
  expect(code).toBe(0)
})

test('the starter, attached: the run goes on without it', async () => {
  const project = spine()
  const starter = project.start(['--agent', 'amber-otter', '--', 'sh', '-c', OBEDIENT], { env: { PATH } })
  await starter.waitForLine(/ready/)
  starter.kill('SIGKILL')
  await starter.ended
  const [sheet] = project.sheets() as [Json]
  await project.watched(String(sheet['folder']))
  await project.run('hm', ['send', 'amber-otter', 'go', '--enter'])
  await isAllOver(project, String(sheet['folder']), 'SUCCEEDED')
})
