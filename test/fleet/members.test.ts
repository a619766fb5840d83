// A fleet from outside: commands on several machines, each with its own home, state and store, and one PostgreSQL.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { MIGRATIONS } from '../../src/coordination/sqlite/schema.ts'
import { FLEET_COPIES_KEPT } from '../../src/limits.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { runProgram } from '../support/programs.ts'
import type { TemporaryProject } from '../support/project.ts'
import { testEngine } from './engine.ts'
import { fleetAt, type Machine, machine } from './machines.ts'

const engine = testEngine()

const fleetOf = async (...names: [string, ...string[]]): Promise<Machine[]> =>
  fleetAt(await engine.server.database(), ...names)

const filesOf = ({ home }: TemporaryProject): string[] => {
  const folder = join(home, '.config/heimdall/fleets')
  return readdirSync(folder).map((name) => join(folder, name))
}

test('what one machine alone has done goes to the engine, and every member sees and respects it', async () => {
  const alone = machine('ana')
  await alone.bb('agent register --name amber-otter --role backend')
  expect(await alone.bb('agent reserve --agent amber-otter --scope src/api')).toMatchObject({ ok: true })
  const made = await alone.heimdall('fleet create --machine box', await engine.server.database())
  expect(made).toMatchObject({ ok: true, data: { machine: 'box' } })
  const join1 = String(made.data['join'])
  const other = machine('ben')
  // Two machines of one name are two.
  expect(await other.heimdall('fleet join --machine box', join1)).toMatchObject({ data: { machine: 'box-2' } })
  await other.bb('agent register --name cobalt-harbor --role backend')
  const refused = await other.bb('agent reserve --agent cobalt-harbor --scope src/api/users.ts')
  expect(refused).toMatchObject({ ok: false, error: { code: 'RESERVATION_CONFLICT' } })
  expect(await alone.bb('agent release --agent amber-otter --scope src/api')).toMatchObject({ ok: true })
  expect(await other.bb('agent reserve --agent cobalt-harbor --scope src/api/users.ts')).toMatchObject({
    ok: true,
  })
  expect(await alone.bb('agent reserve --agent amber-otter --scope src/api')).toMatchObject({ ok: false })

  const status = await other.heimdall('fleet status')
  expect(status.data).toMatchObject({ reachable: true, machine: 'box-2', pending: null, lost: [] })
  expect((status.data['members'] as { machine: string }[]).map(({ machine: name }) => name)).toEqual(['box', 'box-2'])
  const checks = async () => (await other.heimdall('fleet doctor')).data['checks'] as { check: string; state: string }[]
  const stateOf = async (check: string) => (await checks()).find((one) => one.check === check)?.state
  // The engine of the tests has fsync off.
  expect([await stateOf('role'), await stateOf('durability')]).toEqual(['ok', 'fail'])
  await engine.sync()
  expect(await stateOf('durability')).toBe('ok')

  // The URL stands in one file, which only its owner can read, and nowhere else.
  const password = new URL(join1).password
  for (const { project } of [alone, other]) {
    const [file = ''] = filesOf(project)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toContain(password)
  }
})

test('a copy that is gone, or that was made elsewhere, is told and grants nothing', async () => {
  const [one, two] = (await fleetOf('one', 'two')) as [Machine, Machine]
  await one.bb('agent register --name amber-otter --role backend')
  await one.bb('agent reserve --agent amber-otter --scope src')
  const empty = (): void => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${two.store}${end}`, { force: true })
  }
  empty()
  const gone = {
    error: {
      code: 'FLEET_NOT_JOINED',
      message: expect.stringContaining('is gone') as string,
      hint: expect.stringMatching(/join --rebuild.*fleet leave/) as string,
    },
  }
  for (const command of [
    'fleet status',
    'fleet doctor',
    'fleet link',
    'fleet export out',
    'claim check src/a.ts',
    'claim list',
  ]) {
    expect([command, await two.heimdall(command)]).toMatchObject([command, gone])
    empty()
  }
  expect(await two.bb('agent register --name cobalt-harbor --role backend')).toMatchObject({
    error: { code: 'FLEET_NOT_JOINED', hint: expect.stringContaining('join --rebuild') as string },
  })
  expect(await two.heimdall('fleet join --rebuild')).toMatchObject({ ok: true, data: { seq: 2, machine: 'two' } })
  expect(await two.bb('agent register --name cobalt-harbor --role backend')).toMatchObject({ ok: true })

  // A copy from before it joined, or of another member, in the place of its own.
  const before = machine('ben')
  await before.bb('agent register --name jade-heron --role backend')
  for (const [from, words] of [
    [before, 'is not the copy'],
    [one, 'another’s, made for "one"'],
  ] as const) {
    empty()
    cpSync(from.store, two.store)
    for (const end of ['-wal', '-shm'])
      if (existsSync(`${from.store}${end}`)) cpSync(`${from.store}${end}`, `${two.store}${end}`)
    const told = { error: { code: 'FLEET_NOT_JOINED', message: expect.stringContaining(words) as string } }
    expect([words, await two.bb('agent reserve --agent cobalt-harbor --scope docs')]).toMatchObject([words, told])
    expect([words, await two.heimdall('fleet status')]).toMatchObject([words, told])
    expect(await two.heimdall('fleet join --rebuild')).toMatchObject({ ok: true, data: { seq: 3, machine: 'two' } })
  }
  expect(await two.bb('agent reserve --agent cobalt-harbor --scope docs')).toMatchObject({ ok: true })

  const copied = machine('two')
  cpSync(join(two.store, '..'), join(copied.store, '..'), { recursive: true })
  expect(await copied.bb('agent register --name dusky-lynx --role backend')).toMatchObject({
    error: { code: 'FLEET_NOT_JOINED', hint: expect.stringContaining('fleet join') as string },
  })
})

test('a copy that is no database any more is made again, and what was there is kept', async () => {
  const [one, two] = [machine('one'), machine('two')]
  const made = await one.heimdall('fleet create --machine one', await engine.server.database())
  await two.spawned('fleet join --machine two', String(made.data['join']))
  await one.bb('agent register --name amber-otter --role backend')
  const spoil: ((path: string) => void)[] = [
    (path) => writeFileSync(path, 'this is no database'),
    (path) => writeFileSync(path, ''),
    // Sound where it is opened, and not where its rows are.
    (path) => {
      const bytes = readFileSync(path)
      writeFileSync(path, bytes.fill(7, 3 * 4096, 12 * 4096))
    },
  ]
  for (const [i, act] of spoil.entries()) {
    for (const end of ['-wal', '-shm']) rmSync(`${two.store}${end}`, { force: true })
    act(two.store)
    const spoilt = readFileSync(two.store)
    const again = await two.spawned('fleet join --rebuild')
    expect([i, again]).toMatchObject([i, { ok: true, data: { machine: 'two', seq: 1 + i } }])
    const aside = String(again.data['set_aside'])
    expect([i, existsSync(aside)]).toEqual([i, true])
    if (spoilt.length > 0) expect(readFileSync(aside).equals(spoilt)).toBe(true)
    expect(await two.spawned(`agent add jade-heron-${i} --role backend`)).toMatchObject({ ok: true })
  }
})

test('a member whose copy is gone can leave, and another takes its name', async () => {
  const [one, two] = (await fleetOf('one', 'two')) as [Machine, Machine]
  for (const end of ['', '-wal', '-shm']) rmSync(`${two.store}${end}`, { force: true })
  expect(await two.heimdall('fleet leave')).toMatchObject({ ok: true })
  expect(await two.heimdall('fleet status')).toMatchObject({
    error: { message: expect.stringContaining('not part of a fleet') as string },
  })
  expect(await two.bb('agent register --name cobalt-harbor --role backend')).toMatchObject({ ok: true })
  const { data } = await one.heimdall('fleet status')
  expect(data['members']).toMatchObject([
    { machine: 'one', is_gone: false },
    { machine: 'two', is_gone: true },
  ])
})

test('wrong URLs are refused by what is wrong with them, and none is shown or left behind', async () => {
  const alone = machine('ana')
  const url = await engine.server.database()
  const secret = 'a-password-that-nobody-shows'
  const wrong = {
    'http://example.org/x': 'CONFIG_INVALID',
    [url.replace(/:\d+\//, ':1/')]: 'ENGINE_UNREACHABLE',
    [url.replace(/db\d+$/, 'nowhere')]: 'ENGINE_REFUSED',
    [url]: 'ENGINE_REFUSED',
    [`postgres://owner:${secret}@db.example.org/x?sslmode=require`]: 'CONFIG_INVALID',
    [`postgres://owner:${secret}%ZZ@db.example.org/x`]: 'CONFIG_INVALID',
    [`postgres://owner:${secret}@/x?host=/var/run/postgresql`]: 'CONFIG_INVALID',
    [`postgres://owner:${secret}@[::1]:1/x`]: 'ENGINE_UNREACHABLE',
  }
  for (const [given, code] of Object.entries(wrong)) {
    const answer = await alone.heimdall('fleet join', given)
    expect([given, answer.error?.code]).toEqual([given, code])
    expect(JSON.stringify(answer)).not.toContain(secret)
  }
  expect(await alone.bb('agent register --name amber-otter --role backend')).toMatchObject({ ok: true })
  expect(await alone.heimdall('fleet status')).toMatchObject({ error: { code: 'FLEET_NOT_JOINED' } })
})

test('nothing is granted without the engine, reads go on, and everything goes on when it is back', async () => {
  const [one, two] = (await fleetOf('one', 'two')) as [Machine, Machine]
  await one.bb('agent register --name amber-otter --role backend')
  await one.bb('agent reserve --agent amber-otter --scope src')
  await two.bb('agent register --name cobalt-harbor --role backend')
  await engine.server.kill()
  expect(await two.bb('agent reserve --agent cobalt-harbor --scope docs')).toMatchObject({
    error: { code: 'ENGINE_UNREACHABLE' },
  })
  expect(await two.bb('agent release --agent cobalt-harbor --scope docs')).toMatchObject({
    error: { code: 'ENGINE_UNREACHABLE' },
  })
  expect(await two.heimdall('claim check src/a.ts')).toMatchObject({ ok: false, data: { granted: false } })
  const edit = { hook_event_name: 'PreToolUse', session_id: 's-1', cwd: two.project.root, tool_name: 'Write' }
  const hook = (path: string) =>
    two.project.run('heimdall', ['hook', 'claude'], {
      env: { USER: 'two' },
      stdin: JSON.stringify({ ...edit, tool_input: { file_path: two.project.path(path), content: 'x' } }),
    })
  expect((await hook('src/a.ts')).stdout).toContain('held by amber-otter')
  expect((await hook('free.ts')).stdout).toContain('no other agent is known to hold this')
  expect(await two.heimdall('fleet status')).toMatchObject({ ok: true, data: { reachable: false, seq: 3 } })
  await engine.server.start()
  expect(await two.bb('agent reserve --agent cobalt-harbor --scope docs')).toMatchObject({ ok: true })
  expect(await one.bb('agent reserve --agent amber-otter --scope docs')).toMatchObject({ ok: false })
})

test('export, import and leave: one machine has everything again, and a new engine too', async () => {
  const [one, two] = (await fleetOf('one', 'two')) as [Machine, Machine]
  await one.bb('agent register --name amber-otter --role backend')
  await one.bb('agent reserve --agent amber-otter --scope src')
  const file = two.project.path('state.jsonl')
  expect(await two.heimdall(`fleet export ${file}`)).toMatchObject({ ok: true, data: { seq: 2 } })
  const other = machine('cem')
  const whole = readFileSync(file, 'utf8')
  writeFileSync(other.project.path('cut'), whole.split('\n').slice(0, 3).join('\n'))
  expect(await other.heimdall(`fleet import ${other.project.path('cut')}`)).toMatchObject({
    error: { code: 'STORE_CORRUPT' },
  })
  expect(await other.heimdall(`fleet import ${file}`)).toMatchObject({ ok: true, data: { seq: 2 } })
  await other.bb('agent register --name cobalt-harbor --role backend')
  expect(await other.bb('agent reserve --agent cobalt-harbor --scope src/a.ts')).toMatchObject({
    error: { code: 'RESERVATION_CONFLICT' },
  })
  expect(await other.heimdall('fleet create', await engine.server.database())).toMatchObject({
    ok: true,
    data: { seq: 4 },
  })
  expect(await two.heimdall('fleet leave')).toMatchObject({ ok: true, data: { seq: 2 } })
  await two.bb('agent register --name dusky-lynx --role backend')
  expect(await two.bb('agent reserve --agent dusky-lynx --scope src')).toMatchObject({ ok: false })
  expect(await two.heimdall('fleet status')).toMatchObject({ error: { code: 'FLEET_NOT_JOINED' } })
})

test('a machine that has not listened for a while says so with every answer about others', async () => {
  const [one, two] = (await fleetOf('one', 'two')) as [Machine, Machine]
  await one.bb('agent register --name amber-otter --role backend')
  await one.bb('agent reserve --agent amber-otter --scope src')
  const saidBy = async (args: string): Promise<string> =>
    (await two.project.run('heimdall', args.split(' '), { env: { USER: two.name } })).stderr
  const db = openDatabase(two.store, { migrations: MIGRATIONS })
  const anHourAgo = JSON.stringify({ boot: 'another', monoMs: 0, wallMs: systemClock.wallMs() - 3_600_000 })
  db.prepare(`UPDATE local_settings SET value = ? WHERE key = 'fleet:heard'`).run(anHourAgo)
  db.close()
  for (const command of ['agent list', 'claim list', 'why src/api.ts', 'claim check src/api.ts'])
    expect([command, (await saidBy(command)).split('last heard of its fleet 60 min ago').length]).toEqual([command, 2])
})

test('a copy that is made anew goes on with the files of its ledger from where they were', async () => {
  const [one, two] = (await fleetOf('one', 'two')) as [Machine, Machine]
  await one.bb('agent register --name amber-otter --role backend')
  await two.bb('agent register --name jade-heron --role backend')
  const told = (): string[] => two.project.read('.planning/ledger/events.jsonl').trim().split('\n')
  expect(told()).toHaveLength(2)
  // Whoever has put them away does not find them again.
  two.project.write('.planning/ledger/events.jsonl', '')
  expect(await two.heimdall('fleet join --rebuild')).toMatchObject({ ok: true })
  await two.bb('agent register --name olive-lynx --role backend')
  expect(told().map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([3])
})

test('of copies that were made anew the newest few are kept, and a store of the machine’s own for good', async () => {
  const made = await machine('ana').heimdall('fleet create --machine one', await engine.server.database())
  const two = machine('ben')
  await two.bb('agent register --name jade-heron --role backend')
  const own = await two.heimdall('fleet join --machine two --set-aside', String(made.data['join']))
  const copies: string[] = []
  for (let i = 0; i < FLEET_COPIES_KEPT + 2; i += 1)
    copies.push(String((await two.heimdall('fleet join --rebuild')).data['set_aside']))
  expect([own.data['set_aside'], ...copies].map((path) => existsSync(String(path)))).toEqual([
    true,
    false,
    false,
    ...Array.from({ length: FLEET_COPIES_KEPT }, () => true),
  ])
})

test('the guard without the engine: a human’s commit and push pass with a warning, an agent’s are refused', async () => {
  const [one, two] = (await fleetOf('one', 'two')) as [Machine, Machine]
  await one.bb('agent register --name amber-otter --role backend')
  await one.bb('agent reserve --agent amber-otter --scope src')
  await two.bb('agent register --name cobalt-harbor --role backend')
  const { project } = two
  expect(await two.heimdall('guard install')).toMatchObject({ ok: true })
  const remote = project.path('../remote.git')
  project.git('init', '--quiet', '--bare', remote)
  project.git('remote', 'add', 'origin', remote)
  const env = { ...project.env, USER: 'two' }
  const byHuman = async (...words: string[]): Promise<[number, string]> => {
    const terminal = ownTerminal(['git', ...words], { cwd: project.root, env })
    return [await terminal.ended, terminal.written()]
  }
  const byAgent = async (...words: string[]) =>
    runProgram(['git', ...words], { cwd: project.root, env: { ...env, BB_AGENT: 'cobalt-harbor' } })
  await engine.server.kill()
  try {
    project.write('src/a.ts', 'x\n')
    project.git('add', '.')
    const refused = { code: 1, stderr: expect.stringContaining('held by amber-otter') as string }
    expect(await byAgent('commit', '-m', 'x')).toMatchObject(refused)
    const passed = [0, expect.stringMatching(/amber-otter[^]*the collision is not recorded: .*cannot be reached/)]
    expect(await byHuman('commit', '-m', 'x')).toEqual(passed)
    expect(await byAgent('push', 'origin', 'HEAD:x')).toMatchObject(refused)
    expect(await byHuman('push', 'origin', 'HEAD:x')).toEqual(passed)
    // The copy is gone as well: nothing is known of what others hold.
    for (const ending of ['', '-wal', '-shm']) rmSync(`${two.store}${ending}`, { force: true })
    project.write('docs/b.md', 'x\n')
    project.git('add', '.')
    expect(await byAgent('commit', '-m', 'y')).toMatchObject({ code: 1, stderr: expect.stringContaining('is gone') })
    expect(await byHuman('commit', '-m', 'y')).toEqual([0, expect.stringContaining('pre-commit was not checked')])
  } finally {
    await engine.server.start()
  }
})
