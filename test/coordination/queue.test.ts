// Waiting for a held scope: first come, first served, with a deadline, and nobody waits for the dead.
import { expect, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims.ts'
import { releaseClaims } from '../../src/coordination/held.ts'
import { waitForClaim, type WaitResult } from '../../src/coordination/queue.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { enter, MINUTE, openRoom, wants } from './room.ts'

test('waiters get the scope in the order in which they came', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [owner, first, second] = [enter(room, 'amber-otter'), enter(room, 'cobalt-harbor'), enter(room, 'dusky-lynx')]
  claimScopes(room, owner, wants(room, 'src'))
  const order: string[] = []
  const wait = (who: typeof owner, name: string, scope: string): Promise<WaitResult> =>
    waitForClaim(room, who, wants(room, scope), {
      timeoutMs: 10 * MINUTE,
      onQueued: () => order.push(`${name} waits`),
    }).then((result) => {
      order.push(`${name} ${result.granted ? 'has it' : 'gave up'}`)
      return result
    })
  const waits = [wait(first, 'first', 'src/a.ts'), wait(second, 'second', 'src')]
  await clock.advanceAsync(1_000)
  releaseClaims(room, owner, { cwd: room.project.root })
  await clock.advanceAsync(10_000)
  expect(order).toEqual(['first waits', 'second waits', 'first has it'])
  releaseClaims(room, first, { cwd: room.project.root })
  await clock.advanceAsync(10_000)
  await Promise.all(waits)
  expect(order.at(-1)).toBe('second has it')
  expect(room.store.read((rows) => rows.tickets())).toEqual([])
})

test('a wait that runs out says who is still in the way, and leaves the queue', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [owner, waiter] = [enter(room, 'amber-otter'), enter(room, 'cobalt-harbor')]
  claimScopes(room, owner, wants(room, 'src'))
  const wait = waitForClaim(room, waiter, wants(room, 'src'), { timeoutMs: 3_000 })
  await clock.advanceAsync(4_000)
  expect(await wait).toMatchObject({ granted: false, conflicts: [{ agentId: 'amber-otter' }] })
  expect(room.store.read((rows) => rows.tickets())).toEqual([])
})

test('a waiter that stopped looking does not hold up those behind it', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [gone, waiter] = [enter(room, 'amber-otter'), enter(room, 'cobalt-harbor')]
  room.store.write((rows) => rows.addTicket({ holder: gone.haid, scopes: [], refreshed: room.now() }))
  const claim = claimScopes(room, gone, wants(room, 'src'))
  const scopes = claim.granted ? claim.claim.scopes : []
  room.store.write((rows) => rows.addTicket({ holder: gone.haid, scopes, refreshed: room.now() }))
  releaseClaims(room, gone, { cwd: room.project.root })
  const wait = waitForClaim(room, waiter, wants(room, 'src/a.ts'), { timeoutMs: MINUTE })
  await clock.advanceAsync(2_000)
  expect(room.store.read((rows) => rows.claims({ state: 'active' }))).toEqual([])
  await clock.advanceAsync(6_000)
  expect(await wait).toMatchObject({ granted: true })
})
