// heimdall why: who holds a path and what for, who else wants it, and what to do next.
import { expect, test } from 'vitest'
import { temporaryProject } from '../support/project.ts'
import { bundle, type Json, rule, startShim, tool } from '../support/shim-client.ts'

test('why says who holds it, what for, who was refused, and what to do', async () => {
  const project = temporaryProject()
  const heimdall = (...args: string[]) => project.run('heimdall', args)
  for (const name of ['ivory-lynx', 'teal-badger']) await heimdall('agent', 'add', name, '--role', 'dev')
  const held = ['src/billing/**', '--task', 'BILL-77', '--intent', 'totals in the PDF']
  expect((await heimdall('claim', ...held, '--agent', 'ivory-lynx')).code).toBe(0)
  await heimdall('task', 'start', 'BILL-77', '--title', 'Invoice PDF totals', '--agent', 'ivory-lynx')
  for (let turn = 0; turn < 2; turn += 1) await heimdall('claim', 'src/billing/invoice.ts', '--agent', 'teal-badger')

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
  expect((await heimdall('why', 'docs/')).stdout).toBe('no agent holds docs/\n')
})

test('who holds it itself is not told to wait, but how to let go', async () => {
  const project = temporaryProject()
  const heimdall = (...args: string[]) => project.run('heimdall', args)
  await heimdall('claim', 'src/a', 'docs/**')
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
  expect((await heimdall('why', 'docs/x.md')).stdout).toBe('no agent holds docs/x.md\n')
})

test('a path outside is refused before anybody has coordinated anything, as it is afterwards', async () => {
  const project = temporaryProject()
  const why = (path: string) => project.run('heimdall', ['why', path])
  const before = await why('/etc/passwd')
  expect(before.code).toBe(4)
  expect(await why('./src')).toMatchObject({ code: 0, stdout: 'no agent holds ./src\n' })
  await project.run('heimdall', ['agent', 'add', 'ivory-lynx', '--role', 'dev'])
  expect(await why('/etc/passwd')).toEqual(before)
})

test('why explains a call by its rule and counters, by a part of its id too', async () => {
  const project = temporaryProject()
  const policy = bundle([
    rule('twice', 'budget', tool('dear'), { budget: { scope: 'run', limit_calls: 1, on_exceed: 'BLOCK' } }),
  ])
  const shim = startShim({ policy, bin: 'heimdall', home: project.home, env: { SUB_RUN_ID: 'nightly-1' } })
  await shim.call('dear', {})
  await shim.call('dear', {})
  await shim.end()
  const why = (...words: string[]) => project.run('heimdall', ['why', ...words])
  const idIn = async (...search: string[]): Promise<string> => {
    const found = await project.run('heimdall', ['events', ...search, '--json'])
    const [call] = (JSON.parse(found.stdout) as { data: { calls: Json[] } }).data.calls
    return String(call?.['call_id'])
  }
  const id = await idIn('--run', 'nightly-1', '--decision', 'BLOCK')

  const { stdout } = await why(id)
  expect(stdout).toMatch(/^call {7}\S+\/dear, /)
  expect(stdout).toMatch(/\ndecision {3}BLOCK/)
  expect(stdout).toMatch(/\nrule {7}twice\n/)
  expect(stdout).toMatch(/\ncounter {4}\S+ of twice: 1 before, 1 after, limit 1\n/)
  expect(stdout).toMatch(/\nnext {7}\S/)
  // Ids of calls of one connection differ in their last digits alone.
  expect((await why(id.slice(0, -2))).stderr).toMatch(/is a prefix of several ids\nhint: use one of: \S+-1, \S+-2\n$/)
  const other = startShim({ policy, bin: 'heimdall', home: project.home, env: { SUB_RUN_ID: 'nightly-2' } })
  await other.call('echo', {})
  await other.end()
  const only = await idIn('--run', 'nightly-2')
  expect(await why(only.slice(0, -2))).toMatchObject({ code: 0, stdout: (await why(only)).stdout })

  expect((await why('nightly-1')).stdout).toMatch(/^run {8}nightly-1 {2}(open|ended|lost)/)
})

test('why explains an agent: its state, and what it holds and wants', async () => {
  const project = temporaryProject()
  const heimdall = (...args: string[]) => project.run('heimdall', args)
  for (const name of ['ivory-lynx', 'teal-badger']) await heimdall('agent', 'add', name, '--role', 'dev')
  await heimdall('claim', 'src/api', '--agent', 'ivory-lynx', '--task', 'T-1')
  await heimdall('claim', 'src/api/x.ts', '--agent', 'teal-badger')
  const holder = await heimdall('why', 'ivory-lynx')
  expect(holder.stdout).toMatch(
    /^agent {6}ivory-lynx {2}\S.* since .*\nbecause {4}.*\nholds {6}src\/api for T-1, lease ends /,
  )
  const { stdout } = await heimdall('why', 'teal')
  expect(stdout).toMatch(/^agent {6}teal-badger /)
  expect(stdout).toContain('src/api/x.ts, held by ivory-lynx, 1 attempt since')
})

test('a run that ended is explained by the exit of its command; an unknown name says where it was looked for', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['run', '--agent', 'ivory-lynx', '--', 'sh', '-c', 'exit 3'])
  const { stdout } = await project.run('heimdall', ['runs', 'list', '--json'])
  const [run] = (JSON.parse(stdout) as { data: { runs: { run_id: string }[] } }).data.runs
  expect((await project.run('heimdall', ['why', run?.run_id ?? ''])).stdout).toMatch(
    /^run .* ended .*, FAILED\nagent {6}ivory-lynx\nbecause {4}its command exited with 3\n/,
  )
  const unknown = await project.run('heimdall', ['why', 'nosuch'])
  expect(unknown).toMatchObject({ code: 3, stdout: '' })
  expect(unknown.stderr).toMatch(/^error: no path, agent, run or call "nosuch"\nhint: looked for .*runs/)
})
