// heimdall why: why a path is held, a call was decided, a run ended or waits, or an agent is in its state; and what to do.
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { findAgent } from '../../coordination/change.ts'
import { checkScopes } from '../../coordination/claims/check-scopes.ts'
import { type Conflict, isOwn } from '../../coordination/claims/conflicts.ts'
import { measureCase, scopeContext } from '../../coordination/claims/lookup.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { otherMachine } from '../../coordination/membership.ts'
import { conflictRecord } from '../../coordination/records.ts'
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import { runsDirOf } from '../../paths.ts'
import { type DecidedCall, findCalls } from '../../runs/index/find-call.ts'
import { endingOf, type RunEnding } from '../../runs/run-ending.ts'
import { factsOf } from '../../runs/run-facts.ts'
import { findRun, type RunFolder, runFolders } from '../../runs/run-folder.ts'
import { parseScopes } from '../../scopes/scope.ts'
import type { Collision, Fleet, FleetAgent } from '../../spine/fleet/fleet.ts'
import { knownAgents } from '../../spine/fleet/known-agents.ts'
import { lookAtFleet } from '../../spine/fleet/look.ts'
import { oneLine, shellWord } from '../../spine/fleet/plain-words.ts'
import { type Answer, type Command, command, type Context } from '../command.ts'
import { withStoreToRead } from '../coordination-store.ts'
import { fleetOptions } from '../fleet-options.ts'
import { clockText, plural } from '../render/fleet-text.ts'
import { showAgent } from './agent.ts'
import { callText } from './event-text.ts'
import { askerOf } from './claim-acts.ts'
import { usageError } from '../usage-error.ts'

export const commands: readonly Command[] = [
  command({
    names: ['heimdall why'],
    summary: 'Explain the state of a path, a call, a run or an agent',
    about:
      'A path: who holds it, for what, and who else wants it. A call: which rule decided, what its counters were, and what to do. A run: why it ended or what it waits for. An agent: its state, what it waits for and what it holds. Ids may be shortened to a unique beginning.',
    args: [{ name: 'what', help: 'path or glob, call id, run id, or agent name' }],
    examples: {
      'heimdall why src/a/b.ts': 'shows who holds the path and for which task',
      'heimdall why amber-otter': 'shows what amber-otter waits for and holds',
      'heimdall why 01J8Z': 'explains the call or run whose id begins so',
    },
    output:
      'for a path: path, holders (claims that cover it, with yours), wanted_by (agent_id, wanted, attempts, since, place in the queue); for a call: call, decision, next; for a run: run, ending, waits, next; for an agent: agent, waits, collisions, next',
    run: (context, { args: { what } }) => explain(context, what),
  }),
]

const AMBIGUOUS_SHOWN = 5

/** Exact names first, then paths, then prefixes of ids. */
async function explain(context: Context, what: string): Promise<Answer> {
  const runsDir = runsDirOf(context.env)
  const isAgent = (name: string): Promise<boolean> =>
    withStoreToRead(
      context,
      (db) => db.store.read((rows) => findAgent(rows, name)) !== undefined,
      () => false,
    )
  if (what.startsWith('haid:') || (isName(what) && (await isAgent(what)))) return await whyAgent(context, what)
  if (!isName(what)) return await whyPath(context, what)
  const run = findRun(runsDir, what)
  if (run !== undefined && !('why' in run)) return await whyRun(context, run)
  const held = await whyPath(context, what)
  if (existsSync(context.resolve(what)) || (held.data as { holders: unknown[] }).holders.length > 0) return held
  const calls = await findCalls({ runsDir, clock: context.clock, note: context.note }, what, AMBIGUOUS_SHOWN)
  const runs = runFolders(runsDir).runs.filter(({ runDir }) => basename(runDir).startsWith(what))
  const fleet = await lookAtFleet(await fleetOptions(context, { 'socket-dir': undefined }))
  const agents = fleet.agents.filter(({ agent_id }) => agent_id.startsWith(what))
  const [call] = calls
  const [folder] = runs
  const [agent] = agents
  if (calls.length + runs.length + agents.length > 1)
    throw usageError(
      `${printable(what)} is a prefix of several ids`,
      `use one of: ${[...agents.map(({ agent_id }) => agent_id), ...runs.map(({ runDir }) => basename(runDir)), ...calls.map((one) => one.call.call_id ?? '')].slice(0, AMBIGUOUS_SHOWN).join(', ')}`,
    )
  if (call !== undefined) return whyCall(call)
  if (folder !== undefined) return await whyRun(context, folder)
  if (agent !== undefined) return agentAnswer(fleet, agent)
  throw new HeimdallError('WHY_UNKNOWN', `no path, agent, run or call ${printable(what)}`, {
    hint: `looked for a path and an agent in ${fleet.project.root}, and for runs and calls in ${runsDir}; a path that does not exist yet is written ./${what}`,
  })
}

/** Could be an id or the name of an agent; anything else is a path. */
const isName = (what: string): boolean => /^[\w-][\w.:-]*$/.test(what) && !what.startsWith('.')

function table(rows: readonly (readonly [label: string, text: string | null | undefined])[]): string {
  return rows
    .filter(([, text]) => text !== null && text !== undefined && text !== '')
    .map(([label, text]) => `${label.padEnd(9)}  ${escapeControls(text ?? '')}`)
    .join('\n')
}

/** An agent that is not in the fleet has ended; its record is shown. */
async function whyAgent(context: Context, what: string): Promise<Answer> {
  const fleet = await lookAtFleet(await fleetOptions(context, { 'socket-dir': undefined }))
  const agent = fleet.agents.find(({ agent_id, haid }) => agent_id === what || haid === what)
  return agent === undefined ? await showAgent(context, what) : agentAnswer(fleet, agent)
}

function agentAnswer(fleet: Fleet, agent: FleetAgent): Answer {
  const { agent_id: id, state, since, evidence, claims, run_id: run, session_id: session, liveness, task } = agent
  const nowMs = Date.parse(fleet.at)
  const waits = fleet.waits.filter((wait) => wait.agent_id === id)
  const collisions = fleet.collisions.filter(({ wanted_by }) => wanted_by === id)
  const next =
    waits.flatMap(({ answers }) => answers.slice(0, 1))[0]?.command ??
    (collisions[0] !== undefined
      ? `heimdall why ${shellWord(collisions[0].wanted)}`
      : session === null || agent.is_over
        ? null
        : `heimdall attach ${session}`)
  const text = table([
    ['agent', `${id}  ${state} since ${timeText(since, nowMs)}${liveness === 'active' ? '' : `, ${liveness}`}`],
    ['because', `${evidence.seen} (${evidence.source})`],
    ...waits.map(
      ({ kind, asks, since: from }) =>
        ['waits for', `${kind}: ${oneLine(asks)}, since ${timeText(from, nowMs)}`] as const,
    ),
    ...collisions.map(
      (one) => ['wants', `${one.wanted}, held by ${one.held_by}, ${attemptsText(one, nowMs)}`] as const,
    ),
    ...claims.map((held) => ['holds', heldText(held.scopes.join(' '), held.task, held.expires_at, nowMs)] as const),
    ['task', task === null ? null : `${task.id} ${task.title === task.id ? '' : task.title}`],
    ['run', run],
    ['next', next],
  ])
  return { data: { agent, waits, collisions, next }, text }
}

const heldText = (scopes: string, task: string | null, expiresAt: string, nowMs: number): string =>
  `${scopes}${task === null ? '' : ` for ${task}`}, lease ends ${timeText(expiresAt, nowMs)} if silent`

async function whyRun(context: Context, folder: RunFolder): Promise<Answer> {
  const facts = factsOf(folder)
  const id = facts.run_id ?? facts.folder
  const nowMs = context.clock.wallMs()
  const fleet =
    facts.state === 'open' ? await lookAtFleet(await fleetOptions(context, { 'socket-dir': undefined })) : undefined
  const agent = fleet?.agents.find(({ run_id }) => run_id === id)
  const waits = fleet?.waits.filter(({ run_id }) => run_id === id) ?? []
  const ending = facts.state === 'ended' ? endingOf(folder.runDir) : null
  const next =
    waits.flatMap(({ answers }) => answers.slice(0, 1))[0]?.command ??
    (facts.state === 'lost' ? 'heimdall doctor --fix closes it' : `heimdall runs show ${shellWord(id)}`)
  const state = {
    open: `open, ${plural(facts.members, 'process')} taking part`.replace('processs', 'processes'),
    lost: 'lost: its processes are gone and no end is recorded',
    unknown: 'unknown: its record has no start',
    ended: `ended${ending?.ended_at == null ? '' : ` ${timeText(ending.ended_at, nowMs)}`}, ${facts.status}`,
  }[facts.state]
  const text = table([
    ['run', `${id}  ${state}`],
    ['agent', facts.agent_id],
    [
      'because',
      ending === null ? (agent === undefined ? null : `${agent.state}: ${agent.evidence.seen}`) : endedText(ending),
    ],
    ...waits.map(
      ({ kind, asks, since }) => ['waits for', `${kind}: ${oneLine(asks)}, since ${timeText(since, nowMs)}`] as const,
    ),
    ['next', next],
  ])
  return { data: { run: facts, ending, waits, next }, text }
}

function endedText({ rule_id, summary, exit_code, signal, reason, ended_by, status }: RunEnding): string {
  if (rule_id !== null) return `rule ${rule_id} ended it${summary === null ? '' : `: ${summary}`}`
  const by = ended_by === null ? '' : `, ended by ${ended_by}`
  if (signal !== null) return `its command was ended by ${signal}${by}`
  if (exit_code !== null) return `its command exited with ${exit_code}${by}`
  return reason === null ? `recorded as ${status ?? 'ended'}; the record does not say more` : `${reason}${by}`
}

function whyCall({ call, decision }: DecidedCall): Answer {
  const next = nextOfCall(call, decision)
  return {
    data: { call, decision, next },
    text: `${callText(call, decision ?? undefined)}\n${table([['next', next]])}`,
  }
}

function nextOfCall(call: DecidedCall['call'], decision: DecidedCall['decision']): string {
  const show = `heimdall events show ${call.call_id ?? ''}`
  if (call.decision === null || call.decision === 'ALLOW' || call.enforced === false) return show
  if (call.reason_code === 'APPROVAL_REQUIRED') return 'heimdall approve lists what waits for you; then repeat the call'
  if (call.reason_code === 'CLAIM_HELD') return 'heimdall why PATH shows who holds the path'
  if (call.decision === 'TERMINATE_RUN') return `start a new run; ${show} has the rule’s message`
  const backoff = decision?.['backoff_ms']
  if (call.decision === 'THROTTLE') return `repeat the call after ${typeof backoff === 'number' ? backoff : '?'} ms`
  return `${call.hint_text === null ? 'change the call or the rule' : 'follow the hint, or change the rule'}; ${show} has all of it`
}

function whyPath(context: Context, path: string): Promise<Answer> {
  return withStoreToRead(
    context,
    (db) => {
      const { conflicts } = checkScopes(db, { scopes: [path], cwd: context.cwd, asker: null })
      if (conflicts.length === 0) return free(path)
      const asker = askerOf(context, db, undefined)
      const wanted = knownAgents(db).collisions.filter(({ claim_id }) =>
        conflicts.some(({ claimId }) => claimId === claim_id),
      )
      const holders = conflicts.map((conflict) => {
        const isYours = asker !== null && isOwn(db, asker, conflict)
        return { conflict, isYours, next: isYours ? releaseText(conflict, path) : nextText(conflict, path) }
      })
      const data = {
        path,
        holders: holders.map(({ conflict, isYours, next }) => ({
          ...conflictRecord(conflict),
          yours: isYours,
          ...(isYours ? { hint: next } : {}),
        })),
        wanted_by: wanted.map(({ claim_id, wanted: scope, wanted_by: agent_id, attempts, since, place }) => ({
          agent_id,
          wanted: scope,
          claim_id,
          attempts,
          since,
          place,
        })),
      }
      return { data, text: holders.map((holder) => holderText(db, holder, wanted)).join('\n\n') }
    },
    ({ project }) => {
      // A path outside the project is refused here too.
      parseScopes([path], scopeContext(project, context.cwd, measureCase(project)))
      return free(path)
    },
  )
}

const free = (path: string): Answer => ({
  data: { path, holders: [], wanted_by: [] },
  text: `no agent holds ${path}`,
})

interface Holder {
  readonly conflict: Conflict
  /** The caller holds it. */
  readonly isYours: boolean
  readonly next: string
}

function holderText(db: Coordination, { conflict, isYours, next }: Holder, wanted: readonly Collision[]): string {
  const { agentId, held, epoch, since, expiresAt, liveness, lease, claimId } = conflict
  const nowMs = db.now().wallMs
  const facts = [
    `epoch ${epoch}`,
    `since ${timeText(since, nowMs)}`,
    lease === 'lapsed' ? 'its lease is over' : `lease ends ${timeText(expiresAt, nowMs)} if silent`,
    ...(liveness === 'active' ? [] : [`it is ${liveness}`]),
    ...whereOf(db, conflict),
  ]
  return table([
    ['held by', `${isYours ? `you, ${agentId}` : agentId}  ${held}  ${facts.join(', ')}`],
    ['for', purposeOf(db, conflict)],
    ...wanted
      .filter(({ claim_id }) => claim_id === claimId)
      .map((one) => {
        const what = one.wanted === one.held ? 'all of it' : 'partial overlap'
        return ['wanted by', `${one.wanted_by}, ${what}, ${attemptsText(one, nowMs)}`] as const
      }),
    ['next', next],
  ])
}

function whereOf(db: Pick<Coordination, 'store' | 'project'>, { origin, haid }: Conflict): string[] {
  const machine = db.store.read((rows) => otherMachine(db, rows, haid))
  if (machine !== undefined) return [`on ${machine}`]
  return origin === 'remote' ? ['on another machine'] : []
}

/** Titles and intents are text of agents. */
function purposeOf({ store }: Pick<Coordination, 'store'>, { haid, task, intent }: Conflict): string {
  const known = store.read((rows) =>
    task === null ? rows.tasks({ owner: haid, state: 'in_progress' }).at(-1) : rows.task(task),
  )
  const id = task ?? known?.taskId ?? ''
  const title = known === undefined || known.title === id ? '' : known.title
  const named = [id, title].filter((word) => word !== '').join(' ')
  return oneLine([named, intent ?? ''].filter((part) => part !== '').join(': '))
}

const attemptsText = ({ attempts, since, place }: Collision, nowMs: number): string =>
  `${plural(attempts, 'attempt')} since ${timeText(since, nowMs)}${place === null ? '' : `, place ${place} in the queue`}`

/** Wait for an active holder or ask it; take over from a stale one. */
function nextText({ liveness, agentId }: Conflict, path: string): string {
  const wait = `heimdall claim wait ${shellWord(path)}`
  if (liveness !== 'active') return `heimdall claim takeover ${shellWord(path)}, or ${wait}`
  return `${wait}, or heimdall note send --to ${agentId} --category HANDOFF`
}

/** By the path where it is all of the claim; a claim that covers more is named by its id. */
function releaseText({ claimId, held, wanted }: Conflict, path: string): string {
  return `heimdall claim release ${held === wanted ? shellWord(path) : claimId}, when you are done with it`
}

/** To the second on the same day, with the day otherwise. */
function timeText(isoTime: string, nowMs: number): string {
  const time = new Date(isoTime)
  const two = (count: number): string => String(count).padStart(2, '0')
  const isToday = time.toDateString() === new Date(nowMs).toDateString()
  if (isToday) return `${clockText(isoTime)}:${two(time.getSeconds())}`
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clockText(isoTime)}`
}
