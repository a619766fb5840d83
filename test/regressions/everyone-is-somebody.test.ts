// Two sessions, or two terminals, of one human on one machine are two holders: they collide, and the guard knows them (seed 000 T-1, T-2).
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { type OwnTerminal, ownTerminal } from '../support/own-terminal.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { BIN, Shell, shellIn } from '../support/shell.ts'

function terminal(project: TemporaryProject, name: string): Shell {
  const env = { ...project.env, PATH: `${BIN}:${process.env['PATH'] ?? ''}` }
  const opened: OwnTerminal = ownTerminal(['/bin/sh'], { cwd: project.root, env })
  return new Shell(project, name, (line) => opened.type(`${line}\r`))
}

test('two terminals share a HAID until they meet; then the second has a name of its own, keeps what it held, and collides', async () => {
  const project = temporaryProject()
  const [first, second] = [terminal(project, 'first'), terminal(project, 'second')]
  expect(await first.run(`heimdall-claim claim 'docs/**' --task T-1`)).toMatchObject({ code: 0 })
  expect(await second.run('heimdall-claim claim lib --task T-2')).toMatchObject({ code: 0 })
  const root = (await first.whoami()).haid
  expect((await second.whoami()).haid).toBe(root)
  // The same task from elsewhere is the same work.
  expect(await second.run(`heimdall-claim claim 'docs/**' --task T-1`)).toMatchObject({ code: 0 })

  expect(await second.run('heimdall-claim check docs/x')).toMatchObject({ code: 3 })
  const met = await second.run('heimdall-claim claim docs/x --task T-2')
  expect(met).toMatchObject({ code: 3, text: expect.stringMatching(/^note: another process tree of .* is at work/m) })
  expect(met.text).toContain(`COLLISION: docs/x overlaps docs/**`)
  const own = await second.whoami()
  expect(own).toMatchObject({ proof: 'process', holds: [{ claimed_surfaces: ['lib'] }] })
  expect(own.haid).toMatch(new RegExp(`^${root}/p\\d+$`))
  expect(await first.whoami()).toMatchObject({ haid: root, holds: [{ claimed_surfaces: ['docs/**'] }] })
  expect(await first.run('heimdall-claim claim lib/x --task T-1')).toMatchObject({ code: 3 })
})

test('each session is somebody by itself: it collides with the others, no variable makes it another, and the guard knows it', async () => {
  const project = temporaryProject()
  const sessions = hm()
  project.write('docs/x', 'x')
  await project.run('heimdall', ['guard', 'install'])
  const [one, two] = [await shellIn(sessions, project, 'one'), await shellIn(sessions, project, 'two')]

  expect(await one.run(`heimdall-claim claim 'docs/**'`)).toMatchObject({ code: 0 })
  expect(await two.run('heimdall-claim claim docs/x')).toMatchObject({ code: 3 })
  expect(await one.whoami()).toMatchObject({ proof: 'process', session: 'one', haid: expect.stringMatching(/\/one$/) })
  expect((await two.run('heimdall-haid current')).text).toMatch(/\/two\n$/)

  // Forged variables change nothing: processes say which session it is.
  const forged = await two.run('env -u HEIMDALL_SESSION_ID HEIMDALL_SESSION_ID=one heimdall-claim release')
  expect(forged).toMatchObject({ code: 0, text: expect.stringMatching(/no active claim for .*\/two/) })
  expect(await two.run('BB_AGENT=one heimdall claim release')).toMatchObject({ code: 4 })
  expect(await two.run('heimdall claim release --agent one')).toMatchObject({ code: 4 })
  // From outside nobody acts for a session that runs.
  const outside = await project.run('heimdall', ['claim', 'release', '--agent', 'one', '--json'])
  expect(outside).toMatchObject({ code: 5, stdout: expect.stringContaining('IDENTITY_HELD') })

  expect(await two.run('git add docs/x && git commit -qm two')).toMatchObject({ code: 1 })
  expect(await one.run('git commit -qm one')).toMatchObject({ code: 0 })
  expect(project.git('log', '-1', '--format=%B')).toMatch(/^Heimdall-Agent: .*\/one$/m)

  // An agent of the session's name is another, also before the session has done anything.
  await project.run('bb', ['agent', 'register', '--name', 'three', '--role', 'ui'])
  await project.run('bb', ['agent', 'reserve', '--agent', 'three', '--scope', 'web'])
  const three = await shellIn(sessions, project, 'three')
  expect((await three.whoami()).haid).toMatch(/\/three-[0-9a-f]{4}$/)
  expect(await three.run('heimdall claim check web')).toMatchObject({ code: 5 })
  expect(await three.run('bb agent release --agent three --scope web')).toMatchObject({ code: 1 })

  // What is registered in a session belongs to it (seed 002 §7), and to nobody else.
  expect(await two.run('bb agent register --name amber-otter --role ui')).toMatchObject({ code: 0 })
  expect(await two.run('bb agent reserve --agent amber-otter --scope lib')).toMatchObject({ code: 0 })
  expect(await one.run('bb agent release --agent amber-otter --scope lib')).toMatchObject({
    code: 1,
    text: expect.stringContaining('IDENTITY_BORROWED'),
  })
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  const refused = (JSON.parse(stdout) as { data: { from_agent: string | null; to_agent: string }[] }).data
  expect(refused.map((event) => [event.from_agent, event.to_agent])).toEqual([
    ['two', 'one'],
    ['two', 'one'],
    [null, 'one'],
    [expect.stringMatching(/^haid:.*\/three-/), 'three'],
    ['one', 'amber-otter'],
  ])
})

test('a session whose process is gone holds nothing against the flag (seed 002 §4.4)', async () => {
  const project = temporaryProject()
  const line = `env PATH='${BIN}:'"$PATH" heimdall-claim claim 'docs/**' --task T-1`
  const ran = await hm().run(
    ['run', '--id', 'brief', '--detach', '--wait', '--workdir', project.root, '--', '/bin/sh', '-c', line],
    { env: project.env },
  )
  expect(ran).toMatchObject({ code: 0 })
  const list = await project.run('heimdall-claim', ['list', '--all', '--json'])
  expect(JSON.parse(list.stdout)).toMatchObject([{ agent_id: 'brief', liveness: 'evicted', lease: 'live' }])
  expect(await project.run('heimdall-claim', ['claim', 'docs/x', '--task', 'T-2'])).toMatchObject({ code: 3 })
  expect(await project.run('heimdall', ['claim', 'takeover', 'docs/x', '--task', 'T-2'])).toMatchObject({ code: 0 })
})
