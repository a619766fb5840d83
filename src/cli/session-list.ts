// `ls`: the agents of this repository for `heimdall ls`, the sessions of a folder for `hm ls`, in tables that fit the terminal.
import { basename } from 'node:path'
import { inlineText } from '../cells/plain-text.ts'
import { duration } from '../duration.ts'
import { HeimdallError } from '../errors.ts'
import type { EndTarget } from '../sessions/end.ts'
import { type ListedSession, sessionsAt } from '../sessions/list.ts'
import { locate } from '../sessions/locate.ts'
import { listSessions } from '../sessions/session-files.ts'
import { type FleetAgent, hasEnded } from '../spine/fleet/fleet.ts'
import { lookAtFleet } from '../spine/fleet/look.ts'
import type { Answer, Context } from './command.ts'
import { consent } from './consent.ts'
import { fleetOptions } from './fleet-options.ts'
import { fittedLines } from './render/columns.ts'
import { shortSpan } from './render/fleet-text.ts'
import { renderTable } from './render/style.ts'
import { type DirFlag, type PlaceFlags, placeOf, sessionAround } from './session-flags.ts'
import { readTypedLine } from './stdin.ts'
import { usageError } from './usage-error.ts'

export interface ListFlags extends PlaceFlags {
  readonly all?: boolean | undefined
}

/** By the seed's name, as scripts read it: the id is the first word of each indented line. */
export async function listOfSessions(context: Context, flags: ListFlags): Promise<Answer> {
  const sessions = await sessionsAt(await placeOf(context, flags), flags.all === true)
  const { style } = context
  if (sessions.length === 0 && style.isTty) return { data: { sessions }, text: 'No active sessions' }
  if (!context.isSeedName)
    return { data: { sessions }, text: renderTable(style, SESSION_HEADER, sessions.map(cellsOf)) }
  const list = (title: string, some: readonly ListedSession[]): string =>
    [title, ...fittedLines(some.map(cellsOf), style, '  ')].join('\n')
  const active = sessions.filter(({ alive }) => alive)
  const ended = sessions.filter(({ alive }) => !alive)
  const lists = [
    active.length === 0 ? 'No active sessions' : list('Active sessions:', active),
    ...(ended.length === 0 ? [] : [list('Ended sessions:', ended)]),
  ]
  return { data: { sessions }, text: lists.join('\n') }
}

const SESSION_HEADER = ['ID', 'STATE', 'WAITS', 'FOR', 'PROJECT', 'COMMAND']

const cellsOf = (session: ListedSession): string[] => [
  session.id,
  session.state === 'lost' && session.alive ? `lost, still running ${session.pid}` : session.state,
  session.needs_input?.value === true ? 'needs input' : '',
  session.exit_code === null ? duration(session.state_ms) : `exit ${session.exit_code}`,
  inlineText(basename(session.project ?? '')),
  inlineText(session.command.join(' ')),
]

/** The agents of this repository that run, in sessions of ours or in hosts that were started by hand. */
export async function listOfAgents(context: Context, flags: ListFlags): Promise<Answer> {
  const isAll = flags.all === true
  const options = await fleetOptions(context, flags)
  const fleet = await lookAtFleet(options)
  const ended = isAll ? (await sessionsAt({ dir: options.socketDir }, true)).filter(({ alive }) => !alive) : []
  const agents = fleet.agents.filter((agent) => isAll || isRunning(agent)).map(rowOf)
  const names = new Set(agents.map(({ agent_id: name }) => name))
  const rows = [
    ...agents.map((row) => ({ ...row, host: row.host ?? programOf(ended.find(({ id }) => id === row.agent_id)) })),
    ...ended.filter(({ id, project }) => !names.has(id) && project === fleet.project.root).map(rowOfEnded),
  ]
  const data = { agents: rows }
  const { style } = context
  for (const { what, message } of fleet.missing) context.note(`warning: could not read ${what}: ${message}`)
  const cells = rows.map((row) => agentCells(row, Date.parse(fleet.at)))
  if (rows.length > 0) return { data, text: renderTable(style, AGENT_HEADER, cells) }
  const running = listSessions(options.socketDir).filter(({ state }) => state === 'running').length
  const others = running === 0 ? '' : `\n${running} in other folders: hm ls lists them`
  const nothing = `No agent runs in ${fleet.project.name}. heimdall run -- claude starts one.${others}`
  if (style.isTty) return { data, text: nothing }
  if (!context.json) context.note(nothing)
  return { data, text: renderTable(style, AGENT_HEADER, cells) }
}

/** A lost one too: it is not closed. */
const isRunning = ({ state, is_over: isOver }: FleetAgent): boolean => state === 'lost' || (!isOver && !hasEnded(state))

/** The names are those of `heimdall ls --json`. */
type AgentRow = Pick<
  FleetAgent,
  'agent_id' | 'since' | 'branch' | 'session_id' | 'run_id' | 'started_at' | 'exit_code'
> & {
  readonly state: string
  readonly host: string | null
  readonly task: string | null
}

const rowOf = (agent: FleetAgent): AgentRow => ({
  agent_id: agent.agent_id,
  state: agent.state,
  since: agent.since,
  host: agent.program !== null ? basename(agent.program) : agent.client === 'unknown' ? null : agent.client,
  task: agent.task?.title ?? null,
  branch: agent.branch,
  session_id: agent.session_id ?? agent.elsewhere?.session_id ?? null,
  run_id: agent.run_id,
  started_at: agent.started_at,
  exit_code: agent.exit_code,
})

const programOf = (session: ListedSession | undefined): string | null => {
  const [program] = session?.command ?? []
  return program === undefined ? null : basename(program)
}

const rowOfEnded = (session: ListedSession): AgentRow => ({
  agent_id: session.id,
  state: 'ended',
  since: session.started_at ?? new Date(0).toISOString(),
  host: programOf(session),
  task: null,
  branch: null,
  session_id: session.id,
  run_id: null,
  started_at: session.started_at,
  exit_code: session.exit_code,
})

const AGENT_HEADER = ['AGENT', 'STATE', 'AGE', 'HOST', 'TASK/BRANCH']

const agentCells = (
  { agent_id, state, started_at, host, task, branch, exit_code }: AgentRow,
  nowMs: number,
): string[] => [
  agent_id,
  exit_code === null || exit_code === 0 ? state : `${state} (${exit_code})`,
  started_at === null ? '' : shortSpan(nowMs - Date.parse(started_at)),
  inlineText(host ?? ''),
  inlineText(task ?? branch ?? ''),
]

/** The only session that runs, or the one that the human picks. `around` is the session of this terminal. */
export async function chooseSession(context: Context, flags: PlaceFlags, around: string | undefined): Promise<string> {
  const sessions = (await sessionsAt(await placeOf(context, flags), false))
    .filter(({ id, alive, state }) => id !== around && alive && state !== 'lost' && state !== 'unreadable')
    .sort(byNeed)
  const [first, ...others] = sessions
  if (first === undefined)
    throw new HeimdallError('SESSION_NOT_FOUND', 'no session runs', {
      hint: context.isSeedName ? 'hm run -- COMMAND starts one' : 'heimdall run -- claude starts one',
    })
  if (others.length === 0) return first.id
  if (context.stdin.isTTY && context.stdout.isTTY && !context.json) return await pick(context, sessions)
  throw usageError(`${sessions.length} sessions run: name one of them`, sessions.map(({ id }) => id).join(', '))
}

const isWaiting = ({ needs_input: needs }: ListedSession): boolean => needs?.value === true

/** Sessions that wait for a human come first. */
const byNeed = (a: ListedSession, b: ListedSession): number =>
  Number(isWaiting(b)) - Number(isWaiting(a)) || (a.id < b.id ? -1 : 1)

async function pick(context: Context, sessions: readonly ListedSession[]): Promise<string> {
  const indent = String(sessions.length).length + 2
  const rows = sessions.map((session) => cellsOf(session).map((cell, at) => (at === 3 || at === 4 ? '' : cell)))
  const lines = fittedLines(rows, context.style, ' '.repeat(indent))
  const numbered = lines.map((line, i) => `${String(i + 1).padEnd(indent)}${line.slice(indent)}`)
  context.stdout.write(`${numbered.join('\n')}\n`)
  for (;;) {
    context.stdout.write(`Attach to which? [1-${sessions.length}, q] `)
    const word = await readTypedLine(context.stdin)
    const found = sessions.find(({ id }) => id === word) ?? sessions[Number(word) - 1]
    if (found !== undefined) return found.id
    if (word === undefined || word === 'q') throw usageError('no session was chosen')
  }
}

/** The sessions of this repository, without that of this terminal. Lists them and asks, unless `isYes`. */
export async function targetsHere(context: Context, flags: DirFlag, isYes: boolean): Promise<EndTarget[]> {
  const options = await fleetOptions(context, flags)
  const around = await sessionAround(context, options.socketDir)
  const { agents, project, at } = await lookAtFleet(options)
  const all = agents.filter(isRunning).filter(({ session_id: id }) => id !== null)
  const running = all.filter(({ session_id: id }) => id !== around)
  if (running.length < all.length) context.note(`session ${around} is the session of this terminal and is not ended`)
  if (running.length === 0) return []
  const rows = running.map((agent) => agentCells(rowOf(agent), Date.parse(at)))
  const count = running.length === 1 ? '1 session' : `${running.length} sessions`
  const isAgreed = await consent(
    context,
    isYes,
    fittedLines([AGENT_HEADER, ...rows], context.style).join('\n'),
    `End ${running.length === 1 ? 'this session' : `these ${count}`} of ${project.name}?`,
    {
      what: `${count} of ${project.name} would be ended`,
      hint: `${context.calledAs} --all --yes ends them without asking`,
    },
  )
  if (!isAgreed) throw new HeimdallError('INTERRUPTED', 'no session was ended')
  return running.flatMap(({ session_id: id, socket_dir: dir }) =>
    id === null || dir === null ? [] : { id, find: () => locate({ dir }, id, context.note) },
  )
}
