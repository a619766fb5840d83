// Who asks something of a session, as processes show it: an agent by its session or its host, and else the user.
// By parents and environments alone, which costs a few looks: it is asked in the loop that reads a terminal.
import { basename } from 'node:path'
import { HeimdallError } from './errors.ts'
import { hostIn, hostMarkedIn, hostOf, lineOf, userName } from './person.ts'
import type { ProcessTable } from './process-table.ts'
import { KEY_VARIABLE, SESSION_VARIABLE } from './session-variables.ts'
import type { Env } from './paths.ts'
import { supervisedBy } from './supervisor-process.ts'
import { livingWatcher, watcherFolder } from './watcher-process.ts'

export interface SessionCaller {
  /** The agent's, or what it is known by; the user's where no agent is seen. */
  readonly name: string
  /** The same with where it was seen: `amber-otter (session api, process 4711)`. */
  readonly words: string
  /** The supervisor that the process descends from. */
  readonly supervisorPid: number | undefined
  /** The key of the session that it was started in, where it does not descend from a supervisor. */
  readonly key: string | undefined
  /** An agent of ours or a host acts, not the user. */
  readonly isAgent: boolean
  /** The same for all that one session, or one host without a session, has started; undefined for the user. */
  readonly actor: string | undefined
}

const NO_AGENT = { supervisorPid: undefined, key: undefined, isAgent: false, actor: undefined } as const

/** What an agent is called in the environment of its session. */
const AGENT_VARIABLES = ['HEIMDALL_AGENT_ID', 'HEIMDALL_HAID', 'BB_AGENT']

/** `env` says where the state folder is. */
export function sessionCaller(pid: number, table: ProcessTable, env: Env): SessionCaller {
  const line = lineOf(table, pid)
  // Its parent is the supervisor of the run that has started it, if that still runs.
  const watcher = watcherPid(env)
  if (watcher !== undefined && line.includes(watcher))
    return { ...NO_AGENT, name: 'the watcher', words: `the watcher (process ${pid})` }
  const at = line.findIndex((one) => supervisedBy(table, one) !== undefined)
  const supervisorPid = line[at]
  if (supervisorPid !== undefined)
    return below(table, { pid, supervisorPid, first: line[at - 1], isHosted: hostIn(table, line) !== undefined })
  const marked = line.find((one) => table.hasInEnvironment(one, `${KEY_VARIABLE}=`))
  if (marked !== undefined) {
    const name = agentIn(table, marked) ?? table.inEnvironment(marked, SESSION_VARIABLE) ?? 'an agent'
    const words = `${name}, as its environment says (process ${pid})`
    const key = table.inEnvironment(marked, KEY_VARIABLE)
    return { name, words, supervisorPid: undefined, key, isAgent: true, actor: key }
  }
  const user = userName()
  const host = line.map((one) => hostOf(table, one) ?? hostMarkedIn(table, one)).find((name) => name !== undefined)
  const name = host === undefined ? user : `${host} of ${user}`
  const hostPid = hostIn(table, line)
  const actor = hostPid === undefined ? undefined : `host ${hostPid}`
  return { ...NO_AGENT, name, words: `${name} (process ${pid})`, isAgent: host !== undefined, actor }
}

/** Undefined also where there is no usable state folder, such as without HOME: then no watcher runs. */
function watcherPid(env: Env): number | undefined {
  try {
    return livingWatcher(watcherFolder(env))?.process.pid
  } catch (error) {
    if (error instanceof HeimdallError) return undefined
    throw error
  }
}

interface InSession {
  readonly pid: number
  readonly supervisorPid: number
  /** What the supervisor has started: the program of the session. */
  readonly first: number | undefined
  readonly isHosted: boolean
}

function below(table: ProcessTable, { pid, supervisorPid, first, isHosted }: InSession): SessionCaller {
  const session = supervisedBy(table, supervisorPid) ?? ''
  // As it was given to the session's first program: what a program below says of itself counts for nothing.
  const agent = agentIn(table, first ?? supervisorPid) ?? agentIn(table, supervisorPid)
  const place = agent === undefined ? `process ${pid}` : `session ${session}, process ${pid}`
  const name = agent ?? `session ${session}`
  const actor = table.inEnvironment(first ?? pid, KEY_VARIABLE) ?? `supervisor ${supervisorPid}`
  const isAgent = agent !== undefined || isHosted
  return { name, words: `${name} (${place})`, supervisorPid, key: undefined, isAgent, actor }
}

function agentIn(table: ProcessTable, pid: number): string | undefined {
  const said = AGENT_VARIABLES.map((variable) => table.inEnvironment(pid, variable)).find((name) => (name ?? '') !== '')
  // `haid:ana.box-1f2e/amber-otter`
  return said === undefined ? undefined : basename(said)
}
