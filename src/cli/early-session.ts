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
