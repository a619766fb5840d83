// Many processes at one line, released together; for races that would otherwise be decided by who starts first.
import type { Program } from './programs.ts'

/** Waits until every program has printed `ready`, then sends each the same line. */
export async function releaseTogether(programs: readonly Program[], line = 'go'): Promise<void> {
  await Promise.all(programs.map((program) => program.nextLine('ready')))
  for (const program of programs) program.send(line)
}
