// An engine that is away while a task ends: the worker keeps its result and its place, and both are there when the engine is back.
import { existsSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { launcher, startProgram } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { testEngine } from './engine.ts'
import { fleetAt, type Machine, workerOn } from './machines.ts'

const engine = testEngine()

test('a task that ends while the engine is away is done when it is back, and its worker takes the next one', async () => {
  const [one] = (await fleetAt(await engine.server.database(), 'one')) as [Machine]
  const [begun, go] = [one.project.path('../begun'), one.project.path('../go')]
  const worker = await workerOn(
    one,
    `touch ${begun}; while [ ! -e ${go} ]; do sleep 0.1; done
     printf '{"status":"done","tokens_spent":7,"reply":"as it was"}' > "$HEIMDALL_RESULT_FILE"`,
  )
  const serving = startProgram([...launcher('heimdall'), 'worker', 'serve'], {
    cwd: one.project.root,
    env: one.project.env,
  })
  const said = { waitMs: 90_000, context: () => `${worker.stderr()}\n${serving.stderr()}` }
  const done = async (id: string) => {
    const { data } = await one.heimdall(`task show ${id}`)
    return data['ended_at'] === null ? undefined : data
  }
  expect(await one.heimdall('task add --id first Greet --read-only')).toMatchObject({ ok: true })
  await until('it to run', () => existsSync(begun), said)
  await engine.server.kill()
  writeFileSync(go, '')
  await until('the worker to miss the engine', () => worker.stderr().includes('first: the fleet'), said)
  await engine.server.start()
  expect(await until('the end of the first', () => done('first'), said)).toMatchObject({
    state: 'done',
    attempts: 1,
    result: { reply: 'as it was' },
  })
  // Each thing that could not be written is reported once, however often it was tried.
  const reports = worker
    .stderr()
    .split('\n')
    .filter((line) => line.includes('it is written down when that is over'))
  expect(reports.length).toBeGreaterThan(0)
  expect(reports.length).toBeLessThan(4)
  expect(await one.heimdall('task add --id second Greet --read-only')).toMatchObject({ ok: true })
  expect(await until('the end of the second', () => done('second'), said)).toMatchObject({ state: 'done' })
})
