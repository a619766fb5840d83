// A fleet as `heimdall status` prints it: for people on a terminal, and in columns for pipes.
import type { AgentState, CallTotals, Fleet, FleetAgent, ModelCost, Wait } from '../../spine/fleet/fleet.ts'
import { cellsOf } from '../../cells/widths.ts'
import { column, columnRight, fit, widest } from './columns.ts'
import { type Paint, SIGNS } from './glyphs.ts'
import type { Style } from './style.ts'

export interface Look {
  readonly style: Style
  readonly hasGlyphs: boolean
}

const NAME_MAX = 28
/** Below this the commands are left out: what is asked comes first. */
const COMMANDS_FROM = 100
/** A longer command takes a line of its own, unless there is room: it is copied whole or not at all. */
const COMMAND_ASIDE = 44

export const NOBODY_KNOWN = 'No agent is known here. heimdall run -- claude starts one.'

export function fleetText(fleet: Fleet, look: Look): string {
  const counts = fleet.waits.filter(({ later_until: later }) => later === null)
  const parts = [
    [headline(fleet, look)],
    waitLines(fleet, counts, look),
    collisionLines(fleet, look),
    lookAtLines(fleet, counts.length === 0 ? 0 : waitColumns(counts, look).commandsAt, look),
    fleet.counts.agents === 0 && fleet.waits.length === 0 ? [paint(look, 'dim', NOBODY_KNOWN)] : [],
    [restLine(fleet, look), totalsLine(fleet, look)].filter((line) => line !== ''),
    fleet.missing.map(({ what, message }) => paint(look, 'magenta', `not read: ${what}: ${message}`)),
  ]
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function headline({ project, counts, policies, since }: Fleet, { style }: Look): string {
  const [policy, ...others] = policies
  const words = [
    plural(counts.agents, 'agent'),
    ...(policy === undefined || policy.mode === 'observe'
      ? []
      : [
          `policy ${policy.policy_id} ${policy.version} in ${policy.mode}${others.length > 0 ? ' and others' : ''} for MCP calls through the shim`,
        ]),
    ...(since === null ? [] : [`since ${clockText(since)}`]),
  ]
  return `${style.color.bold(project.name)}  ${words.join(', ')}`
}

function waitLines({ at, waits }: Fleet, counted: readonly Wait[], look: Look): string[] {
  const later = waits.length - counted.length
  const put = later === 0 ? [] : [paint(look, 'dim', `   ${later} put off for later`)]
  if (counted.length === 0) return [`${signOf('done', look)} Nobody waits for you`, ...put]
  const title = `${signOf('needs you', look)} ${counted.length} ${counted.length === 1 ? 'waits' : 'wait'} for you`
  const { names, kinds, asks, asksAt, aside, commands, hasCommands } = waitColumns(counted, look)
  const lines = counted.flatMap((wait, i) => {
    const command = hasCommands ? (commands[i] ?? '') : ''
    const isBeside = cellsOf(command) <= aside
    const age = columnRight(shortSpan(Date.parse(at) - Date.parse(wait.since)), 6)
    const cells = [
      i === 0 ? paint(look, 'yellow', age) : age,
      column(wait.agent_id ?? '-', names, markOf(look)),
      column(wait.kind, kinds),
      hasCommands ? column(wait.asks, asks, markOf(look)) : fit(wait.asks, asks, markOf(look)),
      ...(isBeside ? [paint(look, 'dim', command)] : []),
    ]
    const below = isBeside || asksAt + cellsOf(command) > widthOf(look) ? [] : [command]
    return [cells.join('  ').trimEnd(), ...below.map((line) => `${' '.repeat(asksAt)}${paint(look, 'dim', line)}`)]
  })
  return [paint(look, 'yellow', title), ...lines, ...put]
}

function waitColumns(counted: readonly Wait[], look: Look) {
  const names = widest(
    counted.map(({ agent_id: agent }) => agent ?? '-'),
    NAME_MAX,
  )
  const kinds = widest(
    counted.map(({ kind }) => kind),
    12,
  )
  const width = widthOf(look)
  const commands = counted.map(({ answers }) => answers[0]?.command ?? '')
  const hasCommands = width >= COMMANDS_FROM
  const asksAt = 6 + 2 + names + 2 + kinds + 2
  const texts = counted.map((wait) => wait.asks)
  const aside = Math.max(COMMAND_ASIDE, width - asksAt - widest(texts, width) - 2)
  const beside = commands.filter((command) => cellsOf(command) <= aside)
  const room = width - asksAt - (hasCommands ? widest(beside, aside) + 2 : 0)
  const asks = widest(texts, Math.max(20, room))
  return { names, kinds, asks, asksAt, aside, commands, hasCommands, commandsAt: asksAt + asks + 2 }
}

function collisionLines({ at, collisions }: Fleet, look: Look): string[] {
  if (collisions.length === 0) return []
  const lines = collisions.map((one) => {
    const leftMs = Date.parse(one.expires_at) - Date.parse(at)
    const lease = leftMs > 0 ? `lease ${shortSpan(leftMs)}` : 'lease lapsed'
    const place = one.place === null ? '' : `, place ${one.place} in the queue`
    const tries = one.attempts === 1 ? '1 attempt' : `${one.attempts} attempts`
    const words = `${one.wanted}   ${one.held_by} holds it (${one.holder_liveness}, ${lease})   ${one.wanted_by} waits, ${tries}${place}`
    return `        ${fit(words, widthOf(look) - 8, markOf(look))}`
  })
  return [paint(look, 'magenta', `${signOf('collision', look)} ${plural(collisions.length, 'collision')}`), ...lines]
}

const TO_LOOK_AT: readonly AgentState[] = ['looping', 'stuck', 'stale']

/** Its commands stand below those of the waits, where they have room there. */
function lookAtLines({ agents }: Fleet, commandsAt: number, look: Look): string[] {
  const found = agents.filter(({ state }) => TO_LOOK_AT.includes(state))
  if (found.length === 0) return []
  const names = widest(
    found.map(({ agent_id: agent }) => agent),
    NAME_MAX,
  )
  const width = widthOf(look)
  const hasCommands = width >= COMMANDS_FROM
  const fixed = 8 + names + 2 + 7 + 2
  const room = Math.max(20, width - fixed - (hasCommands ? widest(found.map(commandFor), COMMAND_ASIDE) + 2 : 0))
  const needed = widest(
    found.map(({ evidence }) => evidence.seen),
    room,
  )
  const seen = Math.min(room, Math.max(needed, commandsAt - fixed - 2))
  const lines = found.map((agent) => {
    const head = `        ${column(agent.agent_id, names, markOf(look))}  ${column(agent.state, 7)}  `
    if (!hasCommands) return head + fit(agent.evidence.seen, room, markOf(look))
    const command = commandFor(agent)
    const isBeside = fixed + seen + 2 + cellsOf(command) <= width
    return `${head}${column(agent.evidence.seen, seen, markOf(look))}  ${isBeside ? paint(look, 'dim', command) : ''}`.trimEnd()
  })
  return [paint(look, 'magenta', `${signOf('looping', look)} ${found.length} to look at`), ...lines]
}

function commandFor({ session_id: session, claims, agent_id: agent }: FleetAgent): string {
  const [scope] = claims.flatMap(({ scopes }) => scopes)
  if (session !== null) return `hm peek ${session}`
  return scope === undefined ? `heimdall agent show --agent ${agent}` : `heimdall why ${scope}`
}

function restLine({ counts }: Fleet, look: Look): string {
  const states = (['working', 'idle', 'done', 'cancelled', 'failed'] as const).filter((state) => counts[state] > 0)
  return states
    .map((state) => {
      const words = `${signOf(state, look)} ${counts[state]} ${state}`
      const { color } = SIGNS[state]
      return color === null ? words : paint(look, color, words)
    })
    .join('  ')
}

function totalsLine({ calls, tokens, cost }: Fleet, { hasGlyphs }: Look): string {
  const parts = [
    ...(calls.total === 0 ? [] : [callsText(calls)]),
    ...(cost === null ? [] : costWords(cost)),
    ...(tokens === null ? [] : [`${thousands(tokens.total)} tokens of briefs, ${thousands(tokens.measured)} measured`]),
  ]
  return parts.join(hasGlyphs ? ' · ' : ' | ')
}

/** Without a price there is no dollar. */
export function costWords({ tokens, cached_reads: cached, usd, unpriced, prices }: ModelCost): string[] {
  if (tokens === 0) return []
  const shown = tokens >= 1e6 ? `${(tokens / 1e6).toFixed(1)} M` : thousands(tokens)
  const without = unpriced.length === 0 ? '' : `, without ${unpriced.join(', ')}`
  return [
    `${shown} tokens, ${Math.round((100 * cached) / tokens)} % cached reads`,
    ...(usd === 0 ? [] : [`$${usd.toFixed(2)}, prices of ${prices}${without}`]),
  ]
}

/** `22 guarded, 2 advisory`; nothing where nobody has looked. */
export function guardWords(agents: readonly FleetAgent[]): string[] {
  const of = (kind: string): number => agents.filter(({ guard }) => guard?.kind === kind).length
  const [guarded, advisory] = [of('guarded'), of('advisory')]
  return guarded + advisory === 0 ? [] : [`${guarded} guarded, ${advisory} advisory`]
}

export function callsText({ total, hinted, blocked }: CallTotals): string {
  return [
    `${thousands(total)} ${total === 1 ? 'call' : 'calls'}`,
    ...(hinted > 0 ? [`${thousands(hinted)} refused with a hint`] : []),
    ...(blocked > hinted ? [`${thousands(blocked - hinted)} blocked`] : []),
  ].join(', ')
}

/** One line for each wait, collision and agent: `what`, seconds, who, kind, words. */
export function fleetColumns({ at, waits, collisions, agents, missing }: Fleet): string {
  const seconds = (since: string): string =>
    String(Math.max(0, Math.floor((Date.parse(at) - Date.parse(since)) / 1_000)))
  return [
    ...waits.map((wait) => [
      wait.later_until === null ? 'needs-you' : 'later',
      seconds(wait.since),
      wait.agent_id ?? '-',
      wait.kind,
      wait.asks,
    ]),
    ...collisions.map((one) => ['collision', seconds(one.since), one.wanted_by, one.held_by, one.wanted]),
    ...agents.map((agent) => ['agent', seconds(agent.since), agent.agent_id, agent.state, agent.evidence.seen]),
    ...missing.map(({ what, code, message }) => ['missing', '0', what, code, message]),
  ]
    .map((cells) => cells.map((cell) => cell.replaceAll(/[\t\n]/g, ' ')).join('\t'))
    .join('\n')
}

export const signOf = (state: AgentState, { hasGlyphs }: Look): string =>
  hasGlyphs ? SIGNS[state].glyph : SIGNS[state].ascii

export const markOf = ({ hasGlyphs }: Look): string => (hasGlyphs ? '…' : '..')

export const paint = ({ style }: Look, color: Paint, text: string): string => style.color[color](text)

/** A terminal that says it has no columns is as good as one that says nothing. */
const widthOf = ({ style }: Look): number => (style.columns > 0 ? style.columns : 80)

/** `44s`, `14m`, `1h 12m`, `3d`. */
export function shortSpan(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000)
  if (minutes < 1) return `${Math.floor(Math.max(0, ms) / 1_000)}s`
  if (minutes < 60) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours}h${minutes % 60 === 0 ? '' : ` ${minutes % 60}m`}` : `${Math.floor(hours / 24)}d`
}

export function clockText(isoTime: string): string {
  const time = new Date(isoTime)
  return `${String(time.getHours()).padStart(2, '0')}:${String(time.getMinutes()).padStart(2, '0')}`
}

export const thousands = (count: number): string => String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ',')

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
