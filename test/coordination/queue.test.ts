// Waiting for a held scope: first come, first served, with a deadline, and nobody waits for the dead.
import { expect, test } from 'vitest'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { releaseClaims } from '../../src/coordination/claims/held.ts'
import type { Fate } from '../../src/coordination/who/process-ref.ts'
import { waitForClaim, type WaitResult } from '../../src/coordination/claims/queue.ts'
import { TICKET_BEAT_MS, TICKET_SILENT_MS, WAIT_LOOK_MS } from '../../src/limits.ts'
import { scopeOfPath } from '../../src/scopes/scope.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { enter, MINUTE, openRoom, wants } from './room.ts'

const enterThree = async (room: Coordination) =>
  [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor'), await enter(room, 'dusky-lynx')] as const

test('waiters get the scope in the order in which they came', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [owner, first, second] = await enterThree(room)
  await claimScopes(room, owner, wants(room, 'src'))
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
  await releaseClaims(room, owner, { cwd: room.project.root })
  await clock.advanceAsync(10_000)
  expect(order).toEqual(['first waits', 'second waits', 'first has it'])
  await releaseClaims(room, first, { cwd: room.project.root })
  await clock.advanceAsync(10_000)
  await Promise.all(waits)
  expect(order.at(-1)).toBe('second has it')
  expect(room.store.read((rows) => rows.tickets())).toEqual([])
})

test('a wait that runs out says who is still in the way, and leaves the queue', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [owner, waiter] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  await claimScopes(room, owner, wants(room, 'src'))
  const wait = waitForClaim(room, waiter, wants(room, 'src'), { timeoutMs: 3_000 })
  await clock.advanceAsync(4_000)
  expect(await wait).toMatchObject({ granted: false, conflicts: [{ agentId: 'amber-otter' }] })
  expect(room.store.read((rows) => rows.tickets())).toEqual([])
})

test('a waiter of which nothing is heard does not hold up those behind it', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [gone, waiter] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  await leaveTicket(room, gone.haid, null)
  const wait = waitForClaim(room, waiter, wants(room, 'src/a.ts'), { timeoutMs: 2 * TICKET_SILENT_MS })
  await clock.advanceAsync(TICKET_SILENT_MS - 2_000)
  expect(room.store.read((rows) => rows.claims({ state: 'active' }))).toEqual([])
  await clock.advanceAsync(4_000)
  expect(await wait).toMatchObject({ granted: true })
})

test('a waiter whose process has ended holds nobody up', async () => {
  const clock = fakeClock()
  const fates = new Map<string, Fate>([['p7', 'alive']])
  const room = openRoom({ clock, fateOf: (ref) => fates.get(ref) ?? 'unknown' })
  const [gone, waiter] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  await leaveTicket(room, gone.haid, 'p7')
  const wait = waitForClaim(room, waiter, wants(room, 'src/a.ts'), { timeoutMs: MINUTE })
  await clock.advanceAsync(10_000)
  expect(room.store.read((rows) => rows.claims({ state: 'active' }))).toEqual([])
  fates.set('p7', 'gone')
  await clock.advanceAsync(WAIT_LOOK_MS)
  expect(await wait).toMatchObject({ granted: true })
})

test('the claim of a holder that fell silent goes to whoever waits for it as soon as its lease has run out, in turn', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [owner, first, second] = await enterThree(room)
  await claimScopes(room, owner, wants(room, 'src', { ttlMinutes: 30 }))
  const holders = (): string[] =>
    room.store.read((rows) => rows.claims({ state: 'active' }).map(({ holder }) => holder))
  const over = new AbortController()
  const waits = [first, second].map((who) =>
    waitForClaim(room, who, wants(room, 'src'), { timeoutMs: 120 * MINUTE, signal: over.signal }),
  )
  await clock.advanceAsync(29 * MINUTE)
  expect(holders()).toEqual([owner.haid])
  await clock.advanceAsync(MINUTE + WAIT_LOOK_MS)
  expect(await waits[0]).toMatchObject({ granted: true, displaced: [{ agentId: 'amber-otter' }] })
  expect(holders()).toEqual([first.haid])
  over.abort()
  expect(await waits[1]).toMatchObject({ granted: false })
})

/** Somebody who waits for `src` and does not look any more. */
async function leaveTicket(room: Coordination, holder: string, process: string | null): Promise<void> {
  const scopes = [scopeOfPath('src', { caseSensitive: true, kind: 'dir' })]
  await room.store.change((rows) => rows.addTicket({ holder, scopes, process, refreshed: room.now() }))
}

test('the release that frees a scope wakes whoever waits for it, without any time passing', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [owner, waiter] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  await claimScopes(room, owner, wants(room, 'src'))
  const wait = waitForClaim(room, waiter, wants(room, 'src'), { timeoutMs: MINUTE })
  await clock.advanceAsync(0)
  await releaseClaims(room, owner, { cwd: room.project.root })
  // The clock stands still: nothing but the entry can have woken it.
  expect(await wait).toMatchObject({ granted: true })
})

test('waiting makes no entry while nothing changes, and beats now and then', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const owner = await enter(room, 'amber-otter')
  await claimScopes(room, owner, wants(room, 'src'))
  const waiters = [await enter(room, 'cobalt-harbor'), await enter(room, 'dusky-lynx'), await enter(room, 'jade-heron')]
  const over = new AbortController()
  const waits = waiters.map((actor) =>
    waitForClaim(room, actor, wants(room, 'src'), { timeoutMs: 60 * MINUTE, signal: over.signal }),
  )
  await clock.advanceAsync(0)
  const state = (): [number, number[]] =>
    room.store.read((rows) => [rows.head(), waiters.map(({ haid }) => rows.agent(haid)?.beat.count ?? 0)])
  const [head, before] = state()
  const seconds = 300
  await clock.advanceAsync(seconds * 1_000)
  const [headAfter, after] = state()
  expect(headAfter).toBe(head)
  for (const [i, count] of after.entries()) {
    expect(count).toBeGreaterThan(before[i] ?? 0)
    expect(count - (before[i] ?? 0)).toBeLessThanOrEqual((seconds * 1_000) / TICKET_BEAT_MS)
  }
  over.abort()
  await Promise.all(waits)
})
