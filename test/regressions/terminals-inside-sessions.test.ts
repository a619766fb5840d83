// A terminal that is opened inside a session is a part of the session: it neither leaves it nor becomes somebody else.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { temporaryProject } from '../support/project.ts'
import { shellIn } from '../support/shell.ts'

test('whoever opens a terminal in a session is the session, with its environment and without it', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  await project.run('bb', ['agent', 'reserve', '--agent', 'amber-otter', '--scope', 'web'])
  const shell = await shellIn(hm(), project, 'box')
  expect(await shell.run('heimdall claim take docs')).toMatchObject({ code: 0 })
  const home = Object.entries(project.env).map(([name, value]) => `${name}='${value}'`)
  const bare = `env -i PATH="$PATH" ${home.join(' ')}`

  for (const env of ['env', bare]) {
    const inside = (line: string): Promise<{ text: string; code: number }> =>
      shell.run(`${env} script -qec '${line}' /dev/null`)
    expect([env, await inside('heimdall claim take docs/x')]).toMatchObject([env, { code: 0 }])
    expect([env, (await inside('heimdall haid current')).text]).toEqual([env, expect.stringMatching(/\/box\s*$/)])
    expect([env, await inside('heimdall claim release --agent amber-otter --json')]).toEqual([
      env,
      { code: 4, text: expect.stringContaining('IDENTITY_BORROWED') },
    ])
  }
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  const refused = (JSON.parse(stdout) as { data: { from_agent: string | null; to_agent: string }[] }).data
  expect(refused.map((event) => [event.from_agent, event.to_agent])).toEqual([
    ['box', 'amber-otter'],
    ['box', 'amber-otter'],
  ])
})

test('a session whose first program has thrown its environment away is a session all the same', async () => {
  const project = temporaryProject()
  const shell = await shellIn(hm(), project, 'bare', {}, ['env', '-i', '/bin/sh'])
  expect(await shell.run('heimdall claim take docs')).toMatchObject({ code: 0 })
  expect(await shell.whoami()).toMatchObject({ proof: 'process', session: 'bare', holds: [{}] })
})
