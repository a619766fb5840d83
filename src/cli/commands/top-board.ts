// The frame that `heimdall top` draws: a headline, a row for each agent, the selected agent in detail, and the keys. Pure.
import { type Choice, choicesOf } from '../../spine/fleet/choices.ts'
import type { AgentState, Evidence, Fleet, FleetAgent, Wait } from '../../spine/fleet/fleet.ts'
import { hasEnded } from '../../spine/fleet/fleet.ts'
import { oneLine } from '../../spine/fleet/plain-words.ts'
import { cellsOf } from '../../cells/widths.ts'
import { column, columnRight, fit, wholeParts, widest } from '../render/columns.ts'
import {
  callsText,
  clockText,
  costWords,
  guardWords,
  type Look,
  markOf,
  NO_AGENTS,
  paint,
  plural,
  shortSpan,
  signOf,
} from '../render/fleet-text.ts'
import { SIGNS } from '../render/glyphs.ts'

/** Keys, shown by `?` and in help. */
export const TOP_KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['j k g G', 'move, as the arrow keys, Home and End do'],
  ['1-9', 'answer what the selected agent asks, with the choice of that number'],
  ['t Enter', 'attach to its terminal; Ctrl-\\ comes back'],
  ['z', 'snooze its wait for 15 minutes'],
  ['p w', 'show its screen; show who holds what it claims'],
  ['c d', 'list all claims; list decisions on its calls'],
  ['/ s', 'filter by words; sort by who needs you, name or cost'],
  ['? q', 'explain the keys; quit'],
]

/** An agent, or a wait that belongs to no agent in the list. */
export interface BoardRow {
  readonly key: string
  readonly agent: FleetAgent | undefined
  /** The oldest that is not snoozed. */
  readonly wait: Wait | undefined
  readonly moreWaits: number
}

/** Waits without an agent come first in each order. */
export const SORTS = ['who needs you', 'name', 'cost'] as const
export type Sort = (typeof SORTS)[number]

const COMPARES: Readonly<Record<Sort, ((a: FleetAgent, b: FleetAgent) => number) | undefined>> = {
  'who needs you': undefined,
  name: (a, b) => a.agent_id.localeCompare(b.agent_id),
  cost: (a, b) => (b.cost?.usd ?? 0) - (a.cost?.usd ?? 0),
}

export function rowsOf({ agents: all, waits }: Fleet, filter: string, sort: Sort = SORTS[0]): BoardRow[] {
  const compare = COMPARES[sort]
  const agents = compare === undefined ? all : all.toSorted(compare)
  const open = waits.filter(({ snoozed_until: until }) => until === null)
  const rows: BoardRow[] = [
    ...open
      .filter(({ agent_id: id }) => !agents.some((agent) => agent.agent_id === id))
      .map((wait) => ({ key: wait.id, agent: undefined, wait, moreWaits: 0 })),
    ...agents.map((agent) => {
      const own = open.filter(({ agent_id: id }) => id === agent.agent_id)
      return { key: agent.agent_id, agent, wait: own[0], moreWaits: Math.max(0, own.length - 1) }
    }),
  ]
  const words = filter.toLowerCase().split(' ')
  return rows.filter((row) => words.every((word) => searched(row).includes(word)))
}

const searched = ({ agent, wait }: BoardRow): string =>
  [
    agent?.agent_id,
    agent?.state,
    agent?.task?.id,
    agent?.task?.title,
    agent?.program,
    agent?.branch,
    wait?.kind,
    wait?.asks,
    ...(agent?.claims ?? []).flatMap(({ scopes }) => scopes),
  ]
    .join(' ')
    .toLowerCase()

export interface BoardView {
  readonly look: Look
  readonly cols: number
  /** Height of the terminal; undefined prints as many lines as needed. */
  readonly rows: number | undefined
  readonly selected: string | undefined
  readonly filter: string
  readonly isFiltering: boolean
  readonly sort: Sort
  /** Shows the keys in place of the selected row. */
  readonly isHelping: boolean
  /** Result of the last key. */
  readonly said: string
}

export function boardLines(fleet: Fleet, view: BoardView): string[] {
  const rows = rowsOf(fleet, view.filter, view.sort)
  const at = Math.max(
    0,
    rows.findIndex(({ key }) => key === view.selected),
  )
  const chosen = rows[at]
  const isLow = view.rows !== undefined && view.rows < DETAIL_FROM_ROWS
  const below =
    view.rows === undefined
      ? [totals(fleet)]
      : isLow
        ? []
        : view.isHelping
          ? helpLines(view)
          : detailLines(fleet, chosen, view)
  const columns = columnsFor(rows, fleet, view)
  const head = isLow ? [headLine(fleet, view)] : [headLine(fleet, view), '', tableHead(columns, view)]
  const space =
    view.rows === undefined ? rows.length : Math.max(1, view.rows - head.length - below.length - (isLow ? 1 : 2))
  // The selected row stays visible.
  const from = Math.max(0, Math.min(at - Math.floor(space / 2), rows.length - space))
  const shown = rows
    .slice(from, from + space)
    .map((row) => tableRow(row, columns, view, row === chosen && view.rows !== undefined))
  const empty = view.filter === '' ? `  ${NO_AGENTS}` : '  No agent matches.'
  const body = shown.length === 0 ? [paint(view.look, 'dim', empty)] : shown
  if (view.rows === undefined) return [...head, ...body, '', ...below]
  const lines = [...head, ...body, ...(isLow ? [] : ['']), ...below]
  while (lines.length < view.rows - 1) lines.push('')
  return [...lines.slice(0, view.rows - 1), footLine(view)]
}

/** A terminal with fewer rows shows the agents only. */
const DETAIL_FROM_ROWS = 12

/** Taller for states that need the user more. */
const HEIGHTS: Readonly<Record<AgentState, string>> = {
  'needs you': '█',
  collision: '█',
  looping: '▆',
  stuck: '▆',
  lost: '▅',
  stale: '▅',
  working: '▄',
  idle: '▂',
  done: '▁',
  cancelled: '▁',
  failed: '▁',
}

function headLine(fleet: Fleet, { look, cols, rows }: BoardView): string {
  const { project, counts, agents, waits, collisions, at } = fleet
  const ticks = agents
    .slice(0, 60)
    .map(({ state }) => tinted(look, state, look.hasGlyphs ? HEIGHTS[state] : SIGNS[state].ascii))
  const oldest = waits.find(({ snoozed_until: until }) => until === null)
  const waiting =
    oldest === undefined
      ? `${signOf('done', look)} nothing waits for you`
      : `${paint(look, 'yellow', `${signOf('needs you', look)} ${counts.waiting} ${counts.waiting === 1 ? 'waits' : 'wait'} for you`)} oldest ${age(oldest.since, at)}`
  const parts = [
    paint(look, 'bold', oneLine(project.name)),
    ...(ticks.length === 0 ? [] : [ticks.join('')]),
    waiting,
    ...(collisions.length === 0
      ? []
      : [paint(look, 'magenta', `${signOf('collision', look)} ${plural(collisions.length, 'collision')}`)]),
    ...(counts.working === 0 ? [] : [paint(look, 'blue', `${signOf('working', look)} ${counts.working} working`)]),
    plural(counts.agents, 'agent'),
  ]
  const time = `${clockText(at)}:${String(new Date(at).getSeconds()).padStart(2, '0')}${rows === undefined ? '' : '  live'}`
  // Parts are dropped until the line fits: what waits stays longest.
  while (parts.length > 1 && cellsShown(parts.join('  ')) + time.length + 2 > cols) {
    if (parts.length > 3) parts.pop()
    else parts.shift()
  }
  const line =
    cellsShown(parts.join('  ')) > cols ? fit(waiting.replaceAll(PAINTED, ''), cols, markOf(look)) : parts.join('  ')
  const gap = cols - cellsShown(line) - time.length
  return gap < 2 ? line : `${line}${' '.repeat(gap)}${paint(look, 'dim', time)}`
}

interface Column {
  readonly title: string
  readonly width: number
  readonly isRight?: boolean
  readonly text: (row: BoardRow) => string
}

const NAME_MAX = 24
const WORDS_MIN = 30
const WORDS_LEAST = 8

/** The columns that fit: who, since when and what come before how much. */
function columnsFor(rows: readonly BoardRow[], fleet: Fleet, { look, cols }: BoardView): Column[] {
  const none = look.hasGlyphs ? '–' : '-'
  const names = rows.map((row) => nameOf(row, fleet))
  const fixed: Column[] = [
    { title: 'STATE', width: 11, text: (row) => `${signOf(stateOf(row), look)} ${stateOf(row)}` },
    { title: 'AGENT', width: Math.max(5, widest(names, NAME_MAX)), text: (row) => nameOf(row, fleet) },
    {
      title: 'FOR',
      width: 6,
      isRight: true,
      text: ({ agent, wait }) => age((wait ?? agent)?.since ?? fleet.at, fleet.at),
    },
  ]
  const task = ({ agent }: BoardRow): string => agent?.task?.title ?? `${none} no task`
  const number = (title: string, width: number, text: (agent: FleetAgent) => string | null): Column => ({
    title,
    width,
    isRight: true,
    text: ({ agent }) => (agent === undefined ? none : (text(agent) ?? none)),
  })
  const client = (row: BoardRow): string => (clientOf(row) === UNKNOWN_CLIENT ? none : clientOf(row))
  const more: Column[] = [
    { title: 'TASK', width: Math.max(4, widest(rows.map(task), 26)), text: task },
    number('CLAIMS', 6, ({ claims }) => (claims.length === 0 ? null : String(claims.length))),
    number('COST', 7, ({ cost }) => (cost === null || cost.usd === 0 ? null : `$${cost.usd.toFixed(2)}`)),
    number('CALLS', 6, ({ calls }) => (calls === null ? null : String(calls.total))),
    number('TOKENS', 8, ({ cost }) => (cost === null ? null : millions(cost.tokens))),
    { title: 'CLIENT', width: Math.max(6, widest(rows.map(client), 14)), text: client },
  ]
  const widthOf = (columns: readonly Column[]): number => columns.reduce((sum, { width }) => sum + width + 2, 0)
  const taken = [...fixed]
  // A longer line would wrap and shift the following ones.
  while (taken.length > 2 && widthOf(taken) > cols - WORDS_LEAST) taken.pop()
  const space = cols - 2 - widthOf(taken)
  if (space < WORDS_MIN) return space < WORDS_LEAST ? narrowed(taken, cols) : [...taken, { ...WORDS, width: space }]
  let left = space - WORDS_MIN - 2
  for (const one of more) {
    if (left < one.width + 2) break
    left -= one.width + 2
    taken.push(one)
  }
  const place = taken.findIndex(({ title }) => title === 'CLAIMS')
  taken.splice(place < 0 ? taken.length : place, 0, { ...WORDS, width: WORDS_MIN + Math.max(0, left) })
  return taken
}

/** For terminals in which not even names fit. */
function narrowed([state, name]: readonly Column[], cols: number): Column[] {
  if (state === undefined || name === undefined) return []
  const space = cols - 2 - state.width - 2
  return space < 4
    ? [{ ...state, width: Math.max(1, cols - 2) }]
    : [state, { ...name, width: Math.min(name.width, space) }]
}

const WORDS: Column = { title: 'LAST LINE, OR WHAT IT ASKS', width: WORDS_MIN, text: wordsOf }

const stateOf = ({ agent }: BoardRow): AgentState => agent?.state ?? 'needs you'
const nameOf = ({ agent }: BoardRow, { project }: Fleet): string => agent?.agent_id ?? oneLine(project.name)
const UNKNOWN_CLIENT = 'unknown'
const clientOf = ({ agent }: BoardRow): string => (agent?.program ?? agent?.client ?? '').replace(/^.*\//, '')

function wordsOf({ agent, wait }: BoardRow): string {
  if (wait !== undefined) return wait.kind === 'collision' ? wait.asks : `${wait.kind}: ${wait.asks}`
  if (agent === undefined) return ''
  const { state, evidence, last_line: line, title, since } = agent
  if (hasEnded(state)) return `ended ${clockText(since)}, ${evidence.seen}`
  if (['looping', 'stuck', 'lost', 'stale'].includes(state)) return evidence.seen
  return line === null || line === '' ? (title === '' ? evidence.seen : title) : line
}

const tableHead = (columns: readonly Column[], { look }: BoardView): string =>
  paint(
    look,
    'dim',
    `  ${columns.map(({ title, width, isRight }) => (isRight === true ? columnRight(title, width) : column(title, width))).join('  ')}`.trimEnd(),
  )

function tableRow(row: BoardRow, columns: readonly Column[], { look, cols }: BoardView, isChosen: boolean): string {
  const mark = markOf(look)
  const state = stateOf(row)
  const cells = columns.map(({ title, width, isRight, text }) => {
    const cell = (isRight === true ? columnRight : column)(text(row), width, mark)
    if (title === 'AGENT') return paint(look, 'bold', cell)
    if (title === 'STATE' || (title.startsWith('LAST') && LOUD.has(state))) return tinted(look, state, cell)
    return title === 'TASK' || title === 'CLAIMS' ? cell : paint(look, 'dim', cell)
  })
  const line = `${isChosen ? '>' : ' '} ${cells.join('  ')}`
  if (!isChosen) return line.trimEnd()
  return inverse(look, line, cols)
}

const LOUD: ReadonlySet<AgentState> = new Set(['needs you', 'collision', 'looping', 'stuck'])

/** The selected row: what it asks, the evidence, what it holds, and the keys that answer it. */
function detailLines(fleet: Fleet, row: BoardRow | undefined, view: BoardView): string[] {
  const { look, cols } = view
  const cut = (text: string): string => fit(text, cols - 2, markOf(look))
  const parts = { gap: '   ', mark: markOf(look) }
  if (row === undefined) return [ruleLine(view), '', '', '', paint(look, 'dim', cut(`  ${totals(fleet)}`))]
  const { agent, wait, moreWaits } = row
  const evidence = wait?.evidence ?? agent?.evidence
  const since = wait?.since ?? agent?.since ?? fleet.at
  const scopes = (agent?.claims ?? []).flatMap((claim) => claim.scopes)
  const more = moreWaits === 0 ? '' : `, and ${moreWaits} more`
  const head = `  ${nameOf(row, fleet)}  ${wait?.kind ?? agent?.state ?? ''}, seen by ${seenBy(evidence, wait)}, since ${clockText(since)}${more}`
  const facts = [
    ...(agent?.program == null ? [] : [`runs ${clientOf(row)}`]),
    ...(scopes[0] === undefined ? [] : [`holds ${scopes[0]}${scopes.length > 1 ? ` +${scopes.length - 1}` : ''}`]),
    ...(agent?.branch == null ? [] : [`branch ${agent.branch}`]),
    ...(agent?.guard == null ? [] : [agent.guard.kind]),
    ...(agent === undefined || agent.waited.count === 0
      ? []
      : [`waited ${plural(agent.waited.count, 'time')}, ${shortSpan(agent.waited.ms)}`]),
  ]
  return [
    ruleLine(view),
    paint(look, 'dim', cut(head)),
    paint(look, 'bold', cut(`  ${wait?.asks ?? wordsOf(row)}`)),
    `  ${wholeParts(facts, cols - 4, parts)}`,
    `  ${wholeParts(keysFor(row), cols - 4, parts)}`,
    paint(look, 'dim', cut(`  ${view.said === '' ? totals(fleet) : view.said}`)),
  ]
}

/** Without the question itself, which is the next line. */
function seenBy(evidence: Evidence | undefined, wait: Wait | undefined): string {
  if (evidence === undefined) return ''
  const { source, seen } = evidence
  const sign = wait !== undefined && seen.endsWith(wait.asks) ? seen.slice(0, -wait.asks.length) : seen
  const shown = sign.replace(/[\s:]+$/, '')
  return shown === '' ? source : `${source} (${shown})`
}

/** The same choices, in the same order, as on the page. */
export const choicesFor = ({ agent, wait }: BoardRow): Choice[] =>
  wait === undefined
    ? []
    : choicesOf(wait, { hasSession: (agent?.session_id ?? null) !== null, showsPin: true, shown: [] })

function keysFor(row: BoardRow): string[] {
  const { agent, wait } = row
  return [
    ...choicesFor(row).map(({ label }, index) => `[${index + 1}] ${label}`),
    ...(wait === undefined ? [] : ['[z] snooze']),
    ...(agent?.session_id == null ? [] : ['[t] take the keyboard']),
  ]
}

const ruleLine = ({ look, cols }: BoardView): string => paint(look, 'dim', (look.hasGlyphs ? '─' : '-').repeat(cols))

const helpLines = (view: BoardView): string[] => [
  ruleLine(view),
  ...TOP_KEYS.map(([keys, does]) => fit(`  ${keys.padEnd(9)} ${does}`, view.cols - 2, markOf(view.look))),
]

function totals({ since, calls, cost, agents }: Fleet): string {
  return [
    ...(since === null ? [] : [`since ${clockText(since)}`]),
    ...(calls.total === 0 ? [] : [callsText(calls)]),
    ...(cost === null ? [] : costWords(cost)),
    ...guardWords(agents),
  ].join('   ')
}

function footLine({ look, cols, filter, isFiltering, sort }: BoardView): string {
  const keys = [
    `${look.hasGlyphs ? '↑↓' : 'j k'} move`,
    `${look.hasGlyphs ? '↵' : 'Enter'} attach`,
    '1-9 answer',
    // A filter hides rows, so it is named before the keys that a narrow terminal drops.
    ...(filter === '' ? [] : [`/ filter (${filter})`]),
    'z snooze',
    'p peek',
    'w why',
    'c claims',
    'd decisions',
    ...(filter === '' ? ['/ filter'] : []),
    `s sort: ${sort}`,
  ]
  const line = isFiltering
    ? ` /${filter}_   Enter keeps it   Esc shows all`
    : ` ${wholeParts(keys, cols - 1, { gap: '   ', kept: ['? keys', 'q quit'] })}`
  return inverse(look, fit(line, cols, markOf(look)), cols)
}

const inverse = (look: Look, line: string, cols: number): string =>
  paint(look, 'inverse', `${line}${' '.repeat(Math.max(0, cols - cellsShown(line)))}`)

function tinted(look: Look, state: AgentState, text: string): string {
  const { color } = SIGNS[state]
  return color === null ? paint(look, 'dim', text) : paint(look, color, text)
}

// oxlint-disable-next-line no-control-regex -- the colours of `paint`
const PAINTED = /\u001b\[\d+m/g
const cellsShown = (line: string): number => cellsOf(line.replaceAll(PAINTED, ''))
const age = (since: string, at: string): string => shortSpan(Date.parse(at) - Date.parse(since))
const millions = (count: number): string => (count >= 1e5 ? `${(count / 1e6).toFixed(1)} M` : String(count))
