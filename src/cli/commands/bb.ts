// bb agent, bb-init: seed 002's launchers. Reservations are claims, and `bb agent` speaks of them in the seed's words.
import { createInterface } from 'node:readline/promises'
import { findAgent, unknownAgent } from '../../coordination/change.ts'
import { claimScopes } from '../../coordination/claims/claims.ts'
import { standingNow, standingOf } from '../../coordination/claims/conflicts.ts'
import { releaseClaims } from '../../coordination/claims/held.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { iso } from '../../coordination/moment.ts'
import { NO_TASK } from '../../coordination/protocol.ts'
import { conflictRecord, endedStanding, noteRecord, reservationRecord } from '../../coordination/records.ts'
import type { Claim } from '../../coordination/store.ts'
import { type BegunSession, beginSession } from '../../coordination/who/begin-session.ts'
import { heartbeat } from '../../coordination/who/registration.ts'
import { HeimdallError } from '../../errors.ts'
import { LEASE_MINUTES_DEFAULT } from '../../limits.ts'
import { agentFlag } from '../agent-flag.ts'
import { type Answer, type Command, command, type Context } from '../command.ts'
import {
  actorFor,
  callerOf,
  noteLoss,
  personIn,
  sessionTree,
  withStore,
  withStoreToRead,
} from '../coordination-store.ts'
import { renderTable } from '../render/style.ts'
import { addAgent, AGENT_RECORD, checkedName, listAgents, recordOf, showAgent } from './agent.ts'
import { acknowledgeNote, humanFlag, inboxFlags, list, NOTE, read, send, sendFlags } from './note.ts'

const RESERVATION =
  'reservation_id, scope (as typed), agent_id, bead_id (task, or none), state (active, released or expired), created_at, expires_at, released_at, normalized_scope (absolute paths), epoch (fencing token), liveness (active, stale or evicted)'

const beadFlag = {
  value: 'TASK',
  help: 'task or bead it is about, or "none"',
  default: NO_TASK,
} as const
const scopeFlag = { value: 'SCOPE', multiple: true, required: true } as const
const messageFlag = { value: 'ID', help: 'id of the note', required: true } as const

export const commands: readonly Command[] = [
  command({
    names: ['bb-init'],
    changes: true,
    summary: 'Begin a session: register a name, or adopt a prior identity with evidence',
    about:
      'Evidence is uncommitted changes in the scopes of the identity, or a task in progress that it owns. Without evidence, or when the identity is alive, a human at the terminal is asked; with --non-interactive, or without a terminal, the adoption is refused with a recommendation.',
    flags: {
      adopt: { value: 'ID', help: 'prior identity to adopt' },
      register: { value: 'NAME', help: 'new name to register' },
      role: { value: 'ROLE', help: 'role of a new name', default: 'agent' },
      'non-interactive': { help: 'never ask' },
      'project-root': { value: 'DIR', help: 'project to work in; default the current folder' },
    },
    examples: {
      'bb-init --register amber-otter --json': 'begins as amber-otter',
      'bb-init --adopt amber-otter --non-interactive --json': 'adopts amber-otter if its work is unfinished',
    },
    output: 'agent_id, mode (register or adopt), lease, recommendation, timestamp',
    run: async (context, { flags }) => {
      const root = flags['project-root']
      const inProject = root === undefined ? context : context.in(context.resolve(root))
      const mayAsk = flags['non-interactive'] !== true && context.stdin.isTTY && context.stderr.isTTY
      return await withStore(inProject, async (db) => {
        const { cwd, env, note } = inProject
        const confirm = mayAsk
          ? (doubt: string, agentId: string | null) => confirmed(inProject, db, doubt, agentId)
          : undefined
        return begun(db, await beginSession(db, { ...flags, cwd, env, note, tree: sessionTree(inProject), confirm }))
      })
    },
  }),
  command({
    names: ['bb agent register'],
    changes: true,
    summary: 'Register an agent under a name of its own',
    flags: {
      name: { value: 'ID', help: 'agent id such as amber-otter; generated when absent' },
      role: { value: 'ROLE', help: 'what it does', required: true },
      display: { value: 'TEXT', help: 'name to show' },
      'force-update': { help: 'change role and display name of an agent that is registered' },
    },
    examples: { 'bb agent register --name amber-otter --role backend --json': 'registers amber-otter' },
    output: AGENT_RECORD,
    run: (context, { flags: { name, role, display, ...flags } }) =>
      addAgent(context, { name, role, display, isUpdate: flags['force-update'] === true }),
  }),
  command({
    names: ['bb agent list'],
    summary: 'List agents with their liveness',
    flags: {
      role: { value: 'ROLE', help: 'only agents with this role' },
      status: { value: 'STATUS', help: 'only this status or liveness' },
    },
    examples: { 'bb agent list --json': 'lists agents by name' },
    output: `a list of agents: ${AGENT_RECORD}`,
    run: (context, { flags }) => listAgents(context, flags.role, flags.status),
  }),
  command({
    names: ['bb agent show'],
    summary: 'Show one agent',
    flags: { agent: { value: 'ID', help: 'agent id or HAID', required: true } },
    examples: { 'bb agent show --agent amber-otter --json': 'prints the record of amber-otter' },
    output: AGENT_RECORD,
    run: (context, { flags }) => showAgent(context, flags.agent),
  }),
  command({
    names: ['bb agent heartbeat', 'bb agent activity-lease'],
    summary: 'Record that an agent is alive; renews its leases',
    flags: { agent: agentFlag },
    examples: { 'bb agent heartbeat --agent amber-otter --json': 'updates last_seen_at; may be repeated at will' },
    output: AGENT_RECORD,
    run: (context, { flags }) =>
      withStore(context, async (db) => {
        if (flags.agent !== undefined) checkedName(flags.agent)
        const agent = await heartbeat(db, await actorFor(context, db, flags.agent))
        const record = recordOf(db, agent)
        return { data: record, text: `✓ ${agent.agentId} seen at ${record.last_seen_at}` }
      }),
  }),
  command({
    names: ['bb agent reserve'],
    summary: 'Reserve scopes for an agent',
    flags: {
      agent: agentFlag,
      scope: { ...scopeFlag, help: 'path, folder or glob; may be given several times' },
      bead: beadFlag,
      ttl: { type: 'integer', value: 'MIN', help: 'lease in minutes, 5 to 1440', default: LEASE_MINUTES_DEFAULT },
      'takeover-stale': { help: 'take over from owners that are stale or evicted' },
    },
    examples: {
      'bb agent reserve --agent amber-otter --scope "src/lib/*" --bead T-1 --json': 'reserves the folder src/lib',
      'bb agent reserve --agent amber-otter --scope src/lib --takeover-stale': 'takes it over from a silent owner',
    },
    output: `${RESERVATION}, displaced (claims taken over), dirty_paths (uncommitted changes in them)`,
    run: (context, { flags }) => reserve(context, { ...flags, takesStale: flags['takeover-stale'] === true }),
  }),
  command({
    names: ['bb agent release'],
    summary: 'Release reserved scopes',
    flags: {
      agent: agentFlag,
      scope: { ...scopeFlag, help: 'a scope of the claim, in any spelling' },
      epoch: { type: 'integer', value: 'N', help: 'refuse unless the claim has this epoch' },
    },
    examples: { 'bb agent release --agent amber-otter --scope "src/lib/*"': 'releases the claim on src/lib' },
    output: RESERVATION,
    run: (context, { flags: { agent, scope: scopes, epoch } }) =>
      withStore(context, async (db) => {
        const actor = await actorFor(context, db, agent)
        const released = await releaseClaims(db, actor, { scopes, cwd: context.cwd, epoch })
        const agentId = db.store.read((rows) => rows.agent(actor.haid)?.agentId ?? actor.haid)
        const [first] = released.map((claim) => reservationRecord(db, endedStanding(claim, agentId)))
        const names = released.flatMap((claim) => claim.scopes.map(({ raw }) => raw))
        return { data: first ?? null, text: `✓ released ${names.join(' ')}` }
      }),
  }),
  command({
    names: ['bb agent status'],
    summary: 'Show reservations, and notes that need an acknowledgement',
    flags: {
      agent: { value: 'ID', help: 'only this agent' },
      bead: { value: 'TASK', help: 'only this task' },
    },
    examples: { 'bb agent status --json': 'prints reservations, unanswered notes and counts' },
    output: `reservations (${RESERVATION}), unacked_required_messages, summary (counts of both, and of released and expired reservations)`,
    run: (context, { flags }) =>
      withStoreToRead(
        context,
        (db) => {
          const own = flags.agent ?? callerOf(context, db).haid
          noteLoss(context, db, db.store.read((rows) => findAgent(rows, own)?.haid) ?? own)
          return statusAnswer(context, statusIn(db, flags.agent, flags.bead))
        },
        () => {
          if (flags.agent !== undefined) throw unknownAgent(flags.agent)
          return statusAnswer(context, statusOf([], [], []))
        },
      ),
  }),
  command({
    names: ['bb agent send'],
    summary: 'Send a note to an agent, a role or all agents',
    flags: { ...sendFlags, bead: beadFlag },
    examples: {
      'bb agent send --from amber-otter --to cobalt-harbor --bead T-1 --category HANDOFF --subject "Parser done" --body "Lexer and parser pass" --next-action "write the docs"':
        'hands the task over',
    },
    output: `${NOTE}, recipients (all of them; the record is that of the first)`,
    run: (context, { flags }) => send(context, flags, flags.bead),
  }),
  command({
    names: ['bb agent inbox'],
    summary: 'List notes for an agent, newest first',
    flags: { ...inboxFlags, bead: { value: 'TASK', help: 'only about this task' } },
    examples: { 'bb agent inbox --agent amber-otter --state unread --json': 'lists the unread notes of amber-otter' },
    output: `a list of notes: ${NOTE}`,
    run: (context, { flags }) => list(context, flags, flags.bead),
  }),
  command({
    names: ['bb agent read'],
    summary: 'Mark a note as read',
    flags: { agent: agentFlag, message: messageFlag },
    examples: { 'bb agent read --agent amber-otter --message msg_01': 'marks the note as read' },
    output: NOTE,
    run: (context, { flags }) => read(context, flags.message, flags.agent),
  }),
  command({
    names: ['bb agent ack'],
    summary: 'Acknowledge a note',
    flags: { agent: agentFlag, message: messageFlag, human: humanFlag },
    examples: { 'bb agent ack --agent amber-otter --message msg_01': 'accepts the handoff' },
    output: NOTE,
    run: (context, { flags }) => acknowledgeNote(context, flags.message, flags),
  }),
]

async function confirmed(
  context: Context,
  db: Coordination,
  doubt: string,
  agentId: string | null,
): Promise<string | undefined> {
  const { name: human } = await personIn(context, db, 'adopting without evidence', agentId)
  const terminal = createInterface({ input: context.stdin, output: context.stderr })
  try {
    const reply = await terminal.question(`${doubt} Adopt it all the same? [y/N] `)
    return /^y(es)?$/i.test(reply.trim()) ? human : undefined
  } finally {
    terminal.close()
  }
}

function begun(db: Coordination, { agent, mode, reason, resumed }: BegunSession): Answer {
  const data = {
    agent_id: agent.agentId,
    haid: agent.haid,
    mode,
    lease: { status: 'active', note: `beat with bb agent heartbeat --agent ${agent.agentId}` },
    session_epoch: agent.runtime.epoch,
    recommendation: { action: mode, reason },
    timestamp: iso(db.clock.wallMs()),
    ...resumed,
  }
  return { data, text: `${agent.agentId} (${mode})`, seedJson: { ok: true, ...data } }
}

interface Reserving {
  readonly agent: string | undefined
  readonly scope: readonly string[]
  readonly bead: string
  readonly ttl: number
  readonly takesStale: boolean
}

const reserve = (context: Context, { agent, scope, bead, ttl, takesStale }: Reserving): Promise<Answer> =>
  withStore(context, async (db) => {
    if (ttl < 5 || ttl > 1_440) throw new HeimdallError('INVALID_ARGS', `--ttl ${ttl}, 5 to 1440 minutes allowed`)
    const result = await claimScopes(db, await actorFor(context, db, agent), {
      scopes: scope,
      cwd: context.cwd,
      task: bead === NO_TASK ? null : bead,
      ttlMinutes: ttl,
      takeover: takesStale ? 'stale' : undefined,
    })
    if (!result.granted) {
      const active = result.conflicts.find(({ liveness }) => liveness === 'active')
      const first = active ?? result.conflicts[0]
      const lapsed = first?.lease === 'lapsed' ? ', lease expired' : ''
      throw new HeimdallError(
        active === undefined ? 'RESERVATION_STALE_FOUND' : 'RESERVATION_CONFLICT',
        `${first?.wanted ?? ''} overlaps ${first?.held ?? ''}, held by ${first?.agentId ?? ''} (${first?.liveness ?? ''}${lapsed}) until ${first?.expiresAt ?? ''}`,
        {
          hint:
            active === undefined
              ? 'add --takeover-stale to take it over'
              : 'work on other paths, ask for a handoff, or wait with heimdall claim wait',
          details: { conflicts: result.conflicts.map(conflictRecord) },
        },
      )
    }
    for (const warning of result.warnings) context.note(`warning: ${warning}`)
    const record = reservationRecord(db, standingNow(db, result.claim))
    const displaced = result.displaced.map(({ claimId, agentId }) => ({ reservation_id: claimId, agent_id: agentId }))
    const extra = displaced.length === 0 ? {} : { displaced, dirty_paths: result.dirty }
    const dirty =
      result.dirty.length === 0 ? '' : `\n! left uncommitted by the former holder: ${result.dirty.join(', ')}`
    return {
      data: { ...record, ...extra },
      text: `✓ reserved ${scope.join(' ')} until ${String(record['expires_at'])}${dirty}`,
    }
  })

type Row = Record<string, unknown>

function statusIn(db: Coordination, named: string | undefined, bead: string | undefined) {
  const now = db.now()
  return db.store.read((rows) => {
    const agent = named === undefined ? undefined : findAgent(rows, named)
    if (named !== undefined && agent === undefined) throw unknownAgent(named, rows)
    const task = bead === undefined ? {} : { task: bead }
    const claims = rows.claims({ ...task, ...(agent === undefined ? {} : { holder: agent.haid }) })
    const active = claims.filter(({ state }) => state === 'active').map((claim) => standingOf(db, rows, claim, now))
    const unacked = rows.notes({ unackedOnly: true, ...task, ...(agent === undefined ? {} : { to: agent.agentId }) })
    return statusOf(
      active.map((found) => reservationRecord(db, found)),
      unacked.map(noteRecord),
      claims,
    )
  })
}

function statusOf(reservations: readonly Row[], unacked: readonly Row[], claims: readonly Claim[]) {
  const count = (state: Claim['state']): number => claims.filter((claim) => claim.state === state).length
  return {
    reservations,
    unacked_required_messages: unacked,
    summary: {
      active: reservations.length,
      released: count('released'),
      expired: count('expired'),
      unacked_required_messages: unacked.length,
    },
  }
}

function statusAnswer({ style }: Context, data: ReturnType<typeof statusOf>): Answer {
  const fields = ['scope', 'agent_id', 'liveness', 'expires_at', 'bead_id']
  const rows = data.reservations.map((record) => fields.map((field) => String(record[field])))
  const table = renderTable(style, ['SCOPE', 'AGENT', 'LIVENESS', 'EXPIRES', 'TASK'], rows)
  const counts = `${data.summary.active} active, ${data.summary.unacked_required_messages} notes waiting for an answer`
  return { data, text: rows.length === 0 ? counts : `${table}\n${counts}` }
}
