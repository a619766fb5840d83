// Where a call comes from, by processes: the tree it belongs to, and the session that tree runs in. Variables of the caller say nothing here.
import { hostOf, lineOf, supervisedBy, waysUp } from '../person.ts'
import type { ProcessTable } from '../process-table.ts'
import { lookAtProcesses } from '../processes.ts'
import { type ProcessRef, processRef } from './process-ref.ts'

/** What a session tells its child, and a caller may say of itself: who it is. The first that is set counts. */
export const NAME_VARIABLES = ['HEIMDALL_HAID', 'HEIMDALL_AGENT_ID', 'BB_AGENT'] as const
export const SESSION_VARIABLE = 'HEIMDALL_SESSION_ID'
/** In the environment of everything that runs in a session, whatever its id is called there. */
const SESSION_KEY_VARIABLE = 'HEIMDALL_SESSION_KEY'
/** Of the issue tracker that seed 002 comes from; a name where nothing else gives one. */
export const TRACKER_VARIABLE = 'BD_ACTOR'

/** Where one of these is set, an agent may be at work; for hooks that ask a shell first. */
export const AGENT_VARIABLES = [...NAME_VARIABLES, TRACKER_VARIABLE, SESSION_VARIABLE, SESSION_KEY_VARIABLE] as const

export interface Place {
  /** The process that the tree descends from. */
  readonly tree: ProcessRef
  /** The session that this process was started in. */
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
  const table = lookAtProcesses()
  const line = lineOf(table, pid)
  const terminal = terminalAbove(table, line)
  const host = line.slice(0, terminal?.below).find((one) => hostOf(table, one) !== undefined)
  const supervised = firstOfSession(table, pid)
  const first = supervised?.pid ?? terminal?.leader
  const session = first === undefined ? undefined : sessionOf(table, first, supervised?.id)
  const root = session === undefined ? (host ?? terminal?.leader ?? unixLeader(table, pid)) : first
  const tree = processRef(root ?? pid, table)
  if (tree === undefined) return undefined
  return { tree, session, host: host === undefined ? undefined : hostOf(table, host) }
}

/**
 * What the nearest supervisor on any way up has started. A terminal that is opened inside a session (`script`, a
 * window) is a part of it; where the supervisor has ended, the leader of the terminal has to speak for itself.
 */
function firstOfSession(table: ProcessTable, pid: number): { pid: number; id: string } | undefined {
  for (const one of waysUp(table, pid)) {
    const id = supervisedBy(table, one)
    if (id === undefined) continue
    const first = table.childrenOf(one).find((child) => isLeaderOfTerminal(table, child))
    return first === undefined ? undefined : { pid: first, id }
  }
  return undefined
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

/** `id`: as its supervisor says it. Without one, what the process was started with tells. */
function sessionOf(table: ProcessTable, first: number, id: string | undefined): Place['session'] {
  const key = table.inEnvironment(first, SESSION_KEY_VARIABLE)
  const said = id ?? (key === undefined ? undefined : (table.inEnvironment(first, SESSION_VARIABLE) ?? key))
  if (said === undefined) return undefined
  const startedFor = NAME_VARIABLES.map((name) => table.inEnvironment(first, name)).find((name) => (name ?? '') !== '')
  return { id: said, startedFor }
}
