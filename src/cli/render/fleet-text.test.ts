// What `heimdall status` looks like on a terminal: one column of commands for all that can be done something about.
import { expect, test } from 'vitest'
import type { Fleet, FleetAgent, Wait } from '../../spine/fleet/fleet.ts'
import { fleetText } from './fleet-text.ts'
import { styleFor } from './style.ts'

const AT = '2026-11-01T14:32:08.000Z'

const waits = [
  ['amber-otter', 'question', 'keep /v1/refresh for one release, or remove it now?', 'hm attach amber-otter'],
  ['rust-marten', 'budget', '486 of 500 calls used', 'hm attach rust-marten'],
].map(([agent_id, kind, asks, command]) => ({
  agent_id,
  kind,
  asks,
  since: AT,
  later_until: null,
  answers: [{ command }],
}))

const looping = (seen: string) => ({
  agent_id: 'plum',
  state: 'looping',
  session_id: 'plum',
  claims: [],
  evidence: { seen },
})

const fleet = (shown: { readonly waits?: object[]; readonly agents?: object[] }): Fleet => ({
  at: AT,
  project: { root: '/p', name: 'parcelworks' },
  collisions: [],
  counts: { agents: 3, waiting: 0 } as Fleet['counts'],
  calls: { total: 0 } as Fleet['calls'],
  tokens: null,
  cost: null,
  since: null,
  policies: [],
  missing: [],
  waits: (shown.waits ?? []) as Wait[],
  agents: (shown.agents ?? []) as FleetAgent[],
})

function lines(shown: Parameters<typeof fleet>[0], columns: number): string[] {
  const style = styleFor({ isTTY: true, columns }, {}, false)
  return fleetText(fleet(shown), { style, hasGlyphs: true }).split('\n')
}

const commandsAt = (text: readonly string[]): number[] =>
  text.map((line) => line.search(/hm (?:attach|peek) /)).filter((at) => at >= 0)

test('what is to be looked at has its command below those of the waits', () => {
  const [first, ...rest] = commandsAt(lines({ waits, agents: [looping('same call 9 times in 4 min')] }, 160))
  expect(rest).toEqual([first, first])
})

test('with nobody waiting the command follows the words, and no line is wider than the terminal', () => {
  expect(lines({ agents: [looping('same call')] }, 160)).toContain('        plum  looping  same call  hm peek plum')
  for (const columns of [80, 99, 100, 120, 200])
    for (const line of lines({ waits, agents: [looping('x'.repeat(300))] }, columns).slice(2))
      expect({ columns, line, fits: line.length <= columns }).toMatchObject({ fits: true })
})
