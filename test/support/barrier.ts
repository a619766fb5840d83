// Many processes at one line, released together; for races that would otherwise be decided by who starts first.
import type { Program } from './programs.ts'

/** True when the program stands at the barrier, false when it died on the way. */
export async function hasArrived(program: Program): Promise<boolean> {
  return await program.nextLine('ready').then(
    () => true,
    (error: unknown) => {
      if (program.child.exitCode === null && program.child.signalCode === null) throw error
      return false
    },
  )
}

/** Waits until every program has printed `ready`, then sends each the same line. */
export async function releaseTogether(programs: readonly Program[], line = 'go'): Promise<void> {
  const arrivals = await Promise.all(programs.map(hasArrived))
  const missing = arrivals.filter((arrived) => !arrived).length
  if (missing > 0) throw new Error(`${missing} of ${programs.length} programs died before the barrier`)
  for (const program of programs) program.send(line)
}
