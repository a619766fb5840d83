// A worker that is told to stop in the middle of a task stays for it, and ends it when it is told again (seed 003).
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launcher, startProgram } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { DONE, type Fleet, fleet, type RunningWorker } from './dispatch-kit.ts'

const SCRIPT = `echo run >> "$HOME/runs"; while [ ! -e "$HOME/go" ]; do sleep 0.05; done; ${DONE}`

const linked = (project: Fleet): number => project.git('worktree', 'list').trim().split('\n').length - 1

async function told(worker: RunningWorker, signal: NodeJS.Signals): Promise<void> {
  worker.program.kill(signal)
  await until('it to say that it drains', () => worker.program.stderr().includes('w takes no more tasks and finishes'))
}

test.each([
  ['SIGINT', false],
  ['SIGTERM', true],
] as const)('%s in the middle: it drains, and its task ends as done (orchestrator: %s)', async (signal, isServed) => {
  const project = fleet()
  if (isServed) await project.serve()
  const worker = await project.worker('w', SCRIPT)
  const sender = startProgram([...launcher('heimdall'), 'task', 'add', 'x', '--id', 'S-1', '--wait'], {
    cwd: project.root,
    env: project.env,
  })
  await until('it to run', () => existsSync(join(project.home, 'runs')))
  await told(worker, signal)
  // Known, and sent nothing.
  expect(await project.json(['peers', 'list'])).toContainEqual(expect.objectContaining({ name: 'w', role: 'worker' }))
  writeFileSync(join(project.home, 'go'), '')
  expect(await worker.program.ended).toMatchObject({ code: 0, stdout: '' })
  const { code, stdout, stderr } = await sender.ended
  expect([code, stdout]).toEqual([0, expect.stringContaining('attempt 1 at w: done')])
  expect(stderr).not.toContain('does not answer')
  // It was known before anybody had asked it; how the task ended is said once, by the answer.
  expect(stderr).not.toContain('no worker is known')
  expect(stderr).toContain('S-1: sent to w')
  expect(stderr).not.toContain('done')
  expect(linked(project)).toBe(0)
})

test('told again it ends the task and says so; nobody is sent what a stopped worker left', async () => {
  const project = fleet()
  const worker = await project.worker('w', SCRIPT)
  const sender = startProgram([...launcher('heimdall'), 'task', 'add', 'x', '--id', 'S-2', '--wait'], {
    cwd: project.root,
    env: project.env,
  })
  await until('it to run', () => existsSync(join(project.home, 'runs')))
  await told(worker, 'SIGINT')
  worker.program.kill('SIGINT')
  expect(await worker.program.ended).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('S-2: ended, for its worker is stopped') as string,
  })
  const shown = async () => await project.json(['task', 'show', 'S-2'])
  await until('its end to be heard', async () => (await shown())['failures'] === 1)
  expect(await shown()).toMatchObject({ list: [{ state: 'error', result: { error: { code: 'worker_stopped' } } }] })
  expect(linked(project)).toBe(0)
  sender.kill('SIGKILL')
  await sender.ended
})

test('what ended while nobody orchestrated is told to whoever does so next, though its worker has gone', async () => {
  const project = fleet()
  const first = await project.serve()
  const worker = await project.worker('w', SCRIPT)
  await project.run('heimdall', ['task', 'add', 'x', '--id', 'S-3'])
  await until('it to run', () => existsSync(join(project.home, 'runs')))
  await until('it to be accepted', async () =>
    ((await project.json(['task', 'show', 'S-3']))['list'] as { state: string }[]).some(
      ({ state }) => state === 'accepted',
    ),
  )
  first.kill('SIGKILL')
  await first.ended
  await told(worker, 'SIGTERM')
  writeFileSync(join(project.home, 'go'), '')
  expect((await worker.program.ended).code).toBe(0)
  await project.serve()
  await until('its end', async () => (await project.json(['task', 'show', 'S-3']))['state'] !== 'in_progress')
  expect(await project.json(['task', 'show', 'S-3'])).toMatchObject({ state: 'done', attempts: 1 })
})
