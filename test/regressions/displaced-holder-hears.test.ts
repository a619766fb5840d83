// A plain renew after a takeover is refused with the claim, its successor and what to do (seed 002 §4.4).
import { expect, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { releaseClaims, renewClaims } from '../../src/coordination/claims/held.ts'
import { enter, MINUTE, openRoom, wants } from '../coordination/room.ts'
import { fakeClock } from '../support/fake-clock.ts'

test('whoever lost everything hears it each time; whoever lost a part hears it once', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  const cwd = room.project.root
  const renew = async (): Promise<unknown> =>
    (await renewClaims(room, amber, { cwd })).map(({ scopes }) => scopes.map(({ raw }) => raw))
  for (const scope of ['src', 'docs']) await claimScopes(room, amber, wants(room, scope))
  clock.advance(15 * MINUTE)
  const taken = await claimScopes(room, cobalt, wants(room, 'src/x.ts', { takeover: 'stale' }))
  expect(taken.granted).toBe(true)
  await expect(renew()).rejects.toThrow(
    expect.objectContaining({
      code: 'CLAIM_FENCED',
      message: expect.stringContaining('now held by cobalt-harbor'),
      hint: expect.stringContaining('ask cobalt-harbor for a handoff'),
      details: {
        lost: [
          expect.objectContaining({
            scopes: ['src'],
            state: 'expired',
            successor: expect.objectContaining({ agent_id: 'cobalt-harbor', scopes: ['src/x.ts'], state: 'active' }),
          }),
        ],
      },
    }),
  )
  expect(await renew()).toEqual([['docs']])
  clock.advance(15 * MINUTE)
  await claimScopes(room, cobalt, wants(room, 'docs', { takeover: 'stale' }))
  for (let time = 0; time < 3; time += 1)
    await expect(renew()).rejects.toThrow(expect.objectContaining({ code: 'CLAIM_FENCED' }))
  expect(room.store.read((rows) => rows.events({ types: ['REFUSED'], agent: 'amber-otter' }))).toHaveLength(4)
})

test('nothing to renew is an answer of its own, and what was claimed again is no loss', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [amber, cobalt] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  const cwd = room.project.root
  await expect(async () => renewClaims(room, amber, { cwd })).rejects.toThrow(
    expect.objectContaining({ code: 'RESERVATION_NOT_FOUND' }),
  )
  await claimScopes(room, amber, wants(room, 'src'))
  clock.advance(15 * MINUTE)
  await claimScopes(room, cobalt, wants(room, 'src', { takeover: 'stale' }))
  await releaseClaims(room, cobalt, { cwd })
  await claimScopes(room, amber, wants(room, 'src'))
  expect(await renewClaims(room, amber, { cwd })).toHaveLength(1)
})
