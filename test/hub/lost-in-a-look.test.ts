// A store that becomes unreadable in the middle of a look ends no feed: the look goes on without it, and the next one says what is missing.
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { RunsOfProject } from '../../src/hub/facts/run-project.ts'
import { type Picture } from '../../src/hub/live/picture.ts'
import { ProjectLive } from '../../src/hub/live/project-live.ts'
import { Screens } from '../../src/hub/terminals/screens.ts'
import { ProjectRoom } from '../../src/hub/project-room.ts'
import { findProject, runsDirOf } from '../../src/paths.ts'
import type { Fleet } from '../../src/spine/fleet/fleet.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { spine } from '../spine/spine.ts'
import { until } from '../support/wait.ts'

test('a newer store, between what a look reads first and what it reads last', async () => {
  const project = spine()
  await project.run('heimdall', ['agent', 'add', 'amber-otter', '--role', 'backend'])
  /** The moment comes when the first look has read all but what is read last. */
  class Overtaken extends ProjectRoom {
    override async look(): Promise<Fleet> {
      const fleet = await super.look()
      openDatabase(project.path('.git/heimdall/coordination.db'), {
        migrations: Array.from({ length: 99 }, () => ''),
      }).close()
      return fleet
    }
  }
  const { root, env } = project
  const fleet = {
    project: findProject(root, env),
    env,
    clock: systemClock,
    staleMinutes: 15,
    socketDir: project.path('sessions'),
    asksSessions: true,
    by: 'a test',
    note: () => undefined,
  } as const
  const runs = new RunsOfProject({ runsDir: runsDirOf(env), project: fleet.project, env, rootHaid: undefined })
  const room = new Overtaken({ fleet, note: () => undefined })
  const live = new ProjectLive(room, systemClock, new Screens(systemClock), runs)
  const seen: Picture[] = []
  const failed: unknown[] = []
  const stop = live.look({ onPicture: (one) => seen.push(one), onFailure: (error) => failed.push(error) })
  try {
    await until('a banner', () => seen.some(({ banners }) => banners.length > 0) || failed.length > 0)
  } finally {
    stop()
    live.close()
  }
  expect(failed).toEqual([])
  expect(seen[0]).toMatchObject({ agents: [{ agent_id: 'amber-otter' }], banners: [] })
  expect(seen.at(-1)).toMatchObject({ banners: [{ code: 'STORE_NEWER' }] })
})
