// A character with its marks in the last column is drawn as one. tmux, whose cursor stays on that cell, is the judge.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { launcher } from '../support/programs.ts'
import { openPane } from '../support/tmux.ts'

const COLS = 80
const NARROW = ['e\u0301', 'o\u0308\u0323'].map((cluster) => '5'.repeat(COLS - 1) + cluster)
const WIDE = ['日', '🇩🇪'].map((cluster) => '5'.repeat(COLS - 2) + cluster)
const LINES = [...NARROW, ...WIDE]

test('attach shows at the right edge what tmux shows of the same program', async () => {
  const home = hm()
  const program = ['sh', '-c', `printf '%s\\n' "$@"; echo last; cat`, 'sh', ...LINES]
  await home.session('edge', program, ['--cols', String(COLS), '--rows', '20'])
  const plain = await openPane(program, { cols: COLS, rows: 20 })
  const attached = await openPane([...launcher('hm'), 'attach', 'edge'], {
    cols: COLS,
    rows: 21,
    env: { HOME: home.home },
  })
  await plain.see('last')
  await attached.see('last')
  const seen = (await plain.capture()).filter((line) => line.includes('55'))
  expect(seen).toEqual(LINES)
  expect((await attached.capture()).filter((line) => line.includes('55'))).toEqual(seen)
  // Drawn once more on top, in reverse, as what was found.
  await attached.type('\u001b[5;2~')
  await attached.see('history:')
  await attached.type('/55e\u0301\r')
  await attached.see(/n older/)
  expect((await attached.capture()).filter((line) => line.includes('55'))).toEqual(seen)
})
