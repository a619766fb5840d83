// Recorded screens of vim, less, htop, fzf and of agents, drawn through attach and by tmux alone: the same cells, the
// same cursor. Both are looked at in tmux, so that whatever differs is ours.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { fixture, launcher } from '../support/programs.ts'
import { isSoak } from '../support/scale.ts'
import { openPane, type Pane } from '../support/tmux.ts'
import { until } from '../support/wait.ts'
import { gridOf } from './grid.ts'

interface Cast {
  readonly cols: number
  readonly rows: number
  /** Events of output to draw at each step. */
  readonly steps: readonly number[]
}

const CASTS = ['test/fixtures/screens', 'test/fixtures/hosts'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.cast'))
    .map((name) => join(folder, name)),
)
/** Looks at each recording; in soak, at every event. */
const LOOKS = 3

function readCast(path: string): Cast {
  const [head = '{}', ...events] = readFileSync(path, 'utf8').trimEnd().split('\n')
  const { width, height } = JSON.parse(head) as { readonly width: number; readonly height: number }
  const count = events.filter((event) => (JSON.parse(event) as unknown[])[1] === 'o').length
  const looks = isSoak ? count : LOOKS
  const stops = Array.from({ length: looks }, (_, n) => Math.round(((n + 1) * count) / looks))
  return { cols: width, rows: height, steps: stops.map((stop, n) => stop - (stops[n - 1] ?? 0)) }
}

interface Look {
  readonly cursor: object | undefined
  readonly grid: readonly (readonly string[])[]
}

async function look(pane: Pane, cols: number, rows: number): Promise<Look> {
  const { cursor, rows: lines } = await pane.look('-e', '-N')
  return { cursor, grid: gridOf(lines.slice(0, rows), cols) }
}

/**
 * tmux leaves out of a capture what was erased in a colour. It is seen when tmux draws the pane in another one, whose
 * terminal cannot erase in colours, and where in turn the first 16 of the 256 colours become the 16.
 */
function withErased({ cursor, grid }: Look, drawn: Look, ours: Look): Look {
  const erased = (x: number, y: number): string => {
    const cell = drawn.grid[y]?.[x] ?? ' '
    const own = ours.grid[y]?.[x] ?? ' '
    return ofSixteen(own) === cell ? own : cell
  }
  return { cursor, grid: grid.map((row, y) => row.map((cell, x) => (cell === ' ' ? erased(x, y) : cell))) }
}

/** A cell in one of the first 16 of the 256 colours, as it is drawn by the 16. */
const ofSixteen = (cell: string): string =>
  cell.replace(/bg:48;5;(\d+)$/, (whole, color: string) => {
    const n = Number(color)
    return n < 8 ? `bg:${40 + n}` : n < 16 ? `bg:${92 + n}` : whole
  })

test('there is a recording of each', () => {
  expect(CASTS.map((path) => path.replace(/^.*\/|[.-].*$/g, ''))).toEqual(
    expect.arrayContaining(['vim', 'less', 'htop', 'fzf', 'claude', 'codex', 'gemini']),
  )
})

test.each(CASTS)('%s', async (path) => {
  const { cols, rows, steps } = readCast(path)
  const replay = [...fixture('screen-replay'), resolve(path), ...steps.map(String)]
  const home = hm()
  await home.session('cast', replay, ['--cols', String(cols), '--rows', String(rows)])
  const [plain, attached] = await Promise.all([
    openPane(replay, { cols, rows }),
    openPane([...launcher('hm'), 'attach', 'cast'], { cols, rows: rows + 1, env: { HOME: home.home } }),
  ])
  const drawn = await openPane(plain.attach, { cols, rows })
  await attached.see(/\[hm\] cast/)
  for (const [n] of steps.entries()) {
    if (n > 0) await Promise.all([plain.type('\r'), attached.type('\r')])
    let found = 'nothing was seen'
    const isSame = async (): Promise<boolean> => {
      const [ours, alone, copy] = await Promise.all([attached, plain, drawn].map((pane) => look(pane, cols, rows)))
      if (ours === undefined || alone === undefined || copy === undefined) return false
      const tmux = withErased(alone, copy, ours)
      found = `step ${n}: ${differences(tmux, ours)}`
      return JSON.stringify(tmux) === JSON.stringify(ours)
    }
    await until('both to show the same', isSame, { context: () => found })
  }
})

function differences(tmux: Look, ours: Look): string {
  const cells = tmux.grid.flatMap((row, y) =>
    row.flatMap((cell, x) =>
      cell === ours.grid[y]?.[x] ? [] : [`${y},${x}: tmux ${JSON.stringify(cell)}, attach ${ours.grid[y]?.[x]}`],
    ),
  )
  const cursors = `cursor of tmux ${JSON.stringify(tmux.cursor)}, of attach ${JSON.stringify(ours.cursor)}`
  return [`${cells.length} cells differ, ${cursors}`, ...cells.slice(0, 30)].join('\n')
}
