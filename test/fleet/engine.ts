// A PostgreSQL for a test file, projects on it, and replicas as machines.
import { beforeAll, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { OpenLog } from '../../src/coordination/shared-log.ts'
import { MIGRATIONS } from '../../src/coordination/sqlite/schema.ts'
import { type EngineOptions, openEngineLog } from '../../src/fleet/engine-log.ts'
import { asOwner } from '../../src/fleet/owner.ts'
import { makeProject, memberUrl, newProjectId } from '../../src/fleet/project.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { type PostgresServer, sharedPostgres } from '../support/postgres.ts'

export interface TestEngine {
  readonly server: PostgresServer
  /** A new project, and the URL of its members. */
  project(): Promise<{ readonly project: string; readonly url: string }>
  /** With fsync, as at a user's, until the test ends. */
  sync(): Promise<void>
}

export function testEngine(): TestEngine {
  let server: PostgresServer | undefined
  let url: string | undefined
  beforeAll(async () => {
    server = await sharedPostgres()
    url = await server.database()
  })
  return {
    get server() {
      if (server === undefined) throw new Error('the engine is not running yet')
      return server
    },
    async project() {
      const ownerUrl = url ?? ''
      const made = await asOwner(ownerUrl, (ask) =>
        makeProject(ask, { project: newProjectId(), name: 'test', at: { seq: 0, id: '' } }),
      )
      return { project: made.project, url: memberUrl(ownerUrl, made) }
    },
    async sync() {
      onTestFinished(() => this.server.setFsync('off'))
      await this.server.setFsync('on')
    },
  }
}

/** The store in this file belongs to a fleet from here on. */
export function markAsMember(path: string, machine: string): void {
  const db = openDatabase(path, { migrations: MIGRATIONS })
  const mark = JSON.stringify({ project: 'test', member: machine, machine })
  db.prepare(`INSERT OR IGNORE INTO local_settings (key, value) VALUES ('fleet', ?)`).run(mark)
  db.close()
}

export function logOf(
  made: { project: string; url: string },
  member: string,
  { isPooled = false, ...more }: Partial<Omit<EngineOptions, 'url' | 'project' | 'member' | 'clock'>> = {},
): OpenLog {
  return async () =>
    openEngineLog({
      ...made,
      member,
      isPooled,
      clock: systemClock,
      ...more,
    })
}
