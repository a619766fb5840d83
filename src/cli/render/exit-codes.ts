// The table of exit codes, shown by `heimdall help exit-codes` and in docs/cli.md.
import { ERRORS, EXIT } from '../../errors.ts'
import { MANNERS } from '../manners.ts'

export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'done',
  failure: 'the command failed, or its input is invalid',
  usage: 'the command line or the configuration is wrong',
  notFound: 'no such session, run, agent, file …',
  permission: 'not allowed: wrong owner, wrong identity, or a path outside its folder',
  conflict: 'another agent or process holds it: a claim, an id, an epoch',
  timeout: 'the wait timed out',
  denied: 'denied by a policy',
  unavailable: 'a store or a session cannot be reached or read',
  notRunnable: 'the given program cannot be run, as in a shell',
  interrupted: 'stopped with Ctrl-C',
}

export function exitCodeRows(): [string, string][] {
  return (Object.keys(EXIT) as (keyof typeof EXIT)[]).map((name) => [String(EXIT[name]), EXIT_MEANINGS[name]])
}

/** Errors that end otherwise when the command was called by a name of a contract. */
export function contractExitRows(): [string, string][] {
  return Object.entries(ERRORS).flatMap(([code, entry]): [string, string][] =>
    'seedExit' in entry ? [[code, `${entry.seedExit} in place of ${entry.exit}: ${entry.means}`]] : [],
  )
}

/** What the launchers do with all other exit codes; launchers with the same rule share a row. */
export function launcherExitRows(): [string, string][] {
  const rows = new Map<string, string[]>()
  const add = (rule: string, name: string): void => void rows.set(rule, [...(rows.get(rule) ?? []), name])
  const codes = Object.values(EXIT).filter((code) => code !== EXIT.ok)
  for (const [name, { errorExit, exits }] of Object.entries(MANNERS)) {
    for (const [code, exit] of Object.entries(exits ?? {})) add(`${exit} for ${code}`, name)
    const changed = codes.filter((code) => errorExit !== undefined && errorExit(code) !== code)
    const [from, to] = [Math.min(...changed), Math.max(...changed)]
    if (changed.length > 0) add(`${errorExit?.(to)} in place of ${from} to ${to}`, name)
  }
  return [...rows].map(([rule, names]) => [rule, names.join(', ')])
}
