// A session that was started for an agent which another live session holds: told so, on record, and the guard stays out of its way.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { temporaryProject } from '../support/project.ts'
import { shellIn } from '../support/shell.ts'

test('the second session of one agent is refused as long as the first runs, and commits what nobody claims', async () => {
  const project = temporaryProject()
  const sessions = hm()
  await project.run('heimdall', ['guard', 'install'])
  await project.run('bb', ['agent', 'register', '--name', 'heron-two', '--role', 'ui'])
  const startedFor = { BB_AGENT: 'heron-two' }
  const first = await shellIn(sessions, project, 'first', startedFor)
  expect(await first.run('heimdall claim take web')).toMatchObject({ code: 0 })

  const second = await shellIn(sessions, project, 'second', startedFor)
  expect(await second.run('heimdall whoami')).toMatchObject({ code: 0, text: expect.stringContaining('is held by') })
  expect(await second.run('heimdall claim check web')).toMatchObject({ code: 5 })
  for (const line of [
    'claim take lib',
    'claim release',
    'claim release --agent heron-two',
    'claim take x --agent other',
  ])
    expect([line, await second.run(`heimdall ${line} --json`)]).toEqual([
      line,
      { code: 5, text: expect.stringContaining('IDENTITY_HELD') },
    ])
  project.write('lib/x', 'x')
  expect(await second.run('git add lib/x && git commit -qm second')).toMatchObject({ code: 0 })

  expect((await first.whoami()).holds).toMatchObject([{ claimed_surfaces: ['web'] }])
  expect((await first.run('heimdall whoami')).text).toMatch(/^holds web until /m)
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  const refused = (JSON.parse(stdout) as { data: { from_agent: string | null; to_agent: string }[] }).data
  expect(refused.map((event) => [event.from_agent, event.to_agent])).toEqual(
    Array.from({ length: 4 }, () => [null, 'heron-two']),
  )
})
