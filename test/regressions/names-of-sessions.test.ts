// What a session is started for is decided where it is started: nothing inside a session makes it, or another one, somebody else.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { temporaryProject, type TemporaryProject } from '../support/project.ts'
import { BIN, shellIn } from '../support/shell.ts'

async function withVictim(): Promise<TemporaryProject> {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  await project.run('bb', ['agent', 'reserve', '--agent', 'amber-otter', '--scope', 'web'])
  return project
}

async function holders(project: TemporaryProject): Promise<unknown> {
  const { stdout } = await project.run('heimdall', ['claim', 'list', '--all', '--json'])
  return (JSON.parse(stdout) as { data: { agent_id: string }[] }).data.map((claim) => claim.agent_id)
}

test('a session that is started inside a session is itself, whatever name it is given', async () => {
  const project = await withVictim()
  const sessions = hm()
  const shell = await shellIn(sessions, project, 'outer')
  const start = (env: string, id: string): string =>
    `${env} HOME='${sessions.home}' hm run --id ${id} --detach --wait -- /bin/sh -c`
  const secret = 'HEIMDALL_SECRET=guess'
  const names = ['BB_AGENT=amber-otter', 'HEIMDALL_AGENT_ID=amber-otter', 'HEIMDALL_PROCESSES=ps BB_AGENT=amber-otter']
  for (const [index, name] of [...names, `${secret} BB_AGENT=amber-otter`].entries()) {
    await shell.run(
      `${start(name, `inner-${index}`)} 'unset HEIMDALL_SECRET; HOME=${project.home} heimdall claim release --json >&2'`,
    )
    expect([name, await holders(project)]).toEqual([name, ['amber-otter']])
  }
  // Also where the id is not given, so that the session is not started early.
  await shell.run(`BB_AGENT=amber-otter HOME='${sessions.home}' hm run --detach --wait -- heimdall claim release`)
  expect(await holders(project)).toEqual(['amber-otter'])
})

test('the first program of a session cannot name another by putting one in its own place', async () => {
  const project = await withVictim()
  const line = `exec env BB_AGENT=amber-otter PATH='${BIN}:'"$PATH" heimdall claim release --json`
  const words = ['run', '--id', 'swap', '--detach', '--wait', '--workdir', project.root, '--', '/bin/bash', '-c', line]
  expect(await hm().run(words, { env: project.env })).toMatchObject({ code: 4 })
  expect(await holders(project)).toEqual(['amber-otter'])
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ data: [{ to_agent: 'amber-otter' }] })
})

test('a session that is started from outside for an agent is that agent, also when its first program is replaced', async () => {
  const project = await withVictim()
  const line = `exec env -i PATH='${BIN}:'"$PATH" HOME='${project.home}' heimdall claim release --json`
  const words = ['run', '--id', 'own', '--detach', '--wait', '--workdir', project.root, '--', '/bin/bash', '-c', line]
  const ran = await hm().run(words, { env: { ...project.env, BB_AGENT: 'amber-otter' } })
  expect([ran.code, await holders(project)]).toEqual([0, []])
})

test('a variable that names another source of processes makes no session look dead', async () => {
  const project = temporaryProject()
  const shell = await shellIn(hm(), project, 'alive')
  expect(await shell.run('heimdall claim take docs')).toMatchObject({ code: 0 })
  for (const source of ['ps', 'ps-without-environment']) {
    const taken = await project.run('heimdall', ['claim', 'takeover', 'docs', '--task', 'T-2', '--json'], {
      env: { HEIMDALL_PROCESSES: source },
    })
    expect([source, taken.code]).not.toEqual([source, 0])
  }
  expect(await holders(project)).toEqual(['alive'])
})

test('a key file that is not the agent’s secret proves nothing, and binds no session to the agent', async () => {
  const project = await withVictim()
  const { stdout } = await project.run('heimdall', ['agent', 'list', '--json'])
  expect(stdout).toContain('amber-otter')
  const keys = project.git('rev-parse', '--git-common-dir').trim()
  const shell = await shellIn(hm(), project, 'late', { BB_AGENT: 'amber-otter' })
  const folder = `${keys}/heimdall/keys`
  expect(await shell.run(`for f in ${folder}/*.key; do echo wrong >"$f"; done`)).toMatchObject({ code: 0 })
  expect(await shell.run('heimdall claim release --json')).toMatchObject({
    text: expect.stringContaining('IDENTITY_UNPROVEN'),
  })
  expect(await shell.whoami()).toMatchObject({ proof: 'none' })
  expect(await shell.run('heimdall claim release --json')).toMatchObject({
    text: expect.stringContaining('IDENTITY_UNPROVEN'),
  })
  expect(await holders(project)).toEqual(['amber-otter'])
})

test('an agent that tries to adopt without evidence at a terminal is refused, on record under its own name', async () => {
  const project = await withVictim()
  const shell = await shellIn(hm(), project, 'box')
  expect(await shell.run('heimdall claim take docs')).toMatchObject({ code: 0 })
  const tried = await shell.run(`script -qec 'bb-init --adopt amber-otter' /dev/null`)
  expect(tried.text).toContain('PERSON_REQUIRED')
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    data: [{ from_agent: 'box', to_agent: 'amber-otter', payload: { code: 'PERSON_REQUIRED' } }],
  })
})
