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
  snoozed_until: null,
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
  for (const columns of [40, 50, 60, 80, 99, 100, 120, 200])
    for (const line of lines({ waits, agents: [looping('x'.repeat(300))] }, columns))
      expect({ columns, line, fits: line.length <= columns }).toMatchObject({ fits: true })
})

test('a long command takes a line of its own, and nothing of what the others ask', () => {
  const command = 'heimdall note ack msg_01M7MWFK2H12ASVFSA5K0EAQE2 --human'
  const asked = [...waits, { ...waits[0], agent_id: 'slate-heron', asks: 'DHL key expired', answers: [{ command }] }]
  const text = lines({ waits: asked }, 120)
  expect(text.join('\n')).toContain('keep /v1/refresh for one release, or remove it now?  hm attach amber-otter')
  const at = text.findIndex((line) => line.includes('slate-heron'))
  expect(text[at]).toMatch(/DHL key expired$/)
  expect(text[at + 1]).toBe(`${' '.repeat(String(text[at]).indexOf('DHL'))}${command}`)
  // With room for it, it stands where the others do; where it would be cut, it is not there.
  expect(lines({ waits: asked }, 200)).toHaveLength(text.length - 1)
  const longer = asked.map((one, i) => (i === 2 ? { ...one, answers: [{ command: command.repeat(2) }] } : one))
  expect(lines({ waits: longer }, 120).join('\n')).not.toContain('note ack')
})

test('without agents it says in four lines how to start', () => {
  const nobody = { ...fleet({}), counts: { agents: 0, waiting: 0 } as Fleet['counts'] }
  const style = styleFor({ isTTY: true, columns: 40 }, {}, false)
  const text = fleetText(nobody, { style, hasGlyphs: true }).split('\n')
  expect(text).toHaveLength(4)
  expect(text.filter((line) => line.length > 40)).toEqual([])
  for (const command of ['heimdall run claude', 'heimdall init', 'heimdall demo'])
    expect(text.join('\n')).toContain(command)
})

test('a policy is said to govern what it governs: MCP calls through the shim', () => {
  const policies = [{ policy_id: 'team', version: '1', mode: 'control', agents: 1 }] as unknown as Fleet['policies']
  const style = styleFor({ isTTY: true, columns: 80 }, {}, false)
  const shown = fleetText({ ...fleet({}), policies }, { style, hasGlyphs: true })
  expect(shown).toContain('parcelworks  3 agents, policy team 1 in control for MCP calls through the shim')
})

test('at 40 columns no word is broken: what is asked is on lines of its own', () => {
  const asks = 'keep /v1/refresh for one release, or remove it now and tell the mobile team?'
  const collisions = [
    {
      wanted: 'src/login.ts',
      held_by: 'amber-otter',
      holder_liveness: 'active',
      expires_at: AT,
      wanted_by: 'teal-badger',
      attempts: 2,
      place: null,
    },
  ] as unknown as Fleet['collisions']
  const narrow = {
    ...fleet({ waits: [{ ...waits[0], asks }], agents: [looping('the same call nine times in four minutes')] }),
    collisions,
    counts: { agents: 3, waiting: 1, working: 2, idle: 1, done: 4, cancelled: 1, failed: 1 } as Fleet['counts'],
    calls: { total: 118, hinted: 3, blocked: 5 } as Fleet['calls'],
  }
  const style = styleFor({ isTTY: true, columns: 40 }, {}, false)
  const text = fleetText(narrow, { style, hasGlyphs: true })
  expect(text.split('\n').filter((line) => line.length > 40)).toEqual([])
  const words = (shown: string): string[] => shown.split(/\s+/).filter((word) => word !== '')
  for (const said of [
    asks,
    'amber-otter holds it (active, lease expired);',
    'the same call nine times in four minutes',
  ])
    expect(words(text)).toEqual(expect.arrayContaining(words(said)))
})
