// Real processes against one store: exactly one winner, whatever the timing, and nothing acknowledged is lost.
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { claimScopes, listClaims } from '../../src/coordination/claims/claims.ts'
import { storePath } from '../../src/coordination/store-path.ts'
import { MIGRATIONS } from '../../src/coordination/sqlite/schema.ts'
import { readMachine } from '../../src/coordination/moment.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import type { Deed } from '../fixtures/claim-worker.ts'
import { killLoop } from '../support/kill-loop.ts'
import { fixture, type Program, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { withSeed } from '../support/seed.ts'
import { enter, openRoom, wants } from './room.ts'
import { silence } from './silence.ts'

const worker = (root: string, name: string): Program => startProgram([...fixture('claim-worker'), 'obey', root, name])

/** Gives every worker its deed at the same moment and returns the results in the same order. */
async function race(workers: readonly Program[], deeds: readonly Deed[]): Promise<string[]> {
  await Promise.all(workers.map((program) => program.nextLine('ready')))
  workers.forEach((program, i) => program.send(JSON.stringify(deeds[i])))
  return await Promise.all(workers.map(async (program) => (await program.nextLine(/^result /)).slice('result '.length)))
}

test(`16 processes claim overlapping scopes in ${scaled(6, 500)} rounds: exactly one wins each`, async () => {
  const root = temporaryFolder()
  const workers = Array.from({ length: 16 }, (_, i) => worker(root, `worker-${i}`))
  for (let round = 0; round < scaled(6, 500); round += 1) {
    // Every pair of these overlaps, most of them only partially.
    const scopes = [`r${round}`, `r${round}/**`, `r${round}/lib/x.ts`, `r${round}/**/x.ts`, `r${round}/{lib,x}/?.ts`]
    const results = await race(
      workers,
      workers.map((_, i) => ({ do: 'claim', scope: scopes[(i + round) % scopes.length] ?? '' })),
    )
    expect(
      results.filter((result) => result === 'granted'),
      `round ${round}`,
    ).toHaveLength(1)
    expect(results.filter((result) => result === 'denied')).toHaveLength(15)
  }
  const room = openRoom({ root, clock: systemClock })
  expect(listClaims(room)).toHaveLength(scaled(6, 500))
})

test(`${scaled(20, 2_000)} takeover races of 4 processes: one successor each, the others see it`, async () => {
  const root = temporaryFolder()
  const workers = Array.from({ length: 4 }, (_, i) => worker(root, `worker-${i}`))
  const room = openRoom({ root, clock: systemClock, boot: readMachine().boot })
  const ghost = await enter(room, 'ghost-owner')
  const races = scaled(20, 2_000)
  for (let n = 0; n < races; n += 1) await claimScopes(room, ghost, wants(room, `t/${n}.ts`))
  await silence(room, ghost.haid)
  for (let n = 0; n < races; n += 1) {
    const results = await race(
      workers,
      workers.map((_, i) => ({ do: 'takeover', scope: i % 2 === 0 ? `t/${n}.ts` : `t/{${n},${n}x}.ts` })),
    )
    expect(results.toSorted(), `race ${n}`).toEqual(['denied', 'denied', 'denied', 'granted'])
  }
  const { taken, expired, epochs } = room.store.read((rows) => {
    const prior = rows.claims({ holder: ghost.haid })
    return {
      taken: rows.events({ types: ['TAKEOVER'] }).length,
      expired: prior.filter(({ state, displacedBy }) => state === 'expired' && displacedBy !== null).length,
      epochs: prior.every((claim) => (rows.claim(claim.displacedBy ?? '')?.epoch ?? 0) > claim.epoch),
    }
  })
  expect({ taken, expired, epochs }).toEqual({ taken: races, expired: races, epochs: true })
})

test(`kill -9 in mid-claim, ${scaled(8, 250)} times: the store opens, what was acknowledged is there, state and events agree`, async () => {
  const root = temporaryFolder()
  const room = openRoom({ root, clock: systemClock })
  await withSeed(async (random) => {
    const total = await killLoop({
      cycles: scaled(8, 250),
      random,
      lifeMsMax: 60,
      start: (cycle) => startProgram([...fixture('claim-worker'), 'endless', root, `victim-${cycle}`]),
      check(acknowledged, cycle) {
        const claims = room.store.read((rows) =>
          rows.claims({ holder: rows.agentById(`victim-${cycle}`)?.haid ?? '' }).map((claim) => ({
            scope: claim.scopes[0]?.raw,
            state: claim.state,
            events: rows.events({ claimId: claim.claimId }).map(({ type }) => type),
          })),
        )
        for (const { scope, state, events } of claims)
          expect(events, scope).toEqual(state === 'active' ? ['CLAIM'] : ['CLAIM', 'RELEASE'])
        for (const promise of acknowledged) {
          const [verb, scope] = promise.split(' ')
          const found = claims.find((claim) => claim.scope === scope)
          expect(found, promise).toBeDefined()
          if (verb === 'released') expect(found?.state, promise).toBe('released')
        }
      },
    })
    expect(total).toBeGreaterThan(scaled(8, 250))
  })
  const db = openDatabase(storePath(room.project), { migrations: MIGRATIONS })
  expect(db.problems()).toEqual([])
  db.close()
})
