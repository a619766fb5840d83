// The fleet as the page makes it of the feed: a whole snapshot, then patches.
import { expect, test } from 'vitest'
import { hasOtherWaits, patchFleet, useStore } from '../../dashboard/src/data/store.ts'
import type { AgentCard, LiveEvents, WaitCard } from '../../src/hub/contract.ts'

type Patch = LiveEvents['state']

const agent = (id: string, state: AgentCard['state']) => ({ agent_id: id, state }) as AgentCard
const wait = (id: string, since: string, snoozed: string | null = null) =>
  ({ wait_id: id, since, snoozed_until: snoozed }) as WaitCard
const patch = (part: Partial<Patch>): Patch => ({
  at: '2026-11-18T12:00:00.000Z',
  whole: false,
  agents: [],
  agents_gone: [],
  order: null,
  waits: [],
  waits_gone: [],
  totals: null,
  banners: null,
  ...part,
})

test('a snapshot replaces the fleet, a patch changes what it names, and waits are sorted by age with snoozed ones last', () => {
  const first = patchFleet(
    useStore.getState(),
    patch({
      whole: true,
      agents: [agent('amber-otter', 'working'), agent('ivory-lynx', 'idle')],
      waits: [wait('w2', '2026-11-18T11:02:00Z'), wait('w1', '2026-11-18T11:01:00Z')],
    }),
  )
  expect([...first.agents.keys()]).toEqual(first.order)
  expect(first.waits.map(({ wait_id }) => wait_id)).toEqual(['w1', 'w2'])

  const second = patchFleet(
    first,
    patch({
      agents: [agent('ivory-lynx', 'needs_you'), agent('teal-badger', 'working')],
      agents_gone: ['amber-otter'],
      order: ['ivory-lynx', 'teal-badger'],
      waits: [wait('w1', '2026-11-18T11:01:00Z', '2026-11-18T13:00:00Z'), wait('w3', '2026-11-18T11:03:00Z')],
      waits_gone: ['w2'],
    }),
  )
  expect([...second.agents.values()].map(({ agent_id, state }) => [agent_id, state])).toEqual([
    ['ivory-lynx', 'needs_you'],
    ['teal-badger', 'working'],
  ])
  expect(second.order).toEqual(['ivory-lynx', 'teal-badger'])
  // One went and another came.
  expect([hasOtherWaits(first.waits, second.waits), hasOtherWaits(first.waits, first.waits)]).toEqual([true, false])
  expect(second.waits.map(({ wait_id }) => wait_id)).toEqual(['w3', 'w1'])
  // What was there before is another object: selectors of the store compare by identity.
  expect(first.agents.get('ivory-lynx')?.state).toBe('idle')

  const again = patchFleet(second, patch({ whole: true, agents: [agent('plum-vole', 'idle')] }))
  expect([[...again.agents.keys()], again.order, again.waits]).toEqual([['plum-vole'], ['plum-vole'], []])
})
