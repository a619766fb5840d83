// The store of a fleet's member: the conformance suite of every store, with its log in a real PostgreSQL.
import { join } from 'node:path'
import { describe, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { momentOf } from '../../src/coordination/moment.ts'
import { openSqliteStore } from '../../src/coordination/sqlite/open-store.ts'
import { createIdSource } from '../../src/id-source.ts'
import { conformsToStore } from '../coordination/store-conformance.ts'
import { temporaryFolder } from '../support/project.ts'
import { logOf, markAsMember, testEngine } from './engine.ts'

const engine = testEngine()

describe('a member’s store', () => {
  const replicas = new Map<string, { path: string; made: ReturnType<typeof engine.project> }>()
  conformsToStore((name) => {
    let replica = replicas.get(name)
    if (replica === undefined) {
      replica = { path: join(temporaryFolder(), 'coordination.db'), made: engine.project() }
      // A test that never changes anything ends before its project is made.
      replica.made.catch(() => undefined)
      markAsMember(replica.path, 'box')
      replicas.set(name, replica)
    }
    const { path, made } = replica
    const store = openSqliteStore(path, {
      clock: systemClock,
      newId: createIdSource(systemClock),
      member: {
        now: () => momentOf(systemClock, { boot: 'boot-1', host: 'box' }),
        openLog: async () => logOf(await made, 'box')(),
      },
    })
    onTestFinished(() => store.close())
    return store
  })
})
