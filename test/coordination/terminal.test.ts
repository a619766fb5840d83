// What only a person may do, done at a real terminal: adopt without evidence, take by force, accept in another's place.
import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { type OwnTerminal, ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'

const USER = { USER: 'ana' }

function sitDown(project: TemporaryProject, bin: string, args: readonly string[], extraEnv = {}): OwnTerminal {
  const { env, root } = project
  return ownTerminal([...launcher(bin), ...args], { cwd: root, env: { ...env, ...USER, ...extraEnv } })
}

async function json<T>(project: TemporaryProject, ...args: string[]): Promise<T> {
  const { stdout } = await project.run('heimdall', [...args, '--json'], { env: USER })
  return (JSON.parse(stdout) as { data: T }).data
}

async function history(project: TemporaryProject, type: string): Promise<{ payload: Record<string, unknown> }[]> {
  const events = await json<{ event_type: string; payload: Record<string, unknown> }[]>(project, 'claim', 'history')
  return events.filter((event) => event.event_type === type)
}

async function withAgent(): Promise<TemporaryProject> {
  const project = temporaryProject()
  await json(project, 'agent', 'add', 'amber-otter', '--role', 'backend')
  return project
}

test('seed 002 §7: adopting without evidence asks the person, and no is the answer unless they say yes', async () => {
  const project = await withAgent()
  const adopt = ['--adopt', 'amber-otter']
  for (const reply of ['\r', 'n\r', 'nein\r', 'yes please\r']) {
    const person = sitDown(project, 'bb-init', adopt)
    await person.see('Adopt it all the same? [y/N]')
    person.type(reply)
    expect([reply, await person.ended]).not.toEqual([reply, 0])
    expect(person.written()).toContain('amber-otter cannot be adopted')
  }
  const person = sitDown(project, 'bb-init', adopt)
  await person.see('Adopt it all the same? [y/N]')
  person.type('y\r')
  expect(await person.ended).toBe(0)
  expect(person.written()).toContain('amber-otter')
  expect(JSON.stringify(await history(project, 'RESUME'))).toContain('"confirmed_by_human":true')
})

test('nobody is asked in an agent’s session, with --non-interactive, or without a terminal', async () => {
  const project = await withAgent()
  const adopt = ['--adopt', 'amber-otter']
  const inSession = sitDown(project, 'bb-init', adopt, { BB_AGENT: 'amber-otter' })
  expect(await inSession.ended).not.toBe(0)
  expect(inSession.written()).toContain('was started with BB_AGENT')
  const quiet = sitDown(project, 'bb-init', [...adopt, '--non-interactive'])
  expect(await quiet.ended).not.toBe(0)
  const piped = await project.run('bb-init', adopt, { env: USER, stdin: 'y\n' })
  expect(piped.code).not.toBe(0)
  for (const shown of [inSession.written(), quiet.written(), piped.stderr]) expect(shown).not.toContain('[y/N]')
})

test('seed 002 §4.4: a person takes from an active owner with a reason, on record; an agent and a pipe cannot', async () => {
  const project = await withAgent()
  await json(project, 'agent', 'add', 'cobalt-harbor', '--role', 'backend')
  await json(project, 'claim', 'src/**', '--agent', 'amber-otter')
  const takeover = ['claim', 'takeover', 'src/**', '--agent', 'cobalt-harbor', '--force']
  const withReason = [...takeover, '--reason', 'amber is on leave']

  const piped = await project.run('heimdall', withReason, { env: USER })
  expect(piped).toMatchObject({ stderr: expect.stringContaining('needs a human at a terminal: there is no terminal') })
  for (const variable of ['HEIMDALL_SECRET', 'HEIMDALL_SESSION_ID', 'HEIMDALL_AGENT_ID', 'HEIMDALL_HAID', 'BB_AGENT']) {
    const agent = sitDown(project, 'heimdall', withReason, { [variable]: 'x' })
    expect(await agent.ended).not.toBe(0)
    expect(agent.written()).toContain(`was started with ${variable}`)
  }
  const silent = sitDown(project, 'heimdall', takeover)
  expect(await silent.ended).toBe(2)
  expect(silent.written()).toContain('--force needs --reason')
  expect(await history(project, 'TAKEOVER')).toEqual([])

  const person = sitDown(project, 'heimdall', withReason)
  expect(await person.ended).toBe(0)
  expect(await history(project, 'TAKEOVER')).toMatchObject([
    {
      payload: {
        takeover_mode: 'forced',
        by: userInfo().username,
        reason: 'amber is on leave',
        prior_owner: 'amber-otter',
      },
    },
  ])
  const claims = await json(project, 'claim', 'list')
  expect(JSON.stringify(claims)).toContain('cobalt-harbor')
  expect(JSON.stringify(claims)).not.toContain('amber-otter')
})

test('a person accepts a note in an agent’s place, and it is recorded as such', async () => {
  const project = await withAgent()
  await json(project, 'agent', 'add', 'cobalt-harbor', '--role', 'backend')
  const note = '--from cobalt-harbor --to amber-otter --task T-1 --category HANDOFF --subject done --body passes'
  const sent = await json<Record<string, unknown>>(project, 'note', 'send', ...note.split(' '))
  const ack = ['note', 'ack', '--human', String(sent['message_id'])]
  const piped = await project.run('heimdall', ack, { env: USER })
  expect(piped.stderr).toContain('needs a human at a terminal')
  const person = sitDown(project, 'heimdall', ack)
  expect(await person.ended).toBe(0)
  expect(person.written()).toContain('Accepted')
  const notes = await json(project, 'note', 'list', '--agent', 'amber-otter')
  expect(notes).toMatchObject([{ state: 'acked', acked_by: 'human' }])
})
