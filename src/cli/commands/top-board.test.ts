// The frame at every size: no line is wider than the terminal, there are as many as it has, and the agent that waits is shown.
import { expect, test } from 'vitest'
import { cellsOf } from '../../cells/widths.ts'
import { NO_CALLS } from '../../spine/call-totals.ts'
import type { Fleet, FleetAgent, Wait } from '../../spine/fleet/fleet.ts'
import { styleFor } from '../render/style.ts'
import { boardLines, SORTS, type BoardView } from './top-board.ts'

const PLAIN = styleFor({ isTTY: true }, {}, false)
const AT = '2026-11-17T14:32:08.000Z'
const ago = (minutes: number): string => new Date(Date.parse(AT) - minutes * 60_000).toISOString()

const agent = (id: string, state: FleetAgent['state'], usd: number): FleetAgent =>
  ({
    agent_id: id,
    state,
    since: ago(14),
    evidence: { source: 'hook', seen: 'PermissionRequest' },
    task: { id: 'T-1', title: 'Idempotent webhook delivery 配達' },
    claims: [{ scopes: ['src/webhooks/**', 'docs/**'] }],
    session_id: id,
    socket_dir: '/s',
    program: 'codex',
    client: 'codex',
    branch: 'ch/webhook-idem',
    calls: { ...NO_CALLS, total: 118 },
    cost: { usd, tokens: 1_900_000 },
    guard: { kind: 'guarded' },
    waited: { count: 2, ms: 60_000 },
    last_line: '41 tests passed (3.2 s)',
    title: '',
  }) as unknown as FleetAgent

const wait = (agentId: string): Wait => ({
  id: 'w1',
  kind: 'permission',
  agent_id: agentId,
  session_id: agentId,
  run_id: 'r1',
  asks: 'npm run db:migrate -- --env staging 配達',
  detail: null,
  since: ago(14),
  evidence: { source: 'hook', seen: 'PermissionRequest' },
  answers: [],
  snoozed_until: null,
})

const fleet = {
  at: AT,
  project: { name: 'parcelworks' },
  counts: { agents: 3, waiting: 1, working: 2 },
  agents: [
    agent('cobalt-harbor', 'needs you', 2.31),
    agent('zinc-wren', 'working', 4),
    agent('amber-otter', 'working', 1),
  ],
  waits: [wait('cobalt-harbor')],
  collisions: [],
  since: ago(300),
  calls: NO_CALLS,
  cost: null,
} as unknown as Fleet

const view = (more: Partial<BoardView>): BoardView => ({
  look: { style: PLAIN, hasGlyphs: true },
  cols: 160,
  rows: 30,
  selected: undefined,
  filter: '',
  isFiltering: false,
  sort: SORTS[0],
  isHelping: false,
  said: '',
  ...more,
})

test('whatever the size: lines fit, fill the terminal, and the one who waits is in sight', () => {
  for (const isHelping of [false, true])
    for (let cols = 8; cols <= 200; cols += 7)
      for (const rows of [2, 3, 5, 8, 11, 12, 13, 24, 60]) {
        const lines = boardLines(fleet, view({ cols, rows, isHelping }))
        const size = `${cols} × ${rows}`
        expect([size, lines.length]).toEqual([size, rows])
        expect([size, lines.filter((line) => cellsOf(line) > cols)]).toEqual([size, []])
        if (cols >= 30 && rows >= 3)
          expect([size, lines.join('\n')]).toEqual([size, expect.stringContaining('cobalt-h')])
      }
})

test('without glyphs everything of ours is ASCII', () => {
  const lines = boardLines(fleet, view({ look: { style: PLAIN, hasGlyphs: false } }))
  expect(lines.join('').replaceAll('配達', '')).toMatch(/^[\u0020-\u007e]*$/)
})

test('rows go by who needs you, by name, by cost', () => {
  const order = (sort: BoardView['sort']): string[] =>
    boardLines(fleet, view({ sort })).flatMap((line) => /(cobalt|zinc|amber)-\w+ +14m/.exec(line)?.[1] ?? [])
  expect(SORTS.map(order)).toEqual([
    ['cobalt', 'zinc', 'amber'],
    ['amber', 'cobalt', 'zinc'],
    ['zinc', 'cobalt', 'amber'],
  ])
})

test('keys are shown whole or not at all, and how to leave at every width that has room for it', () => {
  for (const cols of [40, 60, 80, 100, 120, 200]) {
    const foot = boardLines(fleet, view({ cols, rows: 24 })).at(-1) ?? ''
    expect(foot).toMatch(/ {3}\? keys {3}q quit *$/)
    for (const key of foot.trim().split('   '))
      expect(key).toMatch(
        /^(?:↑↓ move|↵ attach|1-9 answer|z snooze|p peek|w why|c claims|d decisions|\/ filter|s sort: who needs you|\? keys|q quit)$/,
      )
  }
})

test('what is asked is not said twice', () => {
  const asks = wait('cobalt-harbor').asks
  const seen = { source: 'osc', seen: `OSC 7501: permission: ${asks}` }
  const text = boardLines(
    { ...fleet, waits: [{ ...wait('cobalt-harbor'), evidence: seen }] },
    view({ cols: 160, rows: 24 }),
  )
  const detail = text.slice(text.findIndex((line) => line.startsWith('──'))).join('\n')
  expect(detail).toContain('permission, seen by osc (OSC 7501: permission), since')
  expect(detail.split(asks)).toHaveLength(2)
})

test('that somebody has no task is said whole', () => {
  const idle = { ...fleet, agents: fleet.agents.map((one) => ({ ...one, task: null })) }
  expect(boardLines(idle, view({})).filter((line) => line.includes('– no task'))).toHaveLength(3)
})
