// What a shim does now and then: it says in the record how it is, and looks after runs that nobody has ended.
import type { Timer } from '../clock.ts'
import { ABANDONED_LOOK_MS, SHIM_HEALTH_MS } from '../limits.ts'
import { lookAfterRuns } from '../runs/prune.ts'
import { runsDirOf } from '../paths.ts'
import type { ShimOptions } from './shim.ts'

export function keepSignsOfLife(
  { clock, env, keepRuns }: ShimOptions,
  signOfLife: () => void,
  note: (line: string) => void,
): Timer {
  let hasLooked = false
  // A little after the start: the first call should not wait for it.
  let timer = clock.after(ABANDONED_LOOK_MS, beat, { background: true })
  function beat(): void {
    timer = clock.after(SHIM_HEALTH_MS, beat, { background: true })
    const problems = lookAfterRuns(runsDirOf(env), keepRuns, clock)
    if (!hasLooked) for (const problem of problems) note(problem)
    hasLooked = true
    signOfLife()
  }
  return { cancel: () => timer.cancel() }
}
