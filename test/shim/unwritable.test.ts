// Events that cannot be written: a clear line, calls go on, what is lost is counted, and control mode blocks.
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/project.ts'
import { bundle, eventsOfRun, ofType, rule, runsDir, startShim } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

/** A file that takes no byte, as on a full disk. */
function fullDevice(): string {
  const path = join(temporaryFolder(), 'events.jsonl')
  symlinkSync('/dev/full', path)
  return path
}

test('a full disk stops no call in guardrails; the shim says so once', async () => {
  const shim = startShim({ bin: 'heimdall', flags: [`--events=${fullDevice()}`], policy: bundle([]) })
  for (let n = 0; n < 20; n += 1) expect(await shim.call('echo', { n })).toHaveProperty('result')
  shim.program.stdin.end()
  const { code, stderr } = await shim.program.ended
  expect(code).toBe(0)
  expect(stderr.match(/events cannot be written/g)?.length).toBeGreaterThanOrEqual(1)
})

test('in control mode calls take decision_on_error while decisions cannot be written', async () => {
  const shim = startShim({
    bin: 'heimdall',
    flags: [`--events=${fullDevice()}`],
    policy: bundle([], { mode: 'control' }),
  })
  await until('calls to be refused', async () => (await shim.call('echo'))['error']?.code === -32_081)
  shim.program.stdin.end()
  await shim.program.ended
})

test('a run folder that cannot be made: the shim works without a record', async () => {
  const home = temporaryFolder()
  writeFileSync(join(home, '.local'), 'a file where a folder should be')
  const shim = startShim({ home, bin: 'heimdall', policy: bundle([]) })
  expect(await shim.call('echo')).toHaveProperty('result')
  shim.program.stdin.end()
  const { stderr, code } = await shim.program.ended
  expect(code).toBe(0)
  expect(stderr).toContain('events of this run cannot be written')
})

test('a checkpoint that cannot be read or written is not needed', async () => {
  const home = temporaryFolder()
  mkdirSync(join(runsDir(home), 'r', 'checkpoint.json'), { recursive: true })
  const policy = bundle([rule('b', 'budget', {}, { budget: { scope: 'run', limit_calls: 5, on_exceed: 'BLOCK' } })])
  const passed: boolean[] = []
  for (let n = 0; n < 2; n += 1) {
    const shim = startShim({ home, bin: 'heimdall', env: { SUB_RUN_ID: 'r' }, policy })
    for (let i = 0; i < 4; i += 1) passed.push((await shim.call('echo', { i }))['result'] !== undefined)
    await shim.end()
  }
  expect(passed).toEqual([true, true, true, true, true, false, false, false])
  expect(ofType(eventsOfRun(home, 'r'), 'run_end')).toHaveLength(2)
})

test('records are private to their user', async () => {
  const shim = startShim({ bin: 'heimdall', env: { SUB_RUN_ID: 'private' } })
  await shim.call('echo')
  await shim.end()
  const folder = join(runsDir(shim.home), 'private')
  expect(statSync(folder).mode & 0o077).toBe(0)
  expect(statSync(join(folder, 'events.jsonl')).mode & 0o077).toBe(0)
})

test('a request too large for memory with no place to hold it is refused, and the next one passes', async () => {
  const shim = startShim({ env: { TMPDIR: join(temporaryFolder(), 'missing') } })
  const text = 'x'.repeat(2_000_000)
  shim.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"t":"${text}"}}}`)
  expect(await shim.answer(1)).toMatchObject({ error: { code: -32_603 } })
  expect(await shim.call('echo')).toHaveProperty('result')
  await shim.end()
})
