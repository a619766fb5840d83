// Text of `heimdall status`: laid out for a terminal, or in tab-separated columns for a pipe.
import type { AgentState, CallTotals, Fleet, FleetAgent, ModelCost, Wait } from '../../spine/fleet/fleet.ts'
import { cellsOf } from '../../cells/widths.ts'
import { column, columnRight, fit, widest } from './columns.ts'
import { fill } from './fold.ts'
import { type Paint, SIGNS } from './glyphs.ts'
import type { Style } from './style.ts'

export interface Look {
  readonly style: Style
  readonly hasGlyphs: boolean
}

const NAME_MAX = 28
/** Terminals at least this wide also show commands. */
const COMMANDS_FROM = 100
/** A longer command has a line of its own unless it fits: commands are never cut. */
const COMMAND_ASIDE = 44
/** With less space than this, the text of an entry goes on lines of its own. */
const TEXT_MIN = 20
const TEXT_LINES_MAX = 3

export const NO_AGENTS = 'No agents yet. heimdall run claude starts one.'

export function fleetText(fleet: Fleet, look: Look): string {
  const unread = fleet.missing.map(({ what, message }) => `not read: ${what}: ${message}`)
  const parts =
    fleet.counts.agents === 0 && fleet.waits.length === 0
      ? [howToStart(fleet, look)]
      : [
          headline(fleet, look),
          waitLines(fleet, look),
          collisionLines(fleet, look),
          checkLines(fleet, look),
          [...restLines(fleet, look), ...totalsLines(fleet, look)],
        ]
  return [...parts, unread.flatMap((line) => folded(line, look)).map((line) => paint(look, 'magenta', line))]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function howToStart({ project }: Fleet, look: Look): string[] {
  return [
    fit(`No agents in ${project.name} yet.`, widthOf(look), markOf(look)),
    '  heimdall run claude  start an agent',
    '  heimdall init        set up your hosts',
    '  heimdall demo        watch a demo',
  ]
}

function headline({ project, counts, policies, since }: Fleet, look: Look): string[] {
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
  const name = fit(project.name, widthOf(look), markOf(look))
  const [first = '', ...more] = folded(`${name}  ${words.join(', ')}`, look)
  return [`${paint(look, 'bold', name)}${first.slice(name.length)}`, ...more]
}

/** An entry of a list: fixed cells, a text that is cut or put on lines of its own, and a command. */
interface Entry {
  readonly age: string
  readonly name: string
  readonly kind: string
  readonly text: string
  readonly command: string
}

/** In columns where the text fits, otherwise the text on lines of its own; commands from COMMANDS_FROM on. */
function entryLines(entries: readonly Entry[], look: Look, commandsFrom = 0): { lines: string[]; commandsAt: number } {
  const [width, mark] = [widthOf(look), markOf(look)]
  const kinds = widest(
    entries.map(({ kind }) => kind),
    12,
  )
  const wanted = widest(
    entries.map(({ name }) => name),
    NAME_MAX,
  )
  const names = Math.min(wanted, Math.max(8, width - 8 - kinds - 2))
  const textAt = 8 + names + 2 + kinds + 2
  const head = ({ age, name, kind }: Entry): string =>
    `${columnRight(age, 6)}  ${column(name, names, mark)}  ${column(kind, kinds)}`
  if (width - textAt < TEXT_MIN) {
    const lines = entries.flatMap((entry) => [head(entry).trimEnd(), ...below(entry.text, look)])
    return { lines, commandsAt: 0 }
  }
  const texts = entries.map(({ text }) => text)
  const isShown = width >= COMMANDS_FROM
  const aside = Math.max(COMMAND_ASIDE, width - textAt - widest(texts, width) - 2)
  const beside = entries.map(({ command }) => command).filter((command) => cellsOf(command) <= aside)
  const most = width - textAt - (isShown ? widest(beside, aside) + 2 : 0)
  const texted = Math.min(most, Math.max(widest(texts, most), commandsFrom - textAt - 2))
  const lines = entries.flatMap((entry) => {
    const start = `${head(entry)}  `
    if (!isShown) return [`${start}${fit(entry.text, most, mark)}`]
    const { command } = entry
    const line = `${start}${column(entry.text, texted, mark)}`
    if (cellsOf(command) <= aside) return [`${line}  ${paint(look, 'dim', command)}`.trimEnd()]
    const own = textAt + cellsOf(command) > width ? [] : [`${' '.repeat(textAt)}${paint(look, 'dim', command)}`]
    return [line.trimEnd(), ...own]
  })
  return { lines, commandsAt: textAt + texted + 2 }
}

/** At most TEXT_LINES_MAX lines, broken between words; the last one is cut. */
function below(text: string, look: Look): string[] {
  const lines = fill(text, 8, 8, widthOf(look))
  const shown = lines.slice(0, TEXT_LINES_MAX)
  if (lines.length > shown.length) shown.push(`${shown.pop() ?? ''} ${lines.slice(TEXT_LINES_MAX).join(' ').trim()}`)
  return shown.map((line) => fit(line, widthOf(look), markOf(look)))
}

const isCounted = ({ snoozed_until: until }: Wait): boolean => until === null

const waitEntries = ({ at, waits }: Fleet): Entry[] =>
  waits.filter(isCounted).map(({ since, agent_id: agent, kind, asks, answers }) => ({
    age: shortSpan(Date.parse(at) - Date.parse(since)),
    name: agent ?? '-',
    kind,
    text: asks,
    command: answers[0]?.command ?? '',
  }))

function waitLines(fleet: Fleet, look: Look): string[] {
  const entries = waitEntries(fleet)
  const snoozed = fleet.waits.length - entries.length
  const put = snoozed === 0 ? [] : [paint(look, 'dim', `   ${snoozed} snoozed`)]
  if (entries.length === 0) return [`${signOf('done', look)} Nothing waits for you`, ...put]
  const title = `${signOf('needs you', look)} ${entries.length} ${entries.length === 1 ? 'waits' : 'wait'} for you`
  return [paint(look, 'yellow', title), ...entryLines(entries, look).lines, ...put]
}

function collisionLines({ at, collisions }: Fleet, look: Look): string[] {
  if (collisions.length === 0) return []
  const lines = collisions.flatMap((one) => {
    const leftMs = Date.parse(one.expires_at) - Date.parse(at)
    const lease = leftMs > 0 ? `lease ${shortSpan(leftMs)}` : 'lease expired'
    const place = one.place === null ? '' : `, place ${one.place} in the queue`
    const words = `${one.wanted}: ${one.held_by} holds it (${one.holder_liveness}, ${lease}); ${one.wanted_by} waits, ${plural(one.attempts, 'attempt')}${place}`
    return below(words, look)
  })
  return [paint(look, 'magenta', `${signOf('collision', look)} ${plural(collisions.length, 'collision')}`), ...lines]
}

const TO_CHECK: readonly AgentState[] = ['looping', 'stuck', 'lost', 'stale']

/** Commands are aligned with those of the waits where they fit. */
function checkLines(fleet: Fleet, look: Look): string[] {
  const found = fleet.agents.filter(({ state }) => TO_CHECK.includes(state))
  if (found.length === 0) return []
  const waits = waitEntries(fleet)
  const commandsAt = waits.length === 0 ? 0 : entryLines(waits, look).commandsAt
  const entries = found.map((agent) => ({
    age: '',
    name: agent.agent_id,
    kind: agent.state,
    text: agent.evidence.seen,
    command: commandFor(agent),
  }))
  const { lines } = entryLines(entries, look, commandsAt)
  return [paint(look, 'magenta', `${signOf('looping', look)} ${found.length} to check`), ...lines]
}

function commandFor({ session_id: session, claims, agent_id: agent }: FleetAgent): string {
  const [scope] = claims.flatMap(({ scopes }) => scopes)
  if (session !== null) return `hm peek ${session}`
  return scope === undefined ? `heimdall agent show ${agent}` : `heimdall why ${scope}`
}

const REST = ['working', 'idle', 'done', 'cancelled', 'failed'] as const

function restLines({ counts }: Fleet, look: Look): string[] {
  const shown = REST.filter((state) => counts[state] > 0)
  const parts = shown.map((state) => `${signOf(state, look)} ${counts[state]} ${state}`)
  const painted = (part: string): string => {
    const { color } = SIGNS[shown[parts.indexOf(part)] ?? 'done']
    return color === null ? part : paint(look, color, part)
  }
  return linesOfParts(parts, '  ', look).map((line) => line.map(painted).join('  '))
}

function totalsLines({ calls, tokens, cost }: Fleet, look: Look): string[] {
  const parts = [
    ...(calls.total === 0 ? [] : [callsText(calls)]),
    ...(cost === null ? [] : costWords(cost)),
    ...(tokens === null ? [] : [`${thousands(tokens.total)} tokens of briefs, ${thousands(tokens.measured)} measured`]),
  ]
  const gap = look.hasGlyphs ? ' · ' : ' | '
  return linesOfParts(parts, gap, look).flatMap((line) => folded(line.join(gap), look))
}

/** As many parts per line as fit. */
function linesOfParts(parts: readonly string[], gap: string, look: Look): string[][] {
  const lines: string[][] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last !== undefined && cellsOf([...last, part].join(gap)) <= widthOf(look)) last.push(part)
    else lines.push([part])
  }
  return lines
}

const folded = (text: string, look: Look): string[] => fill(text, 0, 2, widthOf(look))

export function costWords({ tokens, cached_reads: cached, usd, unpriced, prices }: ModelCost): string[] {
  if (tokens === 0) return []
  const shown = tokens >= 1e6 ? `${(tokens / 1e6).toFixed(1)} M` : thousands(tokens)
  const without = unpriced.length === 0 ? '' : `, without ${unpriced.join(', ')}`
  return [
    `${shown} tokens, ${Math.round((100 * cached) / tokens)} % cached reads`,
    ...(usd === 0 ? [] : [`$${usd.toFixed(2)}, prices of ${prices}${without}`]),
  ]
}

/** `22 guarded, 2 advisory`; empty where no guard is known. */
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

/** One line for each wait, collision and agent: what, seconds, agent, kind, text. */
export function fleetColumns({ at, waits, collisions, agents, missing }: Fleet): string {
  const seconds = (since: string): string =>
    String(Math.max(0, Math.floor((Date.parse(at) - Date.parse(since)) / 1_000)))
  return [
    ...waits.map((wait) => [
      isCounted(wait) ? 'needs-you' : 'snoozed',
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
