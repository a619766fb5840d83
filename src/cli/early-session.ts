// A session's process launched before its command line is understood: it boots while flags and settings are read.
import { type LaunchedSession, launchSession, type LaunchWith } from '../sessions/launch.ts'

const early = new Map<string, LaunchedSession>()

/** If the command line turns out to be wrong, the process ends with this one, and nothing of it was ever seen. */
export function launchEarly(id: string, how: LaunchWith): void {
  early.set(id, launchSession(id, how))
}

export function takeEarly(id: string): LaunchedSession | undefined {
  const launched = early.get(id)
  early.delete(id)
  return launched
}

/** Of `heimdall run`: the id that its session most likely gets, and the name that was made up for its agent. */
export interface EarlyNames {
  readonly id: string
  readonly agent: string | undefined
}

let names: EarlyNames | undefined

export function launchRunEarly(guess: EarlyNames, how: LaunchWith): void {
  names = guess
  launchEarly(guess.id, how)
}

export function takeEarlyRun(): (EarlyNames & { readonly launched: LaunchedSession }) | undefined {
  const launched = names === undefined ? undefined : takeEarly(names.id)
  return names === undefined || launched === undefined ? undefined : { ...names, launched }
}
