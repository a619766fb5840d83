// SIGKILL before each step of making and joining a fleet: the machine goes on without anybody's help, and the same command again finishes what was begun.
import { rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { launcher, runProgram } from '../support/programs.ts'
import { scaled } from '../support/scale.ts'
import { connect } from '../../src/fleet/engine-connection.ts'
import { hm } from '../hm/hm.ts'
import { shellIn } from '../support/shell.ts'
import { testEngine } from './engine.ts'
import { type Machine, machine } from './machines.ts'

const engine = testEngine()

const HOOK = resolve('test/fixtures/killed-before-step.cjs')

interface Kill {
  readonly at: 'commits and names' | 'questions'
  readonly before: number
}

/** True when it was killed, and did not come to its end before the step. */
async function killed({ name, project }: Machine, kill: Kill, args: string, stdin: string): Promise<boolean> {
  const [node, bin] = launcher('heimdall')
  const env = { ...project.env, USER: name, KILLED_AT: kill.at, KILLED_BEFORE: String(kill.before) }
  const ending = await runProgram([node, '--require', HOOK, bin, ...args.split(' '), '--json'], {
    cwd: project.root,
    env,
    stdin,
  })
  if (ending.signal !== 'SIGKILL') expect([kill, ending]).toMatchObject([kill, { code: 0 }])
  return ending.signal === 'SIGKILL'
}

/** A few steps of each kind, odd and even; in the soak all. */
const STEPS = {
  'commits and names': { first: scaled(3, 1), stride: scaled(3, 1), last: scaled(6, Infinity) },
  questions: { first: scaled(12, 1), stride: 1, last: scaled(12, Infinity) },
} as const

async function atEachStep(act: (kill: Kill) => Promise<boolean>): Promise<number> {
  let count = 0
  for (const at of ['commits and names', 'questions'] as const) {
    const { first, stride, last } = STEPS[at]
    for (let before = first; before <= last && (await act({ at, before })); before += stride) count += 1
  }
  return count
}

const membersAt = async (ownerUrl: string): Promise<{ projects: number; machines: string[] }> => {
  const sql = await connect({ url: ownerUrl, isPooled: false })
  try {
    const [row] = await sql`SELECT count(*)::int AS n FROM heimdall.projects`
    const rows = await sql`SELECT machine FROM heimdall.members WHERE gone IS NULL ORDER BY machine`
    return { projects: Number(row?.['n']), machines: rows.map((member) => String(member['machine'])) }
  } finally {
    await sql.end()
  }
}

const claim = (one: Machine, scope: string) => one.bb(`agent reserve --agent amber-otter --scope ${scope}`)

test('create killed before any step: changes go on, and the next create makes one fleet with all of it', async () => {
  const count = await atEachStep(async (kill) => {
    const url = await engine.server.database()
    const one = machine('ana')
    await one.bb('agent register --name amber-otter --role backend')
    const isKilled = await killed(one, kill, 'fleet create --machine one', url)
    // Nobody has to know of it: whoever works here goes on, alone or in the fleet.
    const isAtOnce = kill.before % 2 === 0
    if (!isAtOnce) expect([kill, await claim(one, 'src')]).toMatchObject([kill, { ok: true }])
    const again = await one.heimdall('fleet create --machine one', url)
    const isMade = again.error?.code === 'FLEET_JOINED'
    // Its line was never shown: an owner gives another one.
    const line = isMade ? (await one.heimdall('fleet invite', url)).data['join'] : again.data['join']
    expect([kill, again.error, line]).toEqual([kill, isMade ? again.error : null, expect.any(String)])
    if (isAtOnce) expect([kill, await claim(one, 'src')]).toMatchObject([kill, { ok: true }])
    const two = machine('ben')
    expect(await two.heimdall('fleet join --machine two', String(line))).toMatchObject({ ok: true })
    expect([kill, await two.heimdall('claim check src')]).toMatchObject([kill, { ok: false }])
    expect([kill, await membersAt(url)]).toEqual([kill, { projects: 1, machines: ['one', 'two'] }])
    // Left, and made again elsewhere: what others live in is theirs.
    expect(await one.heimdall('fleet leave')).toMatchObject({ ok: true })
    expect([kill, await one.heimdall('fleet create --machine one', url)]).toMatchObject([kill, { ok: true }])
    expect([kill, await membersAt(url)]).toEqual([kill, { projects: 2, machines: ['one', 'two'] }])
    return isKilled
  })
  expect(count).toBeGreaterThan(scaled(1, 3))
})

test('a project that others were invited to before its making was finished is theirs, and no create takes it away', async () => {
  const url = await engine.server.database()
  const one = machine('ana')
  await one.bb('agent register --name amber-otter --role backend')
  // Everything is on the engine, and the file with the way to it has no name yet.
  expect(await killed(one, { at: 'commits and names', before: 2 }, 'fleet create --machine one', url)).toBe(true)
  const two = machine('ben')
  const { join } = (await two.heimdall('fleet invite', url)).data
  expect(await two.heimdall('fleet join --machine two', String(join))).toMatchObject({ ok: true })
  expect(await one.heimdall('fleet create --machine one', url)).toMatchObject({
    error: { code: 'FLEET_JOINED', message: expect.stringContaining('has members by now') as string },
  })
  expect(await claim(one, 'src')).toMatchObject({ ok: true })
  expect(await two.heimdall('fleet status')).toMatchObject({ ok: true, data: { reachable: true } })
  expect(await one.heimdall('fleet create --machine one', url)).toMatchObject({ ok: true })
  expect(await two.bb('agent register --name jade-heron --role backend')).toMatchObject({ ok: true })
  expect((await membersAt(url)).projects).toBe(2)
})

test('join killed before any step: joining again finishes it, under a name of its own', async () => {
  const one = machine('ana')
  const { join } = (await one.heimdall('fleet create --machine one', await engine.server.database())).data
  const line = String(join)
  const count = await atEachStep(async (kill) => {
    const two = machine('ben')
    const name = `runner${kill.at.length}-${kill.before}`
    const command = `fleet join --machine ${name}`
    // Somebody in the same folder was called so, and has taken its keys along.
    expect(await two.heimdall(command, line)).toMatchObject({ data: { machine: name } })
    expect([kill, await two.heimdall(`claim l${name} --task T-1`)]).toMatchObject([kill, { ok: true }])
    expect(await two.heimdall('fleet leave')).toMatchObject({ ok: true })
    rmSync(dirname(two.store), { recursive: true })
    const isKilled = await killed(two, kill, command, line)
    // One that came to its end before the step was told already.
    expect([kill, await two.heimdall(command, line)]).toMatchObject([
      kill,
      { ok: true, data: { machine: `${name}-2` } },
    ])
    expect([kill, await two.heimdall(`claim d${name} --task T-2`)]).toMatchObject([kill, { ok: true }])
    // Once it is finished, nothing of that is left to do.
    expect([kill, await two.heimdall(command, line)]).toMatchObject([
      kill,
      { ok: true, data: { machine: `${name}-2` } },
    ])
    expect([kill, await two.heimdall('whoami')]).toMatchObject([kill, { data: { proof: 'key' } }])
    await two.heimdall(`claim release d${name}`)
    return isKilled
  })
  expect(count).toBeGreaterThan(scaled(1, 6))
})

test('a copy that is made anew and killed before any step: whoever runs there is known again when it is finished', async () => {
  const one = machine('ana')
  const { join } = (await one.heimdall('fleet create --machine one', await engine.server.database())).data
  const two = machine('ben')
  expect(await two.heimdall('fleet join --machine two', String(join))).toMatchObject({ ok: true })
  const shell = await shellIn(hm(), two.project, 'api')
  expect(await shell.run('heimdall claim lib --task T-2')).toMatchObject({ code: 0 })
  const { haid } = await shell.whoami()
  const count = await atEachStep(async (kill) => {
    const isKilled = await killed(two, kill, 'fleet join --rebuild', '')
    const again = kill.before % 2 === 0 ? 'fleet join --rebuild' : 'fleet join'
    expect([kill, again, await two.heimdall(again, String(join))]).toMatchObject([
      kill,
      again,
      { ok: true, data: { machine: 'two' } },
    ])
    expect([kill, await shell.whoami()]).toMatchObject([
      kill,
      { haid, proof: 'process', holds: [{ claimed_surfaces: ['lib'] }] },
    ])
    return isKilled
  })
  expect(count).toBeGreaterThan(scaled(1, 3))
})
