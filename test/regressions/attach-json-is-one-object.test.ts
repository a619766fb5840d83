// `hm attach --json` printed the session's output before the envelope, and no JSON parser could read its stdout.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { until } from '../support/wait.ts'

test('attach and run with --json print one object into a pipe; the output stays in the session', async () => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'echo before; read line; echo after; exit 5'])
  const attached = home.start(['attach', 's', '--json', '--read-only'])
  await until('the viewer to be there', async () => ((await home.json(['status', 's']))['clients'] as number) >= 2)
  await home.run(['send', 's', '--key', 'enter'])
  const { stdout, code } = await attached.ended
  expect(code).toBe(5)
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    command: 'hm attach',
    data: { id: 's', reason: 'exited', exit_code: 5 },
    error: null,
  })
  expect((await home.run(['logs', 's'])).stdout).toMatch(/^before\n[^]*after\n$/)

  const run = await home.run(['run', '--json', '--id', 'r', '--', 'sh', '-c', 'echo out; exit 4'], { stdin: '' })
  expect(run.code).toBe(4)
  expect(JSON.parse(run.stdout)).toMatchObject({ data: { id: 'r', reason: 'exited', exit_code: 4 } })
})
