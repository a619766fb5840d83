// The mark in a store that belongs to a fleet: its log is elsewhere, and nothing is committed here that was not accepted there.
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FLEET_COPY_OLD_MS } from '../limits.ts'
import { homeOf, type Project } from '../paths.ts'
import { readFileIfThere } from '../storage/atomic-file.ts'
import { type Moment, sinceMs } from './moment.ts'
import type { Reader, Store } from './store.ts'
import { machineOf, readHaid, rootHaid, rootOf, slug } from './who/haid.ts'

/** Local settings of a member. */
export const FLEET_SETTING = 'fleet'
/** When the engine was last reached, by this machine's clocks. */
export const HEARD_SETTING = 'fleet:heard'

/** The seat of whoever makes a fleet of this store: until that is done, the mark stands for no member. */
export const MAKING_SETTING = 'fleet:making'
/** Project and member of a create, until it is finished on the engine or gone from there. Not one of the fleet's own settings: it outlives the mark of a create that has failed. */
export const UNFINISHED_SETTING = 'unfinished-fleet'

/** Local: what this machine was called before, the latest first. Leaving a fleet does not undo it. */
export const FORMER_NAMES_SETTING = 'machine-names'

/** Agents that were made under such a name are this machine's own. */
export function formerNames(rows: Pick<Reader, 'localSetting'>): readonly string[] {
  const text = rows.localSetting(FORMER_NAMES_SETTING)
  return text === undefined ? [] : (JSON.parse(text) as string[])
}

/** The session that an agent of another machine was last seen to act in. */
export const sessionSetting = (haid: string): string => `${FLEET_SETTING}:session:${haid}`

export interface Membership {
  /** Given by the engine: random, never a path. */
  readonly project: string
  /** This copy, among all of the project. */
  readonly member: string
  /** What this machine is called in the fleet. */
  readonly machine: string
}

/** Nothing when the store is a machine's alone. */
export function membershipIn(store: Pick<Store, 'read'>): Membership | undefined {
  return store.read(membershipOf)
}

/** The same, for whoever reads already. */
export function membershipOf(rows: Pick<Reader, 'localSetting'>): Membership | undefined {
  const text = rows.localSetting(FLEET_SETTING)
  return text === undefined ? undefined : (JSON.parse(text) as Membership)
}

/** The other machine of the fleet that somebody is on; nothing for one of this machine, and where there is no fleet. */
export function otherMachine(
  { project }: { readonly project: Project },
  rows: Pick<Reader, 'localSetting'>,
  haid: string,
): string | undefined {
  const member = membershipOf(rows)
  const parts = readHaid(haid)
  if (member === undefined || parts === undefined || parts.machine === slug(member.machine)) return undefined
  const { human, machine } = parts
  if (!formerNames(rows).some((name) => machineOf(name) === machine)) return machine
  // Another may be called now what this one was: the hash in a HAID is of the folder too.
  const own = checkoutsOf(project).map((root) => rootHaid({ email: undefined, user: human, host: machine, root }))
  return own.includes(rootOf(haid)) ? undefined : machine
}

/** Agents of each worktree that is linked to the repository have a root of their own. Git is read, not run. */
function checkoutsOf(project: Project): string[] {
  const folder = join(project.gitCommonDir ?? '', 'worktrees')
  const names = project.gitCommonDir !== undefined && existsSync(folder) ? readdirSync(folder) : []
  const linked = names.flatMap(
    (name) =>
      readFileIfThere(join(folder, name, 'gitdir'))
        ?.toString('utf8')
        .trim() ?? [],
  )
  return [project.root, homeOf(project), ...linked.map((path) => dirname(path))]
}

/** Nothing before the first answer. */
export function heardIn(store: Pick<Store, 'read'>): Moment | undefined {
  return store.read(heardOf)
}

/** The same, for whoever reads already. */
export function heardOf(rows: Pick<Reader, 'localSetting'>): Moment | undefined {
  const text = rows.localSetting(HEARD_SETTING)
  return text === undefined ? undefined : (JSON.parse(text) as Moment)
}

/** What to say when a member's copy is older than what others may rely on: others may have claimed something since. Nothing while it is fresh, and where there is no fleet. */
export function oldCopyText(store: Pick<Store, 'read'>, now: Moment, boundMs = FLEET_COPY_OLD_MS): string | undefined {
  if (membershipIn(store) === undefined) return undefined
  const heard = heardIn(store)
  const ageMs = heard === undefined ? Number.POSITIVE_INFINITY : sinceMs(heard, now)
  if (ageMs < boundMs) return undefined
  const ago =
    heard === undefined
      ? 'has not heard of its fleet yet'
      : `last heard of its fleet ${ageMs < 120_000 ? `${Math.round(ageMs / 1_000)} s` : `${Math.round(ageMs / 60_000)} min`} ago`
  return `this machine ${ago}: what others have claimed since is not known here (heimdall fleet status)`
}
