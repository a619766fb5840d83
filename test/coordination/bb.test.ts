// bb agent … and bb-init as seed 002 §4.2, §6 and §7 call them, with the codes of coordination-origin §1.2.
import { chmodSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { readMachine } from '../../src/coordination/moment.ts'
import { runProgram } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { openRoom } from './room.ts'
import { silence } from './silence.ts'

/** The fields that the tests read one by one; what an answer really holds is what they check. */
interface Data {
  readonly agent_id: string
  readonly last_seen_at: string
  readonly created_at: string
  readonly expires_at: string
  readonly message_id: string
  readonly state: string
  readonly summary: unknown
  readonly recipients: unknown
}

interface Envelope {
  readonly code: number | null
  readonly ok: boolean
  readonly command: string
  readonly data: Data
  readonly error: { readonly code: string; readonly message: string; readonly [detail: string]: unknown } | null
}

async function bb(project: TemporaryProject, ...args: string[]): Promise<Envelope> {
  const { code, stdout } = await project.run('bb', ['agent', ...args, '--json'])
  return { code, ...(JSON.parse(stdout) as Omit<Envelope, 'code'>) }
}

async function team(): Promise<TemporaryProject> {
  const project = temporaryProject()
  await bb(project, 'register', '--name', 'amber-otter', '--role', 'backend')
  await bb(project, 'register', '--name', 'cobalt-harbor', '--role', 'ui')
  return project
}

const codeOf = (answer: Envelope): string => {
  expect(answer).toMatchObject({ code: 1, ok: false, data: null })
  return answer.error?.code ?? ''
}

test('register, list, show, heartbeat: the record of §1.2 in the envelope of §4.2', async () => {
  const project = temporaryProject()
  const made = await bb(project, 'register', '--name', 'amber-otter', '--role', 'backend', '--display', 'Amber')
  expect(made).toMatchObject({ code: 0, ok: true, command: 'agent register', error: null })
  expect(made.data).toMatchObject({
    agent_id: 'amber-otter',
    display_name: 'Amber',
    role: 'backend',
    status: 'idle',
    version: 1,
    liveness: 'active',
  })
  expect(codeOf(await bb(project, 'register', '--name', 'amber-otter', '--role', 'ui'))).toBe('DUPLICATE_AGENT_ID')
  expect(codeOf(await bb(project, 'register', '--name', 'Amber-Otter', '--role', 'ui'))).toBe('INVALID_AGENT_ID')
  expect(codeOf(await bb(project, 'register', '--name', 'dusky-lynx', '--role', 'two words'))).toBe('INVALID_ROLE')
  expect(
    (await bb(project, 'register', '--name', 'amber-otter', '--role', 'lead', '--force-update')).data,
  ).toMatchObject({ role: 'lead', display_name: 'Amber', version: 2 })
  expect((await bb(project, 'register', '--role', 'ui')).data.agent_id).toMatch(/^[a-z]+-[a-z]+$/)
  const beaten = await bb(project, 'heartbeat', '--agent', 'amber-otter')
  expect(Date.parse(beaten.data.last_seen_at)).toBeGreaterThanOrEqual(Date.parse(made.data.last_seen_at))
  expect(codeOf(await bb(project, 'heartbeat', '--agent', 'nobody-here'))).toBe('AGENT_NOT_FOUND')
  expect(codeOf(await bb(project, 'show', '--agent', 'NOBODY'))).toBe('INVALID_AGENT_ID')
  expect((await bb(project, 'list', '--role', 'lead')).data).toMatchObject([{ agent_id: 'amber-otter' }])
})

test('missing flags and unknown commands are CLI_ERROR with exit 1; people see Error: [CODE]', async () => {
  const project = temporaryProject()
  const missing = await bb(project, 'reserve', '--agent', 'amber-otter')
  expect(codeOf(missing)).toBe('CLI_ERROR')
  expect(missing.error?.message).toContain('--scope')
  expect(codeOf(await bb(project, 'frobnicate'))).toBe('CLI_ERROR')
  const { code, stderr } = await project.run('bb', ['agent', 'show', '--agent', 'nobody-here'])
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^Error: \[AGENT_NOT_FOUND\] /)])
})

test('reserve, conflict, takeover, release and status, with scopes in any spelling', async () => {
  const project = await team()
  const mine = await bb(project, 'reserve', '--agent', 'amber-otter', '--scope', 'src/lib/*', '--bead', 'bb-1')
  expect(mine.data).toMatchObject({
    scope: 'src/lib/*',
    agent_id: 'amber-otter',
    bead_id: 'bb-1',
    state: 'active',
    released_at: null,
    normalized_scope: `${project.root}/src/lib`,
  })
  expect(Date.parse(mine.data.expires_at) - Date.parse(mine.data.created_at)).toBe(120 * 60_000)
  const theirs = ['reserve', '--agent', 'cobalt-harbor', '--scope', 'src/lib/parser.ts', '--bead', 'bb-2']
  const conflict = await bb(project, ...theirs, '--takeover-stale')
  expect(codeOf(conflict)).toBe('RESERVATION_CONFLICT')
  expect(conflict.error?.['conflicts']).toMatchObject([
    { agent_id: 'amber-otter', kind: 'partial', task: 'bb-1', witness: 'src/lib/parser.ts' },
  ])
  const room = openRoom({ project, clock: systemClock, boot: readMachine().boot })
  await silence(
    room,
    room.store.read((rows) => rows.agentById('amber-otter')?.haid ?? ''),
    20,
  )
  expect(codeOf(await bb(project, ...theirs))).toBe('RESERVATION_STALE_FOUND')
  expect((await bb(project, ...theirs, '--takeover-stale')).data).toMatchObject({
    agent_id: 'cobalt-harbor',
    displaced: [{ agent_id: 'amber-otter' }],
  })
  expect((await bb(project, 'status')).data.summary).toEqual({
    active: 1,
    released: 0,
    expired: 1,
    unacked_required_messages: 0,
  })
  expect(codeOf(await bb(project, 'release', '--agent', 'amber-otter', '--scope', 'src/lib/parser.ts'))).toBe(
    'RELEASE_FORBIDDEN',
  )
  expect(codeOf(await bb(project, 'release', '--agent', 'amber-otter', '--scope', 'docs'))).toBe(
    'RESERVATION_NOT_FOUND',
  )
  expect(
    (await bb(project, 'release', '--agent', 'cobalt-harbor', '--scope', './src//lib/parser.ts')).data,
  ).toMatchObject({ state: 'released' })
  expect(codeOf(await bb(project, 'reserve', '--agent', 'amber-otter', '--scope', '../x', '--bead', 'none'))).toBe(
    'INVALID_ARGS',
  )
  expect(codeOf(await bb(project, 'reserve', '--agent', 'amber-otter', '--scope', 'x', '--ttl', '4'))).toBe(
    'INVALID_ARGS',
  )
  expect(codeOf(await bb(project, 'reserve', '--agent', 'ghost-agent', '--scope', 'x'))).toBe('AGENT_NOT_FOUND')
})

test('seed 002 §6: notes are sent, read and acknowledged by their recipients only, and each step is an event', async () => {
  const project = await team()
  const send = (...args: string[]): Promise<Envelope> =>
    bb(project, 'send', '--from', 'amber-otter', '--subject', 'Parser', '--body', 'It passes', ...args)
  const handoff = await send(
    '--to',
    'cobalt-harbor',
    '--bead',
    'bb-1',
    '--category',
    'HANDOFF',
    '--next-action',
    'write docs',
  )
  expect(handoff.data).toMatchObject({
    category: 'HANDOFF',
    state: 'unread',
    requires_ack: true,
    thread_id: 'bead:bb-1',
    bead_id: 'bb-1',
    from_agent: 'amber-otter',
    to_agent: 'cobalt-harbor',
    read_at: null,
    acked_at: null,
    next_action: 'write docs',
  })
  const id = handoff.data.message_id
  expect(codeOf(await bb(project, 'read', '--agent', 'amber-otter', '--message', id))).toBe('READ_FORBIDDEN')
  expect(codeOf(await bb(project, 'ack', '--agent', 'amber-otter', '--message', id))).toBe('ACK_FORBIDDEN')
  expect(codeOf(await bb(project, 'ack', '--agent', 'cobalt-harbor', '--message', '../x'))).toBe('INVALID_MESSAGE_ID')
  expect(codeOf(await bb(project, 'ack', '--agent', 'cobalt-harbor', '--message', 'msg_0'))).toBe('MESSAGE_NOT_FOUND')
  const acked = (await bb(project, 'ack', '--agent', 'cobalt-harbor', '--message', id)).data
  expect(acked).toMatchObject({ state: 'acked', acked_by: 'agent' })
  // The first acknowledgement counts: a second has neither a time nor, below, an event of its own.
  expect((await bb(project, 'ack', '--agent', 'cobalt-harbor', '--message', id)).data).toEqual(acked)
  expect((await bb(project, 'read', '--agent', 'cobalt-harbor', '--message', id)).data.state).toBe('acked')
  expect(codeOf(await send('--to', 'role:nobody', '--category', 'INFO'))).toBe('UNKNOWN_RECIPIENT')
  expect(codeOf(await send('--to', 'cobalt-harbor', '--category', 'RESUME'))).toBe('INVALID_CATEGORY')
  expect(codeOf(await send('--to', 'cobalt-harbor', '--category', 'INFO', '--bead', ''))).toBe('MISSING_BEAD_ID')
  expect(codeOf(await send('--to', 'cobalt-harbor', '--category', 'BLOCKED', '--urgency', 'very'))).toBe(
    'INVALID_MESSAGE',
  )
  expect(codeOf(await bb(project, 'inbox', '--agent', 'cobalt-harbor', '--limit', '501'))).toBe('INVALID_LIMIT')
  expect(codeOf(await bb(project, 'inbox', '--agent', 'cobalt-harbor', '--state', 'lost'))).toBe('INVALID_STATE')
  expect((await send('--to', 'broadcast', '--category', 'BLOCKED')).data.recipients).toEqual(['cobalt-harbor'])
  const { stdout } = await project.run('heimdall', [
    'claim',
    'history',
    '--json',
    '--type',
    'HANDOFF',
    '--type',
    'BLOCKED',
    '--type',
    'ACK',
  ])
  const events = (JSON.parse(stdout) as { data: Record<string, unknown>[] }).data
  expect(events).toMatchObject([
    {
      version: 'v1',
      event_type: 'HANDOFF',
      project_root: project.root,
      bead_id: 'bb-1',
      from_agent: 'amber-otter',
      to_agent: 'cobalt-harbor',
      scope: null,
      payload: { subject: 'Parser', summary: 'It passes', next_action: 'write docs', requires_ack: true },
    },
    { event_type: 'ACK', actor_kind: 'agent' },
    {
      event_type: 'BLOCKED',
      bead_id: 'none',
      payload: {
        subject: 'Parser',
        blocker: 'It passes',
        requested_action: 'Parser',
        urgency: 'medium',
        requires_ack: true,
      },
    },
  ])
})

const init = async (
  project: TemporaryProject,
  args: readonly string[],
  env = {},
): Promise<Record<string, unknown> & { code: number | null; error: Record<string, unknown> }> => {
  const { code, stdout, stderr } = await project.run('bb-init', args, { env })
  return { code, stderr, ...(JSON.parse(stdout) as { error: Record<string, unknown> }) }
}

test('seed 002 §6.2: next_action, requested_action, urgency and the sender reach the reader', async () => {
  const project = await team()
  const send = (...args: string[]): Promise<Envelope> =>
    bb(project, 'send', '--from', 'amber-otter', '--to', 'cobalt-harbor', '--bead', 'bb-1', '--body', 'It is', ...args)
  await send('--category', 'HANDOFF', '--subject', 'Parser', '--next-action', 'write docs')
  const request = ['--requested-action', 'send it', '--urgency', 'high']
  const asked = await send('--category', 'BLOCKED', '--subject', 'Schema', ...request)
  const blocked = { from_agent: 'amber-otter', requested_action: 'send it', urgency: 'high' }
  expect((await bb(project, 'inbox', '--agent', 'cobalt-harbor')).data).toMatchObject([
    blocked,
    { from_agent: 'amber-otter', next_action: 'write docs' },
  ])
  const read = await bb(project, 'read', '--agent', 'cobalt-harbor', '--message', asked.data.message_id)
  expect(read.data).toMatchObject(blocked)
  const { stdout } = await project.run('bb', ['agent', 'inbox', '--agent', 'cobalt-harbor'])
  expect(stdout).toMatch(/BLOCKED from amber-otter[^]*requested_action: send it\n {2}urgency: high\n/)
  expect(stdout).toContain('next_action: write docs')
  const status = await project.run('heimdall', ['status', '--json'])
  expect(status.stdout).toContain('Schema: send it')
  expect(status.stdout).toContain('urgency high')
})

test('seed 002 §4.1: a BB_AGENT_STALE_MINUTES that cannot apply says so on stderr and in JSON', async () => {
  const project = await team()
  const beat = (minutes: string) =>
    project.run('bb', ['agent', 'heartbeat', '--agent', 'amber-otter', '--json'], {
      env: { BB_AGENT_STALE_MINUTES: minutes },
    })
  const { stdout, stderr } = await beat('5')
  const said = 'BB_AGENT_STALE_MINUTES=5 has no effect'
  expect(stderr).toContain(`warning: ${said}`)
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, warnings: [expect.stringContaining(said)] })
  const patient = await beat('40')
  expect({ stderr: patient.stderr, hasWarnings: 'warnings' in (JSON.parse(patient.stdout) as object) }).toEqual({
    stderr: '',
    hasWarnings: false,
  })
})

test('seed 002 §7: bb-init registers, refuses what cannot be decided safely, and gives the same reason each time', async () => {
  const project = temporaryProject()
  const script = resolve(import.meta.dirname, '../../scripts/bb-init.mjs')
  const { stdout } = await runProgram([process.execPath, script, '--register', 'amber-otter', '--json'], {
    cwd: project.root,
    env: project.env,
  })
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    agent_id: 'amber-otter',
    mode: 'register',
    lease: { status: 'active' },
  })
  const undecided = await init(project, ['--non-interactive', '--json'])
  expect(undecided).toMatchObject({
    code: 1,
    ok: false,
    error: { code: 'AMBIGUOUS_SESSION' },
    recommendation: { action: 'register' },
  })
  expect(await init(project, ['--non-interactive', '--json'])).toEqual(undecided)
  expect(await init(project, ['--register', 'amber-otter', '--json'])).toMatchObject({
    code: 1,
    error: { code: 'DUPLICATE_AGENT_ID' },
    recommendation: { action: 'register' },
  })
  // "MUST include deterministic recommendation reason in output": with every failure, in one envelope.
  for (const [args, code] of [
    [['--adopt', 'ghost-agent'], 'AGENT_NOT_FOUND'],
    [['--register', 'No Good Name'], 'INVALID_AGENT_ID'],
    [['--register', 'new-name', '--adopt', 'amber-otter'], 'AMBIGUOUS_SESSION'],
    [['--bogus'], 'INIT_FAILED'],
    [['--adopt'], 'INIT_FAILED'],
  ] as const) {
    const { code: exit, stderr, ...body } = await init(project, args)
    expect({ args, exit, stderr, body }).toEqual({
      args,
      exit: 1,
      stderr: '',
      body: {
        ok: false,
        error: expect.objectContaining({ code, message: expect.any(String) }),
        recommendation: expect.objectContaining({ action: 'register', reason: body['error']['message'] }),
      },
    })
  }
})

/** Nobody here has beaten for longer than the stale time. */
async function silenceAll(project: TemporaryProject): Promise<void> {
  const room = openRoom({ project, clock: systemClock, boot: readMachine().boot })
  for (const { haid } of room.store.read((rows) => rows.agents())) await silence(room, haid, 20)
}

test('seed 002 §3.2, §3.4: adoption wants evidence in the scopes of that identity, and emits RESUME', async () => {
  const project = await team()
  await bb(project, 'reserve', '--agent', 'amber-otter', '--scope', 'src/*')
  project.write('elsewhere.txt', 'dirty, but not its scope')
  expect(await init(project, ['--adopt', 'amber-otter', '--json'])).toMatchObject({
    code: 1,
    error: { code: 'ADOPTION_REJECTED' },
    recommendation: { action: 'register' },
  })
  project.write('src/half.ts', 'x')
  // It has beaten just now: no evidence helps.
  expect(await init(project, ['--adopt', 'amber-otter', '--json'])).toMatchObject({
    code: 1,
    error: { code: 'ADOPTION_REJECTED', message: expect.stringContaining('alive') },
  })
  await silenceAll(project)
  expect(await init(project, ['--adopt', 'amber-otter', '--json'])).toMatchObject({
    code: 0,
    mode: 'adopt',
    resume_reason: 'uncommitted_scope',
    session_epoch: 2,
  })
  // An identity that has released its scopes is known by them still: that is how a session ends.
  await bb(project, 'release', '--agent', 'amber-otter', '--scope', 'src/*')
  await silenceAll(project)
  expect(await init(project, ['--adopt', 'amber-otter', '--json'])).toMatchObject({
    code: 0,
    resume_reason: 'uncommitted_scope',
    session_epoch: 3,
  })
  await project.run('heimdall', ['task', 'start', 'T-7', '--agent', 'cobalt-harbor'])
  await silenceAll(project)
  expect(await init(project, ['--adopt', 'cobalt-harbor', '--json'])).toMatchObject({
    code: 0,
    resume_reason: 'in_progress_ownership',
    tasks: ['T-7'],
  })
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'RESUME', '--json'])
  expect((JSON.parse(stdout) as { data: unknown[] }).data).toMatchObject([
    {
      from_agent: 'amber-otter',
      payload: {
        resume_reason: 'uncommitted_scope',
        prior_session_agent: 'amber-otter',
        adopted_agent: 'amber-otter',
        evidence: expect.stringContaining('src/half.ts'),
        confirmed_by_human: false,
      },
    },
    { payload: { resume_reason: 'uncommitted_scope' } },
    { bead_id: 'T-7', payload: { resume_reason: 'in_progress_ownership', tasks: ['T-7'] } },
  ])
})

test('a bead in progress that `bd` reports is evidence, too', async () => {
  const project = await team()
  const folder = project.path('tools')
  project.write('tools/bd', '#!/bin/sh\necho \'[{"id":"bb-9","status":"in_progress","assignee":"amber-otter"}]\'\n')
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` }
  await silenceAll(project)
  // The system reports EACCES, as for a folder of PATH that may not be searched: there is no bd to run, and no warning about it.
  expect(await init(project, ['--adopt', 'amber-otter', '--json'], env)).toMatchObject({ code: 1, stderr: '' })
  chmodSync(project.path('tools/bd'), 0o755)
  expect(await init(project, ['--adopt', 'amber-otter', '--json'], env)).toMatchObject({ code: 0, tasks: ['bb-9'] })
  expect(await init(project, ['--adopt', 'cobalt-harbor', '--json'], env)).toMatchObject({
    code: 1,
    error: { code: 'ADOPTION_REJECTED' },
  })
})
