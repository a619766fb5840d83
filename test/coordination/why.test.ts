// heimdall why: who holds a path and what for, who else wants it, and what to do next.
import { expect, test } from 'vitest'
import { temporaryProject } from '../support/project.ts'

test('why says who holds it, what for, who was refused, and what to do', async () => {
  const project = temporaryProject()
  const heimdall = (...args: string[]) => project.run('heimdall', args)
  for (const name of ['ivory-lynx', 'teal-badger']) await heimdall('agent', 'register', '--name', name, '--role', 'dev')
  const held = ['src/billing/**', '--task', 'BILL-77', '--intent', 'totals in the PDF']
  expect((await heimdall('claim', 'take', ...held, '--agent', 'ivory-lynx')).code).toBe(0)
  await heimdall('task', 'start', 'BILL-77', '--title', 'Invoice PDF totals', '--agent', 'ivory-lynx')
  for (let turn = 0; turn < 2; turn += 1)
    await heimdall('claim', 'take', 'src/billing/invoice.ts', '--agent', 'teal-badger')

  const { stdout } = await heimdall('why', 'src/billing/invoice.ts')
  const [by, what, wanted, next, ...rest] = stdout.trimEnd().split('\n')
  const time = String.raw`\d\d:\d\d:\d\d`
  expect(by).toMatch(
    new RegExp(
      String.raw`^held by {4}ivory-lynx {2}src/billing/\*\* {2}epoch \d+, since ${time}, lease ends \S*( \S+)? if silent$`,
    ),
  )
  expect(what).toBe('for        BILL-77 Invoice PDF totals: totals in the PDF')
  expect(wanted).toMatch(new RegExp(`^wanted by  teal-badger, partial overlap, 2 attempts since ${time}$`))
  expect(next).toBe(
    'next       heimdall claim wait src/billing/invoice.ts, or heimdall note send --to ivory-lynx --category HANDOFF',
  )
  expect(rest).toEqual([])

  const { data } = JSON.parse((await heimdall('why', '--json', 'src/billing/invoice.ts')).stdout) as {
    data: { wanted_by: object[] }
  }
  expect(data.wanted_by).toEqual([
    expect.objectContaining({ agent_id: 'teal-badger', wanted: 'src/billing/invoice.ts', attempts: 2, place: null }),
  ])
  expect((await heimdall('why', 'docs')).stdout).toBe('nobody holds docs\n')
})

test('who holds it itself is not told to wait, but how to let go', async () => {
  const project = temporaryProject()
  const heimdall = (...args: string[]) => project.run('heimdall', args)
  await heimdall('claim', 'take', 'src/a', 'docs/**')
  const { stdout } = await heimdall('why', 'src/a')
  expect(stdout).toMatch(/^held by {4}you, \S+ {2}src\/a {2}/)
  expect(stdout).toMatch(/\nnext {7}heimdall claim release src\/a, when you are done with it\n$/)
  expect(stdout).not.toMatch(/claim wait|note send/)
  // Named as it works from anywhere: what is held is more than what was asked about.
  const { data } = JSON.parse((await heimdall('why', '--json', 'docs/x.md')).stdout) as {
    data: { holders: [{ yours: boolean; hint: string; claim_id: string }] }
  }
  const [holder] = data.holders
  expect(holder).toMatchObject({ yours: true, hint: expect.stringContaining(`claim release ${holder.claim_id},`) })
  expect(await heimdall('claim', 'release', holder.claim_id)).toMatchObject({ code: 0 })
  expect((await heimdall('why', 'docs/x.md')).stdout).toBe('nobody holds docs/x.md\n')
})

test('a path outside is refused before anybody has coordinated anything, as it is afterwards', async () => {
  const project = temporaryProject()
  const why = (path: string) => project.run('heimdall', ['why', path])
  const before = await why('/etc/passwd')
  expect(before.code).toBe(4)
  expect(await why('src')).toMatchObject({ code: 0, stdout: 'nobody holds src\n' })
  await project.run('heimdall', ['agent', 'register', '--name', 'ivory-lynx', '--role', 'dev'])
  expect(await why('/etc/passwd')).toEqual(before)
})
