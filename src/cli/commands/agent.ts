// heimdall agent, heimdall whoami: show, add, end and revoke agents.
import { findAgent, unknownAgent } from '../../coordination/change.ts'
import { listClaims } from '../../coordination/claims/claims.ts'
import { type Coordination, projectHaid } from '../../coordination/coordination.ts'
import { readMachine } from '../../coordination/moment.ts'
import { NO_TASK } from '../../coordination/protocol.ts'
import { agentRecord, claimRecord, registryRecord } from '../../coordination/records.ts'
import type { Agent } from '../../coordination/store.ts'
import { livenessIn } from '../../coordination/who/alive.ts'
import { askingHere, type Caller, haidBeforeAny } from '../../coordination/who/caller.ts'
import { endSession } from '../../coordination/who/enrol.ts'
import { parseHaid } from '../../coordination/who/haid.ts'
import { keysOf } from '../../coordination/who/key-files.ts'
import { parseAgentId } from '../../coordination/who/names.ts'
import { pidOf } from '../../coordination/who/process-ref.ts'
import { register, setRevoked, updateAgent } from '../../coordination/who/registration.ts'
import { whoActs } from '../../person.ts'
import { commandLine } from '../../processes.ts'
import { type Answer, type Command, command, type Context } from '../command.ts'
import { actorFor, callerOf, personIn, sessionTree, withStore, withStoreToRead } from '../coordination-store.ts'
import { renderTable } from '../render/style.ts'

export const AGENT_RECORD =
  'agent_id, display_name, role, status (idle, working or revoked; working: it holds a claim), created_at, last_seen_at, version (increases with each change), current_task, haid, liveness (active, stale or evicted), session_epoch, origin (local or remote), machine'
export const REGISTRY =
  'haid, human, role, tool, tool_version, first_seen, last_heartbeat, status (active, stale or revoked)'

const nameArg = { name: 'agent', help: 'agent id or HAID' } as const

export const commands: readonly Command[] = [
  command({
    names: ['heimdall agent list'],
    summary: 'List agents with their liveness',
    flags: {
      role: { value: 'ROLE', help: 'only agents with this role' },
      status: {
        value: 'STATUS',
        help: 'only this status or liveness',
        choices: ['idle', 'working', 'revoked', 'active', 'stale', 'evicted'],
      },
    },
    examples: { 'heimdall agent list --status stale': 'lists agents that have been silent for too long' },
    output: `a list of agents: ${AGENT_RECORD}`,
    run: (context, { flags }) => listAgents(context, flags.role, flags.status),
  }),
  command({
    names: ['heimdall agent show'],
    summary: 'Show one agent',
    args: [nameArg],
    examples: { 'heimdall agent show amber-otter': 'prints the record of amber-otter' },
    output: AGENT_RECORD,
    run: (context, { args }) => showAgent(context, args.agent),
  }),
  command({
    names: ['heimdall agent add'],
    changes: true,
    summary: 'Register an agent',
    args: [{ name: 'name', help: 'agent id such as amber-otter; generated when absent', optional: true }],
    flags: {
      role: { value: 'ROLE', help: 'what it does', default: 'agent' },
      display: { value: 'TEXT', help: 'name to show' },
      update: { help: 'change role and display name of an agent that is registered' },
    },
    examples: {
      'heimdall agent add amber-otter --role backend': 'registers amber-otter',
      'heimdall agent add --role reviewer': 'registers an agent under a generated name',
    },
    output: AGENT_RECORD,
    run: (context, { flags, args }) =>
      addAgent(context, { name: args.name, role: flags.role, display: flags.display, isUpdate: flags.update === true }),
  }),
  command({
    names: ['heimdall agent end'],
    summary: 'End the session of an agent and release its claims',
    args: [{ ...nameArg, help: 'agent id or HAID; default your own', optional: true }],
    examples: { 'heimdall agent end amber-otter': 'releases all claims of amber-otter' },
    output: 'released (ids of the claims)',
    run: (context, { args }) =>
      withStore(context, async (db) => {
        const { released } = await endSession(db, await actorFor(context, db, args.agent, 'AGENT'))
        return { data: { released }, text: `✓ session ended, ${released.length} claims released` }
      }),
  }),
  command({
    names: ['heimdall agent revoke'],
    summary: 'Revoke an agent: it can change nothing until it is reinstated',
    about: 'Needs a human at a terminal.',
    args: [nameArg],
    examples: { 'heimdall agent revoke amber-otter': 'refuses every claim, release and note of amber-otter' },
    output: REGISTRY,
    run: (context, { args }) => setState(context, args.agent, true),
  }),
  command({
    names: ['heimdall agent reinstate'],
    summary: 'Lift the revocation of an agent',
    about: 'Needs a human at a terminal.',
    args: [nameArg],
    examples: { 'heimdall agent reinstate amber-otter': 'lets amber-otter act again' },
    output: REGISTRY,
    run: (context, { args }) => setState(context, args.agent, false),
  }),
  command({
    names: ['heimdall whoami'],
    hidden: true,
    summary: 'Show who you are here, what proves it, and what you hold',
    about:
      'A session proves its identity by its processes; a secret or a key file proves one too. A name in a variable or a flag is a label and proves nothing. Changes nothing.',
    examples: { 'heimdall whoami': 'prints the identity that commands in this terminal act as' },
    output:
      'haid, agent_id (or null), registered (the first change registers you), proof (secret, process, key or none), because, may_act, refusal (code and hint, or null), liveness, session, tree (the process that your tree descends from), human (whether a human is acting), holds (your claims)',
    run: (context) =>
      withStoreToRead(
        context,
        (db) => {
          const found = callerOf(context, db)
          const now = db.now()
          const liveness = db.store.read((rows) =>
            found.agent === undefined ? null : livenessIn(db, rows, found.agent, now),
          )
          return whoamiAnswer(context, found, liveness, listClaims(db, { holder: found.haid }).map(claimRecord))
        },
        ({ project, env }) => {
          const haid = haidBeforeAny(projectHaid(project, env, readMachine()), askingHere(context.env))
          const because = 'no agent has acted in this repository yet'
          const found = { as: 'everybody', haid, agent: undefined, proof: 'none', because, secret: null } as const
          return whoamiAnswer(context, found, null, [])
        },
      ),
  }),
]

export const recordOf = (db: Coordination, agent: Agent) =>
  db.store.read((rows) => agentRecord(db, rows, rows.agent(agent.haid) ?? agent, db.now()))

/** A malformed name is a mistake of its own, not an unknown agent. */
export const checkedName = (name: string): string => (name.startsWith('haid:') ? name : parseAgentId(name))

/** `status`: a status or a liveness. */
export const listAgents = (context: Context, role: string | undefined, status: string | undefined): Promise<Answer> =>
  withStoreToRead(
    context,
    (db) => {
      const now = db.now()
      const all = db.store.read((rows) => rows.agents().map((agent) => agentRecord(db, rows, agent, now)))
      const records = all
        .filter((agent) => role === undefined || agent.role === role)
        .filter((agent) => status === undefined || agent.status === status || agent.liveness === status)
      // One machine needs no column.
      const isFleet = new Set(records.map(({ machine }) => machine)).size > 1
      const table = renderTable(
        context.style,
        ['AGENT', ...(isFleet ? ['MACHINE'] : []), 'ROLE', 'LIVENESS', 'STATUS', 'LAST SEEN', 'TASK'],
        records.map((agent) => [
          agent.agent_id,
          ...(isFleet ? [agent.machine] : []),
          agent.role,
          agent.liveness,
          agent.status,
          agent.last_seen_at,
          agent.current_task ?? '',
        ]),
      )
      const none = all.length === 0 ? 'no agents' : `none of ${all.length} agents matches`
      return { data: records, text: records.length === 0 ? none : table }
    },
    () => ({ data: [], text: 'no agents' }),
  )

export const showAgent = (context: Context, name: string): Promise<Answer> =>
  withStoreToRead(
    context,
    (db) => {
      const agent = db.store.read((rows) => findAgent(rows, checkedName(name)))
      if (agent === undefined) throw db.store.read((rows) => unknownAgent(name, rows))
      const record = recordOf(db, agent)
      const text = Object.entries(record).map(([field, value]) => `${field}: ${value ?? ''}`)
      return { data: record, text: text.join('\n') }
    },
    () => {
      throw unknownAgent(checkedName(name))
    },
  )

interface NewAgent {
  readonly name: string | undefined
  readonly role: string
  readonly display: string | undefined
  readonly isUpdate: boolean
}

export const addAgent = (context: Context, { name: typed, role, display, isUpdate }: NewAgent): Promise<Answer> =>
  withStore(context, async (db) => {
    const name = typed === undefined ? undefined : parseAgentId(typed)
    const known = name === undefined ? undefined : db.store.read((rows) => rows.agentById(name))
    if (known !== undefined && isUpdate) {
      const actor = await actorFor(context, db, known.agentId)
      const updated = await updateAgent(db, actor, { role, displayName: display })
      return { data: recordOf(db, updated), text: `✓ updated ${updated.agentId}` }
    }
    const wanted = { name, role, displayName: display, tree: sessionTree(context) }
    const { agent } = await register(db, wanted, keysOf(db))
    return { data: recordOf(db, agent), text: `✓ registered ${agent.agentId} (${agent.haid})` }
  })

/** Revokes or reinstates, by HAID or by agent id. */
export const setState = (context: Context, named: string, isRevoked: boolean): Promise<Answer> =>
  withStore(context, async (db) => {
    const agent = db.store.read((rows) => findAgent(rows, named))
    if (agent === undefined) parseHaid(named)
    const haid = agent?.haid ?? named
    const what = isRevoked ? 'revoking an agent' : 'lifting a revocation'
    const { name } = await personIn(context, db, what, agent?.agentId ?? null)
    await setRevoked(db, { kind: 'human', name }, haid, isRevoked)
    return registryAnswer(db, haid, `${haid} ${isRevoked ? 'revoked' : 'active'}`)
  })

export function registryOf(db: Coordination, haid: string): Record<string, unknown> | undefined {
  return db.store.read((rows) => {
    const agent = rows.agent(haid)
    return agent === undefined ? undefined : registryRecord(db, rows, agent, db.now())
  })
}

/** One entry of seed 000's registry. */
export function registryAnswer(db: Coordination, haid: string, text?: string): Answer {
  const record = registryOf(db, haid)
  if (record === undefined) throw unknownAgent(haid)
  return { data: { haid, ...record }, text: text ?? JSON.stringify(record, null, 2), seedJson: record }
}

const PROOFS: Readonly<Record<Caller['proof'], string>> = {
  secret: 'the secret in HEIMDALL_SECRET',
  process: 'the process tree that it runs in',
  key: 'the key file that only its owner can read',
  none: 'nothing',
}

function whoamiAnswer(
  context: Context,
  { haid, agent, proof, because, refused }: Caller,
  liveness: string | null,
  holds: Record<string, unknown>[],
): Answer {
  const { place } = askingHere(context.env)
  const acting = whoActs()
  const name = agent === undefined ? 'not registered yet' : `${agent.agentId}, ${liveness ?? ''}`
  const lines = [
    `${haid} (${name})`,
    `proved by ${PROOFS[proof]}: ${because}`,
    ...(refused === undefined ? [] : [`may change nothing: ${refused.error.hint ?? refused.error.code}`]),
    acting.person ? `a human is acting: ${acting.name}` : `no human is acting: ${acting.reason}`,
    ...holds.map(heldLine),
  ]
  const data = {
    haid,
    agent_id: agent?.agentId ?? null,
    registered: agent !== undefined,
    proof,
    because,
    may_act: refused === undefined && (proof !== 'none' || agent === undefined),
    refusal: refused === undefined ? null : { code: refused.error.code, hint: refused.error.hint },
    liveness,
    session: place?.session?.id ?? null,
    tree: place === undefined ? null : { pid: pidOf(place.tree), command: commandLine(pidOf(place.tree)) },
    human: acting.person,
    holds,
  }
  return { data, text: lines.join('\n') }
}

function heldLine(record: Record<string, unknown>): string {
  const surfaces = (record['claimed_surfaces'] as string[]).join(' ')
  const ref = String(record['task_ref'])
  const hasNoTask = ref === NO_TASK || ref.startsWith(`${NO_TASK} (`)
  const task = hasNoTask ? ref.slice(NO_TASK.length) : ` for ${ref}`
  return `holds ${surfaces}${task} until ${String(record['expires_at'])}`
}
