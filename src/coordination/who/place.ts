// Where a call comes from, by processes: the tree it belongs to, and the session that tree runs in. Variables of the caller say nothing here.
import { hostIn, hostOf, lineOf, waysUp } from '../../person.ts'
import { supervisedBy } from '../../supervisor-process.ts'
import type { ProcessTable } from '../../process-table.ts'
import { lookUnswayed } from '../../processes.ts'
import { type ProcessRef, processRef } from './process-ref.ts'
import { NAME_VARIABLES, SECRET_VARIABLE, SESSION_KEY_VARIABLE, SESSION_VARIABLE } from './variables.ts'

export interface Place {
  /** The process that the tree descends from. */
  readonly tree: ProcessRef
  /** The process that calls and all that it descends from. */
  readonly above: readonly ProcessRef[]
  /** The session that this process was started in, and the agent that was named when the session was started. */
  readonly session: { readonly id: string; readonly startedFor: string | undefined } | undefined
  /** The program in the tree in which a model decides what runs. */
  readonly host: string | undefined
}

/**
 * A tree is what descends from the leader of a terminal: a session's child, a shell in a window. Below a shell,
 * a host (Claude Code, Codex …) is a tree of its own, and several of them are several. Without any terminal
 * it is the leader of the caller's unix session: one script, one job.
 */
export function placeOf(pid = process.pid): Place | undefined {
  const table = lookUnswayed()
  const line = lineOf(table, pid)
  const terminal = terminalAbove(table, line)
  const host = hostIn(table, line.slice(0, terminal?.below))
  const supervised = supervisedSession(table, pid)
  const session = supervised?.session ?? sessionLeft(table, terminal?.leader)
  const leader = host ?? terminal?.leader ?? unixLeader(table, pid)
  const root = session === undefined ? leader : (supervised?.first ?? terminal?.leader)
  const tree = processRef(root ?? pid, table)
  if (tree === undefined) return undefined
  const above = line.flatMap((one) => processRef(one, table) ?? [])
  return { tree, above, session, host: host === undefined ? undefined : hostOf(table, host) }
}

/**
 * The tree by parents alone, which costs a few looks: nothing where they tell of neither a session nor a host. Whoever
 * finds nobody for it asks `placeOf`, which also knows those that have left their parents.
 */
export function treeByParents(pid = process.pid): ProcessRef | undefined {
  const table = lookUnswayed()
  const line = lineOf(table, pid)
  const first = line.find((_, index) => supervisedBy(table, line[index + 1] ?? 0) !== undefined)
  const root = first ?? hostIn(table, line.slice(0, terminalAbove(table, line)?.below))
  return root === undefined ? undefined : processRef(root, table)
}

/** True when processes show that whoever asks runs in a session. */
export const isInSession = (pid = process.pid): boolean => supervisorOf(lookUnswayed(), pid) !== undefined

interface Supervised {
  /** What the supervisor has started. */
  readonly first: number
  readonly session: NonNullable<Place['session']>
}

function supervisedSession(table: ProcessTable, pid: number): Supervised | undefined {
  const supervisor = supervisorOf(table, pid)
  const id = supervisor === undefined ? undefined : supervisedBy(table, supervisor)
  if (supervisor === undefined || id === undefined) return undefined
  const first = firstOf(table, supervisor)
  return first === undefined ? undefined : { first, session: { id, startedFor: startedFor(table, supervisor) } }
}

/**
 * The nearest supervisor on any way up: a terminal that is opened inside a session (`script`, a window) is a part of
 * it. Failing that, the one whose key a process on the way was started with: a `tmux` server leaves its parents, and
 * its panes are the session's all the same. The key is as secret as the session's environment.
 */
function supervisorOf(table: ProcessTable, pid: number): number | undefined {
  const line: number[] = []
  for (const one of waysUp(table, pid)) {
    if (supervisedBy(table, one) !== undefined) return one
    line.push(one)
  }
  for (const one of line) {
    const key = table.inEnvironment(one, SESSION_KEY_VARIABLE)
    if (key !== undefined) return supervisorByKey(table, key)
  }
  return undefined
}

function supervisorByKey(table: ProcessTable, key: string): number | undefined {
  return table
    .all()
    .map((one) => one.pid)
    .filter((one) => supervisedBy(table, one) !== undefined)
    .find((one) => {
      const first = firstOf(table, one)
      return first !== undefined && table.inEnvironment(first, SESSION_KEY_VARIABLE) === key
    })
}

const firstOf = (table: ProcessTable, supervisor: number): number | undefined =>
  table.childrenOf(supervisor).find((child) => isLeaderOfTerminal(table, child))

/**
 * What the supervisor itself was started with says it: the session's programs have no hand in that, while the first
 * of them may put another in its own place. A name that came with a secret is proved by whoever shows the secret.
 */
function startedFor(table: ProcessTable, supervisor: number): string | undefined {
  if ((table.inEnvironment(supervisor, SECRET_VARIABLE) ?? '') !== '') return undefined
  return NAME_VARIABLES.map((name) => table.inEnvironment(supervisor, name)).find((name) => (name ?? '') !== '')
}

/** Where the supervisor has ended, the leader of the terminal speaks for itself, and for no agent. */
function sessionLeft(table: ProcessTable, leader: number | undefined): Place['session'] {
  const key = leader === undefined ? undefined : table.inEnvironment(leader, SESSION_KEY_VARIABLE)
  if (leader === undefined || key === undefined) return undefined
  return { id: table.inEnvironment(leader, SESSION_VARIABLE) ?? key, startedFor: undefined }
}

function isLeaderOfTerminal(table: ProcessTable, pid: number): boolean {
  const stat = table.stat(pid)
  return stat !== undefined && stat.session === pid && stat.ttyNr !== 0
}

/** The nearest: what a host starts often has no terminal, and the host has. `below`: how much of the line is not above it. */
function terminalAbove(table: ProcessTable, line: readonly number[]): { leader: number; below: number } | undefined {
  for (const [index, pid] of line.entries()) {
    const stat = table.stat(pid)
    if (stat === undefined || stat.ttyNr === 0) continue
    const leader = table.stat(stat.session) === undefined ? pid : stat.session
    return { leader, below: (line.includes(leader) ? line.indexOf(leader) : index) + 1 }
  }
  return undefined
}

function unixLeader(table: ProcessTable, pid: number): number {
  const leader = table.stat(pid)?.session ?? 0
  return leader > 0 && table.stat(leader) !== undefined ? leader : pid
}
