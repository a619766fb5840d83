// Every command that changes something, by everybody who is not who it names: refused, nothing changed, on record under the right name.
import { expect, test } from 'vitest'
import { allCommands } from '../../src/cli/nouns.ts'
import { systemClock } from '../../src/clock.ts'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { register } from '../../src/coordination/who/registration.ts'
import { keysOf } from '../../src/coordination/who/key-files.ts'
import { readMachine } from '../../src/coordination/moment.ts'
import { sendNote } from '../../src/coordination/notes.ts'
import { fateOf, processRef } from '../../src/coordination/who/process-ref.ts'
import { listEvents } from '../../src/coordination/protocol.ts'
import { startTask } from '../../src/coordination/tasks.ts'
import { fixture, type Program, startProgram } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { openRoom } from './room.ts'

interface Victim {
  readonly id: string
  readonly haid: string
  readonly note: string
}

/** By the first name of each row. A new command has to be filed here or below. */
const CHANGES: Readonly<Record<string, (victim: Victim) => string[][]>> = {
  'heimdall agent add': ({ id }) => [[id, '--role', 'stolen', '--update']],
  'heimdall agent end': ({ id }) => [[id]],
  'heimdall agent revoke': ({ id, haid }) => [[id], [haid]],
  'heimdall agent reinstate': ({ id }) => [[id]],
  'bb-init': ({ id }) => [['--adopt', id, '--non-interactive']],
  'bb agent register': ({ id }) => [['--name', id, '--role', 'stolen', '--force-update']],
  'bb agent heartbeat': ({ id, haid }) => [
    ['--agent', id],
    ['--agent', haid],
  ],
  'bb agent reserve': ({ id }) => [['--agent', id, '--scope', 'docs']],
  'bb agent release': ({ id }) => [['--agent', id, '--scope', 'src']],
  'bb agent send': ({ id }) => [
    ['--from', id, '--to', 'broadcast', '--category', 'INFO', '--subject', 's', '--body', 'b'],
  ],
  'bb agent read': ({ id, note }) => [['--agent', id, '--message', note]],
  'bb agent ack': ({ id, note }) => [
    ['--agent', id, '--message', note],
    ['--human', '--message', note],
  ],
  'heimdall note send': ({ id }) => [
    ['--from', id, '--to', 'broadcast', '--category', 'INFO', '--subject', 's', '--body', 'b'],
  ],
  'heimdall note read': ({ id, note }) => [['--agent', id, note]],
  'heimdall note ack': ({ id, note }) => [
    ['--agent', id, note],
    ['--human', note],
  ],
  'heimdall claim': ({ id }) => [['docs', '--agent', id]],
  'heimdall claim renew': ({ id }) => [['--agent', id]],
  'heimdall claim release': ({ id, haid }) => [
    ['--agent', id],
    ['--haid', haid],
  ],
  'heimdall claim takeover': ({ id }) => [
    ['docs', '--agent', id],
    ['src', '--force', '--reason', 'mine'],
  ],
  'heimdall claim wait': ({ id }) => [['docs', '--agent', id, '--timeout', '1s']],
  'heimdall-claim heartbeat': ({ haid }) => [['--haid', haid]],
  'heimdall-haid register': ({ haid }) => [['--haid', haid, '--role', 'stolen']],
  'heimdall-haid heartbeat': ({ haid }) => [[haid]],
  'heimdall-haid revoke': ({ haid }) => [[haid]],
  'heimdall-haid reinstate': ({ haid }) => [[haid]],
  'heimdall task start': ({ id }) => [['T-2', '--agent', id]],
  'heimdall task done': ({ id }) => [['T-1', '--agent', id, '--summary', 'stolen']],
}

/** Commands that change nothing, or (`reap`) nothing of anybody in particular. */
const OTHERS = [
  'heimdall agent list',
  'heimdall agent show',
  'bb agent list',
  'bb agent show',
  'bb agent status',
  'bb agent inbox',
  'heimdall note list',
  'heimdall claim check',
  'heimdall claim list',
  'heimdall-claim show',
  'heimdall claim reap',
  'heimdall claim history',
  'heimdall why',
  'heimdall watch',
  'heimdall whoami',
  'heimdall task list',
  'heimdall-haid current',
  'heimdall-haid spawn',
  'heimdall-haid check',
  'heimdall-haid list',
  'heimdall-haid get',
  'heimdall-haid trailer',
]

const COMMANDS = await allCommands()
const OF_COORDINATION =
  /^(heimdall (agent|note|claim|why|watch|whoami|task (start|done|list))|bb|bb-init|heimdall-(haid|claim))( |$)/

test('every command of coordination is either tried below or known to change nothing', () => {
  const names = COMMANDS.map(({ spec }): string => spec.names[0]).filter((name) => OF_COORDINATION.test(name))
  expect(names.toSorted()).toEqual([...Object.keys(CHANGES), ...OTHERS].toSorted())
})

interface Answered {
  readonly exit: number
  readonly code: string | null
}

/** All in one process: a command of its own for each would take minutes. */
const run = async (
  { project, commands }: Scene,
  words: readonly string[],
  env: Record<string, string>,
): Promise<Answered> => {
  commands.send(JSON.stringify({ words, env: { ...project.env, ...env }, cwd: project.root }))
  return JSON.parse(await commands.nextLine(/^\{/)) as Answered
}

interface Scene {
  readonly project: TemporaryProject
  readonly commands: Program
  readonly room: Coordination
  readonly victim: Victim
  readonly secrets: Readonly<Record<'victim' | 'thief', string>>
  readonly thief: { readonly id: string; readonly haid: string }
}

/** A victim with a claim, a note and a task; a thief with a key of its own. With `process`, that process holds the victim. */
async function scene(process?: string): Promise<Scene> {
  const project = temporaryProject()
  const room = openRoom({ project, clock: systemClock, boot: readMachine().boot, host: readMachine().host, fateOf })
  const keep = keysOf(room)
  const victim = await register(room, { name: 'victim-one', role: 'agent', process }, keep)
  const thief = await register(room, { name: 'thief-one', role: 'agent' }, keep)
  const actor = { kind: 'agent', haid: victim.agent.haid, secret: victim.secret } as const
  await claimScopes(room, actor, { scopes: ['src'], cwd: project.root, task: 'T-1', ttlMinutes: 60 })
  await startTask(room, actor, { taskId: 'T-1', title: 'Parser' })
  const [note] = await sendNote(
    room,
    { kind: 'agent', haid: thief.agent.haid, secret: thief.secret },
    { to: 'victim-one', task: 'none', category: 'HANDOFF', subject: 's', body: 'b' },
  )
  return {
    project,
    commands: startProgram(fixture('command-lines')),
    room,
    victim: { id: 'victim-one', haid: victim.agent.haid, note: note?.messageId ?? '' },
    thief: { id: 'thief-one', haid: thief.agent.haid },
    secrets: { victim: victim.secret, thief: thief.secret },
  }
}

/** Everything but the record and what the exports remember. */
const state = ({ room }: Scene): unknown =>
  room.store.read((rows) => [
    rows.agents(),
    rows.claims({}),
    rows.notes({}),
    rows.tasks({}),
    rows.tickets(),
    rows.setting('stale-minutes'),
  ])

interface Wrong {
  readonly env: (scene: Scene) => Record<string, string>
  /** For whatever names the victim; what takes a person, or evidence, has codes of its own. */
  readonly code: string
  readonly by: (scene: Scene) => string | null
}

const thief = ({ thief: { id } }: Scene): string => id

const WRONG: Readonly<Record<string, Wrong>> = {
  'BB_AGENT is another': { env: () => ({ BB_AGENT: 'thief-one' }), code: 'IDENTITY_BORROWED', by: thief },
  'HEIMDALL_AGENT_ID is another': {
    env: () => ({ HEIMDALL_AGENT_ID: 'thief-one' }),
    code: 'IDENTITY_BORROWED',
    by: thief,
  },
  'HEIMDALL_HAID is another': {
    env: ({ thief: { haid } }) => ({ HEIMDALL_HAID: haid, BB_AGENT: 'thief-one' }),
    code: 'IDENTITY_BORROWED',
    by: thief,
  },
  'another with its own secret': {
    env: ({ thief: { haid }, secrets }) => ({ HEIMDALL_HAID: haid, HEIMDALL_SECRET: secrets.thief }),
    code: 'IDENTITY_BORROWED',
    by: thief,
  },
  'another’s tracker name': { env: () => ({ BD_ACTOR: 'thief-one' }), code: 'IDENTITY_BORROWED', by: thief },
  'a session that processes do not show': {
    env: () => ({ HEIMDALL_SESSION_ID: 'nowhere' }),
    code: 'IDENTITY_BORROWED',
    by: ({ room }) => `${room.rootHaid}/nowhere`,
  },
  'a name that nobody has': { env: () => ({ BB_AGENT: 'nobody-here' }), code: 'IDENTITY_BORROWED', by: () => null },
  'the victim’s name with a guess': {
    env: () => ({ BB_AGENT: 'victim-one', HEIMDALL_SECRET: 'guess' }),
    code: 'IDENTITY_UNPROVEN',
    by: () => null,
  },
  'the victim’s HAID with the thief’s secret': {
    env: ({ victim: { haid }, secrets }) => ({ HEIMDALL_HAID: haid, HEIMDALL_SECRET: secrets.thief }),
    code: 'IDENTITY_UNPROVEN',
    by: () => null,
  },
  'a secret without a name': {
    env: () => ({ HEIMDALL_SECRET: 'guess' }),
    code: 'IDENTITY_UNPROVEN',
    by: () => null,
  },
}

const CODES: Readonly<Record<string, string>> = {
  'bb-init': 'ADOPTION_REJECTED',
  'heimdall agent revoke': 'PERSON_REQUIRED',
  'heimdall agent reinstate': 'PERSON_REQUIRED',
  'heimdall-haid revoke': 'PERSON_REQUIRED',
  'heimdall-haid reinstate': 'PERSON_REQUIRED',
}

async function expectRefusals(made: Scene, wrong: Wrong, who: string): Promise<void> {
  const before = state(made)
  for (const [name, lines] of Object.entries(CHANGES))
    for (const args of lines(made.victim)) {
      const said = [who, name, ...args].join(' ')
      const seq = made.room.store.read((rows) => rows.lastSeq())
      const answered = await run(made, [...name.split(' '), ...args], wrong.env(made))
      const takesPerson = args.includes('--human') || args.includes('--force')
      const code = CODES[name] ?? (takesPerson ? 'PERSON_REQUIRED' : wrong.code)
      expect([said, answered.code, answered.exit !== 0]).toEqual([said, code, true])
      expect(state(made), said).toEqual(before)
      expect(listEvents(made.room, { afterSeq: seq }), said).toMatchObject([
        { event_type: 'REFUSED', from_agent: wrong.by(made), payload: { code } },
      ])
    }
}

test('refused, nothing changed, on record: every command by every wrong identity', async () => {
  const made = await scene()
  for (const [name, wrong] of Object.entries(WRONG)) await expectRefusals(made, wrong, name)
})

test('refused, nothing changed, on record: nobody in particular, while a live process holds the victim', async () => {
  await expectRefusals(
    await scene(processRef(process.pid)),
    { env: () => ({}), code: 'IDENTITY_HELD', by: () => null },
    'a script',
  )
})

test('the same commands, without a name and with variables that contradict each other', async () => {
  const made = await scene()
  const env = { HEIMDALL_HAID: made.victim.haid, BB_AGENT: 'thief-one' }
  const before = state(made)
  for (const words of [
    'heimdall claim release',
    'heimdall claim renew',
    'bb agent heartbeat',
    'heimdall agent end',
    'heimdall-haid heartbeat',
    'heimdall claim x',
  ])
    expect([words, await run(made, words.split(' '), env)]).toEqual([
      words,
      { exit: words.startsWith('bb ') ? 1 : words.startsWith('heimdall-') ? 2 : 4, code: 'IDENTITY_BORROWED' },
    ])
  expect(state(made)).toEqual(before)
})

test('whoever proves the other’s secret may act as it, and a script that is nobody acts from the key file', async () => {
  const made = await scene()
  const { victim, secrets } = made
  for (const env of [{ BB_AGENT: 'thief-one', HEIMDALL_SECRET: secrets.victim }, {}])
    for (const name of [victim.id, victim.haid])
      expect(await run(made, ['heimdall', 'claim', 'renew', '--agent', name], env)).toMatchObject({ exit: 0 })
  expect(listEvents(made.room, { types: ['REFUSED'] })).toEqual([])
  expect(listEvents(made.room, { types: ['RENEW'] })).toHaveLength(4)
})
