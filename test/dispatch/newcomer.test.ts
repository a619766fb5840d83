// Somebody who knows only `--help`: whatever is given wrong is one line that says what was seen and what to do, and whoever waits in vain is told why.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/wait.ts'
import { DONE, fleet } from './dispatch-kit.ts'

test('what is given wrong is said in one line, and nothing is queued', async () => {
  const project = fleet()
  writeFileSync(join(project.home, 'big'), 'x'.repeat(5_000_000))
  writeFileSync(join(project.home, 'schema.json'), '{"type": 5}')
  writeFileSync(join(project.home, 'list.json'), '[1]')
  const at = (name: string): string => join(project.home, name)
  for (const [args, words] of [
    [['add', 'x', '--deadline', 'tomorrow'], /--deadline "tomorrow" is not a time with a zone/],
    [['add', 'x', '--deadline', '2030-01-01T00:00:00'], /not a time with a zone/],
    [['add', 'x', '--deadline', '2020-01-01T00:00:00Z'], /has passed/],
    [['add', 'x', '--budget', '0'], /the budget is 0 tokens/],
    [['add', '   '], /the brief is empty/],
    [['add', '--brief-file', at('big')], /the brief has 5000000 bytes, limit 65536/],
    [['add', 'x', '--reply', 'json', '--schema', at('schema.json')], /invalid schema/],
    [['add', 'x', '--reply', 'json', '--schema', at('list.json')], /invalid schema: not an object/],
    [['add', 'x', '--id', '../x'], /not a valid task id/],
    [['add', 'x', '--scope', '../../etc'], /leads out/],
    [['show', 'nobody'], /no task "nobody"/],
  ] as const) {
    const { code, stderr } = await project.run('heimdall', ['task', ...args])
    expect([args, code === 0, stderr.split('\n')[0]]).toEqual([args, false, expect.stringMatching(words)])
  }
  expect((await project.run('heimdall', ['peers', 'check', 'nobody'])).stderr).toMatch(/no peer "nobody" is known/)
  expect((await project.json(['task', 'list'])) as unknown).toEqual([])
})

test('a task that nobody can take says so at once, and is taken when somebody comes', async () => {
  const project = fleet()
  const queued = await project.run('heimdall', ['task', 'add', 'hello', '--id', 'T-1'])
  expect([queued.code, queued.stderr]).toEqual([0, expect.stringContaining('heimdall worker start -- COMMAND')])
  const waited = await project.run('heimdall', ['task', 'add', 'hi', '--id', 'T-2', '--wait', '--timeout', '1ms'])
  expect(waited.stderr).toContain('it stays in the queue')
  await project.worker('w', DONE)
  expect(await project.send('one more', ['--id', 'T-3'])).toMatchObject({ state: 'done' })
  await project.run('heimdall', ['worker', 'announce'])
  const lacking = await project.run('heimdall', ['task', 'add', 'x', '--id', 'T-4', '--needs', 'browser'])
  expect(lacking.stderr).toContain('heimdall task explain T-4 says why')
})

test('killed -9 in the middle, first the orchestrator and then the worker: the task ends once, and was run once', async () => {
  const project = fleet()
  const first = await project.serve()
  const script = `echo run >> "$HOME/runs"; while [ ! -e "$HOME/go" ]; do sleep 0.05; done; ${DONE}`
  const worker = await project.worker('w', script)
  await project.run('heimdall', ['task', 'add', 'x', '--id', 'K-1', '--budget', '100', '--read-only'])
  await until('it to run', () => existsSync(join(project.home, 'runs')))
  first.kill('SIGKILL')
  await first.ended
  const second = await project.serve()
  worker.program.kill('SIGKILL')
  await worker.program.ended
  await project.worker('w', script)
  writeFileSync(join(project.home, 'go'), '')
  const state = async (): Promise<unknown> => (await project.json(['task', 'show', 'K-1']))['state']
  await until('the task to end', async () => (await state()) === 'done')
  expect(await project.json(['task', 'show', 'K-1'])).toMatchObject({
    attempts: 1,
    failures: 0,
    tokens_settled: 7,
    tokens_reserved: 0,
    list: [{ worker: 'w', state: 'done' }],
  })
  expect(readFileSync(join(project.home, 'runs'), 'utf8')).toBe('run\n')
  second.kill('SIGTERM')
  expect((await second.ended).code).toBe(0)
})
