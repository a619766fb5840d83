// heimdall-haid: seed 000's registry of identities.
import { findAgent, unknownAgent } from '../../coordination/change.ts'
import { projectHaid } from '../../coordination/coordination.ts'
import { readMachine } from '../../coordination/moment.ts'
import { registryRecord } from '../../coordination/records.ts'
import { askingHere, haidBeforeAny } from '../../coordination/who/caller.ts'
import { parseHaid, spawnHaid, trailer } from '../../coordination/who/haid.ts'
import { keysOf } from '../../coordination/who/key-files.ts'
import { heartbeat, registerHaid, updateAgent } from '../../coordination/who/registration.ts'
import { type Answer, type Command, command, type Context } from '../command.ts'
import { callerOf, ledgerActor, sessionTree, withStore, withStoreToRead } from '../coordination-store.ts'
import { renderTable } from '../render/style.ts'
import { REGISTRY, registryAnswer, registryOf, setState } from './agent.ts'

const haidArg = { name: 'haid', help: 'a HAID' } as const
const haidOrIdArg = { name: 'haid', help: 'a HAID, or an agent id' } as const
const ownHaidArg = { name: 'haid', help: 'a HAID; default your own', optional: true } as const

/** The exit code of `check`. */
const REVOKED_OR_UNKNOWN = 3

export const commands: readonly Command[] = [
  command({
    names: ['heimdall-haid current'],
    summary: 'Print the HAID of this session',
    examples: { 'heimdall-haid current': 'prints a HAID such as haid:ana.box-1f2e' },
    output: 'haid',
    run: async (context) => plain(await ownHaid(context)),
  }),
  command({
    names: ['heimdall-haid spawn'],
    summary: 'Print the HAID of a child agent with this role',
    args: [{ name: 'role', help: 'role or client name' }],
    examples: { 'heimdall-haid spawn reviewer': 'prints haid:ana.box-1f2e/reviewer; registers nothing' },
    output: 'haid',
    run: async (context, { args }) => plain(spawnHaid(await ownHaid(context), args.role)),
  }),
  command({
    names: ['heimdall-haid register'],
    changes: true,
    summary: 'Register a HAID, or update it; a revocation stays',
    flags: {
      haid: { value: 'HAID', help: 'default your own' },
      role: { value: 'ROLE', help: 'default the suffix of the HAID, else orchestrator' },
    },
    examples: { 'heimdall-haid register --role orchestrator': 'registers your HAID' },
    output: REGISTRY,
    run: (context, { flags }) =>
      withStore(context, async (db) => {
        const found = callerOf(context, db)
        const haid = flags.haid ?? found.haid
        const isSession = flags.haid === undefined && found.proof === 'process'
        const made = isSession
          ? undefined
          : await registerHaid(db, haid, { role: flags.role, tree: sessionTree(context) }, keysOf(db))
        if (made === undefined) {
          const actor = await ledgerActor(context, db, flags.haid)
          if (flags.role === undefined) await heartbeat(db, actor)
          else await updateAgent(db, actor, { role: flags.role })
        }
        return registryAnswer(db, haid, haid)
      }),
  }),
  command({
    names: ['heimdall-haid heartbeat'],
    summary: 'Record that a HAID is alive',
    args: [ownHaidArg],
    examples: { 'heimdall-haid heartbeat': 'updates last_heartbeat' },
    output: REGISTRY,
    run: (context, { args }) =>
      withStore(context, async (db) => {
        const haid = args.haid ?? callerOf(context, db).haid
        parseHaid(haid)
        if (db.store.read((rows) => findAgent(rows, haid)) === undefined) throw unknownAgent(haid)
        await heartbeat(db, await ledgerActor(context, db, args.haid))
        return registryAnswer(db, haid, haid)
      }),
  }),
  command({
    names: ['heimdall-haid revoke'],
    summary: 'Revoke a HAID: it can change nothing until it is reinstated',
    args: [haidOrIdArg],
    examples: {
      'heimdall-haid revoke haid:ana.box-1f2e/cursor': 'refuses every claim, release and note of that agent',
    },
    output: REGISTRY,
    run: (context, { args }) => setState(context, args.haid, true),
  }),
  command({
    names: ['heimdall-haid reinstate'],
    summary: 'Lift a revocation',
    args: [haidOrIdArg],
    examples: { 'heimdall-haid reinstate haid:ana.box-1f2e/cursor': 'lets that agent act again' },
    output: REGISTRY,
    run: (context, { args }) => setState(context, args.haid, false),
  }),
  command({
    names: ['heimdall-haid check'],
    summary: 'Check whether a HAID may act; exit 3 when it is revoked or unknown',
    args: [haidArg],
    examples: { 'heimdall-haid check haid:ana.box-1f2e/cursor': 'prints active, stale, revoked or absent' },
    output: 'haid, status (active, stale, revoked or absent)',
    run: (context, { args: { haid } }) => {
      parseHaid(haid)
      const answer = (status: string): Answer => ({
        data: { haid, status },
        text: status,
        ...(status === 'revoked' || status === 'absent' ? { exit: REVOKED_OR_UNKNOWN } : {}),
      })
      return withStoreToRead(
        context,
        (db) => {
          const record = registryOf(db, haid)
          return answer(record === undefined ? 'absent' : String(record['status']))
        },
        () => answer('absent'),
      )
    },
  }),
  command({
    names: ['heimdall-haid list'],
    summary: 'List the registry of HAIDs',
    examples: { 'heimdall-haid list --json': 'prints the registry with its version' },
    output: 'agents (HAID to its entry)',
    run: (context) =>
      withStoreToRead(
        context,
        (db) => {
          const now = db.now()
          const found = db.store.read((rows) =>
            rows.agents().map((agent) => ({ ...agent, record: registryRecord(db, rows, agent, now) })),
          )
          const agents = Object.fromEntries(found.map(({ haid, record }) => [haid, record]))
          const rows = found.map(({ haid, role, record }) => [
            haid,
            role,
            String(record['status']),
            String(record['last_heartbeat']),
          ])
          const text = renderTable(context.style, ['HAID', 'ROLE', 'STATUS', 'HEARTBEAT'], rows)
          return { data: { agents }, text, seedJson: { version: '1.0.0', agents } }
        },
        () => ({ data: { agents: {} }, text: '', seedJson: { version: '1.0.0', agents: {} } }),
      ),
  }),
  command({
    names: ['heimdall-haid get'],
    summary: 'Show one entry of the registry',
    args: [haidArg],
    examples: { 'heimdall-haid get haid:ana.box-1f2e': 'prints the entry; exit 2 when there is none' },
    output: REGISTRY,
    run: (context, { args }) => {
      parseHaid(args.haid)
      return withStoreToRead(
        context,
        (db) => registryAnswer(db, args.haid),
        () => {
          throw unknownAgent(args.haid)
        },
      )
    },
  }),
  command({
    names: ['heimdall-haid trailer'],
    summary: 'Print the trailer that attributes a commit',
    args: [ownHaidArg],
    examples: { 'heimdall-haid trailer': 'prints Heimdall-Agent: and the HAID' },
    output: 'trailer',
    run: async (context, { args }) => plain(trailer(args.haid ?? (await ownHaid(context))), 'trailer'),
  }),
]

/** The caller's HAID: the session's own, or the one of this human, machine and project. */
function ownHaid(context: Context): Promise<string> {
  const given = context.env['HEIMDALL_HAID'] ?? ''
  if (given !== '') parseHaid(given)
  return withStoreToRead(
    context,
    (db) => callerOf(context, db).haid,
    ({ project, env }) => haidBeforeAny(projectHaid(project, env, readMachine()), askingHere(context.env)),
  )
}

const plain = (text: string, field = 'haid'): Answer => ({ data: { [field]: text }, text })
