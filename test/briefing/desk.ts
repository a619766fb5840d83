// A planning folder for tests that call the mechanisms themselves, with a clock and the notes they would print.
import { join } from 'node:path'
import { openPlanning, type Planning } from '../../src/briefing/planning.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'

export interface Desk {
  readonly root: string
  readonly planning: Planning
  readonly clock: FakeClock
  readonly notes: string[]
  readonly path: (file: string) => string
}

export function temporaryDesk(): Desk {
  const root = temporaryFolder()
  const clock = fakeClock(Date.UTC(2026, 5, 11, 12, 7, 27))
  const notes: string[] = []
  const planning = openPlanning({ root, planningDir: join(root, '.planning') }, clock, (line) => notes.push(line))
  return { root, planning, clock, notes, path: (file) => join(root, '.planning', file) }
}
