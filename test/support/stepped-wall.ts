// The wall clock of programs under test, set by hand as a time server or a person does; their monotonic clock goes on.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixture } from './programs.ts'
import { replaceFile } from '../../src/storage/atomic-file.ts'
import { temporaryFolder } from './project.ts'

export interface SteppedWall {
  /** For the environment of every program that shares this clock. */
  readonly env: Readonly<Record<string, string>>
  /** Off the real time from now on, by this much. */
  step(offsetMs: number): void
}

export function steppedWall(): SteppedWall {
  const path = join(temporaryFolder(), 'offset')
  writeFileSync(path, '0')
  return {
    env: { NODE_OPTIONS: `--import=${fixture('stepped-wall')[1]}`, WALL_OFFSET: path },
    step: (offsetMs) => replaceFile(path, String(offsetMs)),
  }
}
