// A machine of a fleet for tests, with its own folder, boot and clock, and what the owner of the engine can do behind its back.
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { AgentActor } from '../../src/coordination/change.ts'
import { type Coordination, openCoordination } from '../../src/coordination/coordination.ts'
import { MIGRATIONS } from '../../src/coordination/sqlite/schema.ts'
import { register } from '../../src/coordination/who/registration.ts'
import { connect } from '../../src/fleet/engine-connection.ts'
import { findProject } from '../../src/paths.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { sharedTables } from '../coordination/replay.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'
import { logOf, markAsMember } from './engine.ts'

export interface Made {
  readonly project: string
  readonly url: string
}

export interface Box {
  readonly room: Coordination
  /** As another process of the machine has it: the same copy, and a connection of its own. */
  another(port?: number): Coordination
  readonly path: string
  readonly clock: ReturnType<typeof fakeClock>
}

/** A machine of the fleet with its own folder, boot and clock. */
export function box(
  made: Made,
  name: string,
  options: { port?: number; answerMs?: number; aheadMs?: number; isPooled?: boolean; every?: number } = {},
): Box {
  const root = temporaryFolder()
  const clock = fakeClock()
  const env = { USER: name }
  const project = findProject(root, env)
  const path = join(project.coordinationDir, 'coordination.db')
  markAsMember(path, name)
  const { port: ownPort, aheadMs, every, ...asked } = options
  if (aheadMs !== undefined) clock.jumpWall(clock.wallMs() + aheadMs)
  const snapshots = every === undefined ? {} : { copy: path, every, pauseMs: 0 }
  const another = (port = ownPort): Coordination => {
    const url = new URL(made.url)
    if (port !== undefined) url.port = String(port)
    const room = openCoordination({
      project,
      env,
      clock,
      staleMinutes: 15,
      machine: { boot: `boot-${name}`, host: name },
      fleet: { openLog: logOf({ ...made, url: url.href }, name, { ...asked, ...snapshots }), isJoined: () => true },
    })
    onTestFinished(() => room.store.close())
    return room
  }
  return { room: another(), another, path, clock }
}

export async function enter(room: Coordination, name: string): Promise<AgentActor> {
  const { agent, secret } = await register(room, { name, role: 'agent' })
  return { kind: 'agent', haid: agent.haid, secret }
}

export function stateOf(path: string): unknown {
  const db = openDatabase(path, { migrations: MIGRATIONS, readOnly: true })
  try {
    return sharedTables(db)
  } finally {
    db.close()
  }
}

export const asOwner = async <T>(
  made: Made,
  act: (sql: Awaited<ReturnType<typeof connect>>) => Promise<T>,
): Promise<T> => {
  const url = new URL(made.url)
  url.username = 'owner'
  url.password = ''
  const sql = await connect({ url: url.href, isPooled: false })
  try {
    return await act(sql)
  } finally {
    await sql.end()
  }
}
