// Who somebody is outlasts what a fleet calls its machine: create, join and leave change names of machines, never whose agents those are that were made there.
import { cpSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { hm } from '../hm/hm.ts'
import { shellIn } from '../support/shell.ts'
import { testEngine } from './engine.ts'
import { type Machine, machine, type Said } from './machines.ts'

const engine = testEngine()

/** A fleet of one, and the line that others join with. */
async function fleetToJoin(): Promise<{ one: Machine; line: string }> {
  const one = machine('ana')
  const made = await one.heimdall('fleet create --machine one', await engine.server.database())
  return { one, line: String(made.data['join']) }
}

const agree = async (said: Promise<Said>): Promise<Record<string, unknown>> => {
  const answer = await said
  expect(answer).toMatchObject({ ok: true })
  return answer.data
}

const rejoin = (at: Machine, line: string, more = ''): Promise<Record<string, unknown>> =>
  agree(at.heimdall(`fleet join --set-aside${more}`, line))

test('a machine that a fleet calls otherwise goes on as who it was, and after leaving too', async () => {
  const alone = machine('ana')
  await agree(alone.bb('agent register --name amber-otter --role backend'))
  await agree(alone.bb('agent reserve --agent amber-otter --scope src'))
  await agree(alone.heimdall('claim docs --task T-1'))
  const before = (await alone.heimdall('whoami')).data['haid']
  const made = await agree(alone.heimdall('fleet create --machine other', await engine.server.database()))
  expect((await alone.heimdall('whoami')).data).toMatchObject({
    haid: before,
    proof: 'key',
    holds: [{ claimed_surfaces: ['docs'] }],
  })
  await agree(alone.heimdall('claim docs/a.md --task T-1'))
  await agree(alone.bb('agent release --agent amber-otter --scope src'))
  // Its own agents are on no other machine.
  expect(JSON.stringify((await alone.heimdall('why docs')).data)).not.toContain(`on ${hostname()}`)

  const two = machine('ben')
  await agree(two.heimdall('fleet join --machine two', String(made['join'])))
  await agree(two.bb('agent register --name jade-heron --role backend'))
  await agree(two.bb('agent reserve --agent jade-heron --scope j'))
  await agree(two.heimdall('claim lib --task T-2'))
  const inFleet = (await two.heimdall('whoami')).data['haid']
  expect(inFleet).toContain('.two-')
  await agree(two.heimdall('fleet leave'))
  expect((await two.heimdall('whoami')).data).toMatchObject({
    haid: inFleet,
    holds: [{ claimed_surfaces: ['lib'] }],
  })
  await agree(two.heimdall('claim release lib'))
  await agree(two.bb('agent release --agent jade-heron --scope j'))
  // Back under another name, it is still the one that the fleet knows.
  expect(await rejoin(two, String(made['join']), ' --machine three')).toMatchObject({ machine: 'three' })
  expect((await two.heimdall('whoami')).data).toMatchObject({ haid: inFleet, holds: [{ claimed_surfaces: ['lib'] }] })
  await agree(two.heimdall('claim lib/x --task T-2'))
  await agree(two.bb('agent release --agent jade-heron --scope j'))
})

test('a hook of an editor, where no process says whose it is, belongs to the machine as the fleet calls it', async () => {
  const alone = machine('ana')
  const hook = async (sessionId: string): Promise<void> => {
    const payload = {
      session_id: sessionId,
      cwd: alone.project.root,
      hook_event_name: 'SessionStart',
      source: 'startup',
    }
    const args = ['hook', 'claude']
    const { code } = await alone.project.run('heimdall', args, { env: { USER: 'ana' }, stdin: JSON.stringify(payload) })
    expect(code).toBe(0)
  }
  const haids = async (): Promise<string[]> =>
    ((await alone.heimdall('agent list')).data as unknown as { haid: string }[]).map(({ haid }) => haid).toSorted()
  await hook('before')
  const [before = ''] = await haids()
  await agree(alone.heimdall('fleet create --machine other', await engine.server.database()))
  // The session from before goes on as who it was; one that begins now is of the machine's new name.
  await hook('before')
  expect(await haids()).toEqual([before])
  await hook('since')
  expect((await haids()).filter((haid) => haid !== before)).toEqual([expect.stringContaining('.other-') as string])
})

test('another machine that is called what this one was before is another', async () => {
  const alone = machine('ana')
  await agree(alone.heimdall('claim docs --task T-1'))
  alone.project.git('worktree', 'add', '--quiet', '../linked')
  const linked = { cwd: join(alone.project.root, '../linked'), env: { ...alone.project.env, USER: 'ana' } }
  const heimdall = (...args: string[]) => runLauncher('heimdall', [...args], { ...linked, stdin: '' })
  expect(await heimdall('claim', 'web', '--task', 'T-2')).toMatchObject({ code: 0 })
  const made = await agree(alone.heimdall('fleet create --machine alpha', await engine.server.database()))
  const two = machine('ana')
  const { machine: name } = await agree(two.heimdall('fleet join', String(made['join'])))
  await agree(two.heimdall('claim lib --task T-3'))
  await agree(alone.heimdall('claim src --task T-4'))
  const why = async (path: string): Promise<string> => (await heimdall('why', path)).stdout
  expect(await why('lib')).toContain(`on ${String(name)}`)
  expect(await why('docs')).not.toContain(`on ${String(name)}`)
  expect(await why('web')).not.toContain(`on ${String(name)}`)
  expect(await agree(alone.heimdall('fleet leave'))).toMatchObject({ claims: 3 })
})

test('whoever acted alone in between, under the same name, is known to the fleet by the key that it had there', async () => {
  const { line } = await fleetToJoin()
  const two = machine('ben')
  // The name of the host: alone and in the fleet the HAID is the same.
  await agree(two.heimdall('fleet join', line))
  await agree(two.bb('agent register --name jade-heron --role backend'))
  await agree(two.heimdall('claim lib --task T-2'))
  await agree(two.heimdall('fleet leave'))
  for (const end of ['', '-wal', '-shm']) rmSync(`${two.store}${end}`, { force: true })
  await agree(two.bb('agent register --name jade-heron --role backend'))
  await agree(two.heimdall('claim lib --task T-3'))
  const alone = (await two.heimdall('whoami')).data['haid']
  await rejoin(two, line)
  expect((await two.heimdall('whoami')).data).toMatchObject({ haid: alone, proof: 'key' })
  await agree(two.heimdall('claim release lib'))
  await agree(two.bb('agent reserve --agent jade-heron --scope j'))
})

test('another clone in the same folder gets a name of its own where the first has left no key', async () => {
  const { one, line } = await fleetToJoin()
  const two = machine('ben')
  expect(await agree(two.heimdall('fleet join --machine runner', line))).toMatchObject({ machine: 'runner' })
  await agree(two.heimdall('claim lib --task T-2'))
  await agree(two.heimdall('fleet leave'))
  rmSync(join(two.store, '..'), { recursive: true })
  expect(await agree(two.heimdall('fleet join --machine runner', line))).toMatchObject({ machine: 'runner-2' })
  await agree(two.heimdall('claim docs --task T-3'))
  expect(await two.heimdall('claim lib/x --task T-3')).toMatchObject({ ok: false })
  expect((await one.heimdall('fleet status')).data['members']).toMatchObject([
    { machine: 'one', is_gone: false },
    { machine: 'runner', is_gone: true },
    { machine: 'runner-2', is_gone: false },
  ])
})

test('a session goes on as itself when its machine leaves, joins again and makes its copy anew', async () => {
  const { line } = await fleetToJoin()
  const two = machine('ben')
  await agree(two.heimdall('fleet join --machine two', line))
  const shell = await shellIn(hm(), two.project, 'api')
  expect(await shell.run('heimdall claim lib --task T-2')).toMatchObject({ code: 0 })
  const { haid } = await shell.whoami()
  const same = { haid, proof: 'process', holds: [{ claimed_surfaces: ['lib'] }] }
  await agree(two.heimdall('fleet join --rebuild'))
  expect(await shell.whoami()).toMatchObject(same)
  await agree(two.heimdall('fleet leave'))
  expect(await shell.whoami()).toMatchObject(same)
  await rejoin(two, line, ' --machine two')
  expect(await shell.whoami()).toMatchObject(same)
  expect(await shell.run('heimdall claim lib/x --task T-2')).toMatchObject({ code: 0 })

  // What another member knows of its own processes is nobody's here.
  const three = machine('cleo')
  await agree(three.heimdall('fleet join --machine three', line))
  for (const end of ['', '-wal', '-shm']) rmSync(`${three.store}${end}`, { force: true })
  cpSync(two.store, three.store)
  await agree(three.heimdall('fleet join --rebuild'))
  expect((await three.heimdall('whoami')).data).toMatchObject({ haid: expect.stringContaining('.three-') as string })
})
