// A rename that failed half-way left a session that listened under one id and had its pid file under another.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { hm } from '../hm/hm.ts'
import { isRunning } from '../support/programs.ts'
import { until } from '../support/wait.ts'

test.each(['new.log', 'new.sock', 'new.pid.lock'])(
  'where %s is in the way, the session keeps its old id, whole',
  async (obstacle) => {
    const home = hm()
    await home.session('old', ['sh', '-c', 'echo said; exec cat'])
    await until('what it said to be kept', () => existsSync(join(home.dir, 'old.kept')))
    const files = (): string[] => readdirSync(home.dir).filter((name) => !name.endsWith('.lock'))
    const before = files()
    // A folder, which is neither replaced nor taken for one's own.
    const path = join(home.dir, obstacle)
    mkdirSync(path)
    const refused = await home.run(['rename', 'old', 'new'])
    expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining('new')])
    rmdirSync(path)
    expect(files()).toEqual(before)
    expect(await home.json(['status', 'old'])).toMatchObject({ id: 'old', alive: true })
    expect((await home.run(['logs', 'old'])).stdout).toContain('said')

    expect(await home.json(['rename', 'old', 'new'])).toMatchObject({ id: 'new' })
    expect(files()).toEqual(before.map((name) => name.replace(/^old/, 'new')))
  },
)

test('a session whose child ends while its new id is still being waited for ends under its old one', async () => {
  const home = hm()
  await home.session('held', ['sh', '-c', 'read x'])
  await home.session('late', ['sh', '-c', 'read x; exit 5'])
  const { supervisor_pid: pid } = (await home.json(['status', 'late'])) as { supervisor_pid: number }
  const held = await connect({ socketPath: home.socket('held') })
  const late = await connect({ socketPath: home.socket('late') })
  const heldEnds = held.subscribe()
  const lateEnds = late.subscribe()
  await held.input('\r')
  for await (const event of heldEnds) if (event.type === 'exit') break
  // It answers for a second more, and has its id until then.
  const renamed = late.rename('held').catch((error: unknown) => error)
  await late.input('\r')
  for await (const event of lateEnds) if (event.type === 'exit') break
  expect(await renamed).toMatchObject({ code: expect.stringMatching(/^SESSION_(REFUSED|LOST)$/) as string })
  await until('the session to be gone', () => !isRunning(pid))
  const record = (id: string): unknown => JSON.parse(readFileSync(join(home.dir, `${id}.exit.json`), 'utf8'))
  expect([record('held'), record('late')]).toMatchObject([
    { id: 'held', exit_code: 0 },
    { id: 'late', exit_code: 5 },
  ])
  expect(readdirSync(home.dir).filter((name) => /\.(pid|sock|lock)$/.test(name))).toEqual([])
})
