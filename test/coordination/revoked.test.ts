// A revoked agent at every entry point that changes something: refused, and nothing has changed, no file and no branch either.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { expect, test } from 'vitest'
import type { CommandSpec } from '../../src/cli/command.ts'
import { exitOf } from '../../src/cli/manners.ts'
import { allCommands } from '../../src/cli/nouns.ts'
import { systemClock } from '../../src/clock.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { readMachine } from '../../src/coordination/moment.ts'
import { listEvents } from '../../src/coordination/protocol.ts'
import { HeimdallError } from '../../src/errors.ts'
import { beatFor } from '../../src/coordination/who/kept.ts'
import { keysOf } from '../../src/coordination/who/key-files.ts'
import { fateOf } from '../../src/coordination/who/process-ref.ts'
import { register, setRevoked } from '../../src/coordination/who/registration.ts'
import { TOOLS } from '../../src/mcp/tools.ts'
import { join, RawSession } from '../mcp/session.ts'
import { playHost } from '../support/played-host.ts'
import { fixture, launcher, startProgram } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { until, waitForFile } from '../support/wait.ts'
import { openRoom } from './room.ts'

const COMMANDS = await allCommands()

/** Commands that act as an agent of the ledger and prove it there, with words that reach that point. */
const ACTS: Readonly<Record<string, readonly string[]>> = {
  'bb agent heartbeat': [],
  'bb agent reserve': ['--scope', 'docs'],
  'bb agent release': ['--scope', 'src'],
  'bb agent send': ['--to', 'broadcast', '--category', 'INFO', '--subject', 's', '--body', 'b'],
  'bb agent read': ['--message', 'x'],
  'bb agent ack': ['--message', 'x'],
  'heimdall agent end': [],
  'heimdall note send': ['--to', 'broadcast', '--category', 'INFO', '--subject', 's', '--body', 'b'],
  'heimdall note read': ['x'],
  'heimdall note ack': ['x'],
  'heimdall claim': ['docs'],
  'heimdall claim renew': [],
  'heimdall claim release': [],
  'heimdall claim takeover': ['docs'],
  'heimdall claim wait': ['docs', '--timeout', '1s'],
  'heimdall-claim heartbeat': [],
  'heimdall-haid heartbeat': [],
  'heimdall task start': ['T-2'],
  'heimdall task done': ['T-1', '--summary', 's'],
}

/** Takes a human, or changes nothing that agents share. */
const OTHERS = new Set(
  `
  agent_list agent_reinstate agent_revoke agent_show approve attach bb_agent_inbox bb_agent_list
  bb_agent_show bb_agent_status capsule_deps capsule_hydrate capsule_list capsule_show claim_check
  claim_history claim_list completion config_get config_list cost demo deny diff doctor events events_export
  events_show events_tail fact_get fact_list fleet_doctor fleet_export fleet_link fleet_status guard_run hash
  heimdall-claim_show heimdall-haid_check heimdall-haid_current heimdall-haid_get heimdall-haid_list
  heimdall-haid_reinstate heimdall-haid_revoke heimdall-haid_spawn heimdall-haid_trailer help
  hm_export hm_peek hm_status hm_wait hook hosts logs ls man mcp_pins_approve mcp_pins_list mcp_pins_remove
  mcp_pins_show mcp_secrets_add mcp_secrets_list mcp_secrets_remove mcp_shim message_schema message_validate
  next note_list open peers_check peers_list policy_compile policy_diff policy_explain policy_lint
  policy_replay policy_test protocol_demo protocol_log runs_list runs_reindex runs_show status
  sub_approvals_allow sub_approvals_deny sub_approvals_list symbol_get symbol_list
  task_diff task_explain task_list task_show tokens_delta tokens_report top trust trust_list trust_remove up version
  watch whoami why worktree_list
`
    .trim()
    .split(/\s+/)
    .map((name) => name.replaceAll('_', ' ')),
)

const own = ({ names: [name] }: CommandSpec): string => name

test('every command is tried below, takes a human, or changes nothing that agents share', () => {
  const unfiled = COMMANDS.map(({ spec }): CommandSpec => spec)
    .filter((spec) => spec.changes !== true && ACTS[own(spec)] === undefined)
    .map((spec) => own(spec).replace(/^heimdall /, ''))
    .filter((name) => !OTHERS.has(name))
  expect(unfiled).toEqual([])
})

/** Words that a command line of this row is understood with. */
function wordsFor({ args = [], flags = {}, rest }: CommandSpec): string[] {
  const required = Object.entries(flags).filter(([, flag]) => flag.required)
  return [
    ...args.filter(({ optional }) => optional !== true).map(() => 'x'),
    ...required.flatMap(([name, { type, choices }]) => [
      `--${name}`,
      choices?.[0] ?? { text: 'x', integer: '1', duration: '1m' }[type ?? 'text'],
    ]),
    ...(rest === undefined ? [] : ['--', 'true']),
  ]
}

const openStore = (project: TemporaryProject): Coordination =>
  openRoom({ project, clock: systemClock, boot: readMachine().boot, host: readMachine().host, fateOf })

/** Everything but the record of refusals: rows of the store, branches, files of project and home. */
function everything(project: TemporaryProject, room: Coordination): unknown {
  return {
    rows: room.store.read((rows) => [rows.agents(), rows.claims({}), rows.notes({}), rows.tasks({}), rows.tickets()]),
    branches: project.git('for-each-ref'),
    files: [...filesBelow(project.root), ...filesBelow(project.home)],
  }
}

/** The ledger has the record of refusals, and the run index and logs of our own say nothing that agents share. */
const OWN_RECORDS = /^(\.git\/heimdall|\.planning\/ledger|\.planning\/protocol\.log|\.local\/state\/heimdall\/runs\.db)/

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => joinPath(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !OWN_RECORDS.test(path))
    .map((path) => `${path} ${hash(readFileSync(joinPath(folder, path)))}`)
    .toSorted()
}

const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

const revoke = (room: Coordination, haid: string, isRevoked = true): Promise<unknown> =>
  setRevoked(room, { kind: 'human', name: 'ana' }, haid, isRevoked)

test('every command of a revoked agent is refused, on record, and nothing has changed', async () => {
  const project = temporaryProject()
  const room = openStore(project)
  const { agent, secret } = await register(room, { name: 'amber-otter', role: 'agent' }, keysOf(room))
  const env = { HEIMDALL_HAID: agent.haid, HEIMDALL_SECRET: secret }
  expect(await project.run('heimdall', ['fact', 'set', 'port', '3000'], { env })).toMatchObject({ code: 0 })
  await revoke(room, agent.haid)
  const commands = startProgram(fixture('command-lines'))
  const before = everything(project, room)
  for (const spec of COMMANDS.map((command): CommandSpec => command.spec)) {
    const words = spec.changes === true ? wordsFor(spec) : ACTS[own(spec)]
    if (words === undefined) continue
    const line = [...own(spec).split(' '), ...words]
    const seq = room.store.read((rows) => rows.lastSeq())
    commands.send(JSON.stringify({ words: line, env: { ...project.env, ...env }, cwd: project.root }))
    expect([line.join(' '), JSON.parse(await commands.nextLine(/^\{/))]).toEqual([
      line.join(' '),
      { exit: exitOf(new HeimdallError('AGENT_REVOKED', ''), own(spec), true), code: 'AGENT_REVOKED' },
    ])
    expect(listEvents(room, { afterSeq: seq }), line.join(' ')).toMatchObject([
      { event_type: 'REFUSED', from_agent: 'amber-otter', payload: { code: 'AGENT_REVOKED' } },
    ])
    expect(everything(project, room), line.join(' ')).toEqual(before)
  }
  await revoke(room, agent.haid, false)
  expect(await project.run('heimdall-blackboard', ['set', 'port', '4000'], { env })).toMatchObject({ code: 0 })
})

test('the keeper of a revoked agent’s run does not renew its leases', async () => {
  const project = temporaryProject()
  const room = openStore(project)
  const { agent } = await register(room, { name: 'amber-otter', role: 'agent' }, keysOf(room))
  const seen = (): unknown => room.store.read((rows) => rows.agent(agent.haid)?.beat)
  const kept = { haid: agent.haid, epoch: agent.runtime.epoch }
  await revoke(room, agent.haid)
  const before = seen()
  await beatFor(room, kept)
  expect(seen()).toEqual(before)
  await revoke(room, agent.haid, false)
  await beatFor(room, kept)
  expect(seen()).not.toEqual(before)
})

const EDIT = (path: string): object => ({
  tool_name: 'Edit',
  tool_input: { file_path: path, old_string: 'a', new_string: 'b' },
  tool_use_id: 'use-1',
})

test('a revoked host session: its hooks refuse what writes, and no other name, end or child of it acts again', async () => {
  const project = temporaryProject()
  const room = openStore(project)
  const host = playHost(project)
  await host.hook('SessionStart')
  const path = project.write('src/own.ts', 'x\n')
  expect((await host.hook('PreToolUse', EDIT(path))).stdout).toBe('')
  expect(await host.run('heimdall', ['agent', 'add', 'jade-heron', '--role', 'agent'])).toMatchObject({
    code: 0,
  })
  const [claude] = room.store.read((rows) => rows.agents().filter(({ runtime }) => runtime.process !== null))
  const expectRefused = async (): Promise<void> => {
    const before = everything(project, room)
    for (const payload of [EDIT(path), EDIT(project.path('free.ts')), { ...EDIT(''), ...SHELL }])
      expect((await host.hook('PreToolUse', payload)).stdout).toMatch(/"deny".*is revoked and may change nothing/)
    for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop', 'SessionEnd', 'SessionStart'])
      expect((await host.hook(event)).stderr).toContain('is revoked')
    const refused = { code: 4, stderr: expect.stringContaining('is revoked') as string }
    const take = ['claim', 'docs']
    expect(await host.run('heimdall', take)).toMatchObject(refused)
    expect(await host.run('heimdall', [...take, '--agent', 'jade-heron'])).toMatchObject(refused)
    expect(await host.run('heimdall', ['agent', 'add', '--role', 'agent'])).toMatchObject(refused)
    expect(await host.run('heimdall', ['run', '--', 'true'])).toMatchObject(refused)
    // With the exit code of its contract.
    expect(await host.run('heimdall-blackboard', ['set', 'port', '1'])).toMatchObject({ ...refused, code: 2 })
    // Another host that it starts is no way out.
    const child = ['bash', '-c', 'exec -a codex bash -c \'"$@"; exit $?\' "$@"', 'x', 'x', ...launcher('heimdall')]
    expect(await host.program([...child, ...take] as [string, ...string[]])).toMatchObject(refused)
    expect(everything(project, room)).toEqual(before)
  }
  await revoke(room, claude?.haid ?? '')
  await expectRefused()
  // The other name of the same session, revoked alone.
  await revoke(room, claude?.haid ?? '', false)
  await revoke(room, 'jade-heron')
  await expectRefused()
  await revoke(room, 'jade-heron', false)
  expect((await host.hook('PreToolUse', EDIT(path))).stdout).toBe('')
})

const SHELL = { tool_name: 'Bash', tool_input: { command: 'make' } }

/** The least that each tool takes. */
function inputFor({ required, args }: (typeof TOOLS)[number]): object {
  const values = { text: 'x', texts: ['src'], count: 1, flag: true }
  return Object.fromEntries(required.map((name) => [name, values[args[name] ?? 'text']]))
}

test('a revoked MCP client: no tool changes anything, under no name of the connection and after no reconnect', async () => {
  const project = temporaryProject()
  const room = openStore(project)
  const cursor = await join(project, 'cursor')
  const claimed = await cursor.call('make_claim', { surfaces: ['src'], task: 'T-1' })
  const haid = String(claimed.data['haid'])
  expect((await cursor.call('blackboard_set', { key: 'port', value: '1' })).isError).toBe(false)
  project.write('src/dirty.ts', 'work of somebody\n')
  await revoke(room, haid)
  const before = everything(project, room)
  const changing = TOOLS.filter(({ readOnly }) => !readOnly)
  const expectRefused = async (session: RawSession, more: object = {}): Promise<void> => {
    for (const tool of changing)
      expect([tool.name, await session.call(tool.name, { ...inputFor(tool), ...more })]).toMatchObject([
        tool.name,
        { isError: true, data: { error: 'AGENT_REVOKED' } },
      ])
    expect(everything(project, room)).toEqual(before)
  }
  await expectRefused(cursor)
  await expectRefused(cursor, { client_identity: 'other' })
  await cursor.end()
  await expectRefused(await join(project, 'cursor'))
  await expectRefused(await join(project, 'cursor'), { client_identity: 'other' })
  // The client itself was started again.
  const command = ['sh', '-c', '"$@"; exit $?', 'sh', ...launcher('heimdall-ledger-mcp')]
  const again = new RawSession(project, { command: command as [string, ...string[]] })
  await again.initialize('cursor')
  await expectRefused(again)
  expect(listEvents(room, { types: ['REFUSED'] }).length).toBeGreaterThanOrEqual(5 * changing.length)
  expect(new Set(listEvents(room, { types: ['REFUSED'] }).map(({ from_agent }) => from_agent))).toEqual(
    new Set(['cursor']),
  )
  // Others are not concerned, and a reinstated client goes on.
  const copilot = await join(project, 'copilot')
  expect((await copilot.call('blackboard_set', { key: 'port', value: '2' })).isError).toBe(false)
  await revoke(room, haid, false)
  expect((await again.call('blackboard_set', { key: 'port', value: '3' })).isError).toBe(false)
})

test('a label of a connection that is revoked ends the connection, also after it was opened again', async () => {
  const project = temporaryProject()
  const room = openStore(project)
  const cursor = await join(project, 'cursor')
  await cursor.call('make_claim', { surfaces: ['src'], task: 'T-1' })
  const helper = await cursor.call('make_claim', { surfaces: ['docs'], task: 'T-2', client_identity: 'helper' })
  await revoke(room, String(helper.data['haid']))
  const refused = { isError: true, data: { error: 'AGENT_REVOKED' } }
  expect(await cursor.call('append_decision', { title: 't', body: 'b' })).toMatchObject(refused)
  await cursor.end()
  const again = await join(project, 'cursor')
  expect(await again.call('append_decision', { title: 't', body: 'b' })).toMatchObject(refused)
})

test('a revoked agent of a run that drops its variables is still that agent', async () => {
  const project = temporaryProject()
  const room = openStore(project)
  const [begun, go, done] = ['begun', 'go', 'done'].map((name) => joinPath(project.home, name)) as [
    string,
    string,
    string,
  ]
  const heimdall = launcher('heimdall').join(' ')
  const script = `touch ${begun}; while [ ! -e ${go} ]; do sleep 0.05; done
    { env -u HEIMDALL_SECRET -u HEIMDALL_HAID -u HEIMDALL_AGENT_ID -u BB_AGENT -u HEIMDALL_SESSION_ID ${heimdall} claim docs
      env -i HOME="$HOME" PATH="$PATH" ${heimdall} fact set port 1
      setsid --wait env -i HOME="$HOME" PATH="$PATH" ${heimdall} agent add --role agent
    } > ${done}.part 2>&1; mv ${done}.part ${done}`
  const running = project.run('heimdall', ['run', '--agent', 'amber-otter', '--', 'sh', '-c', script])
  await waitForFile(begun)
  await until('the session to hold its agent', () =>
    room.store.read((rows) => (rows.agentById('amber-otter')?.runtime.tree ?? null) !== null),
  )
  await revoke(room, 'amber-otter')
  const before = room.store.read((rows) => [rows.agents().map(({ haid }) => haid), rows.claims({})])
  writeFileSync(go, '')
  await waitForFile(done)
  expect(readFileSync(done, 'utf8').match(/amber-otter is revoked and may change nothing/g)).toHaveLength(3)
  expect(room.store.read((rows) => [rows.agents().map(({ haid }) => haid), rows.claims({})])).toEqual(before)
  await running
})
