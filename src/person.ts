// Decides from processes whether a human is acting: at a terminal that was not started by a session or a host.
import { userInfo } from 'node:os'
import { basename } from 'node:path'
import { HeimdallError, isErrno } from './errors.ts'
import type { ProcessTable } from './process-table.ts'
import { lookUnswayed } from './processes.ts'
import { supervisedBy } from './supervisor-process.ts'

export interface Person {
  readonly person: true
  /** The unix user, for records. */
  readonly name: string
  /** Path of the human's terminal. */
  readonly terminal: string
}

export type Acting = Person | { readonly person: false; readonly reason: string }

interface Host {
  readonly name: string
  /** How its program is called when it runs by itself. */
  readonly program: string
  /** The package its script lies in when Node.js, Bun or Python runs it. */
  readonly inPackage?: string
  /** Variables that it gives to what it starts. */
  readonly marks?: readonly string[]
}

/**
 * Programs in which a model decides what to run. An editor with an agent inside is not one of them, because its
 * terminals belong to the human as well; there only the marks tell the two apart.
 */
const HOSTS: readonly Host[] = [
  {
    name: 'Claude Code',
    program: 'claude',
    inPackage: '@anthropic-ai/claude-code',
    marks: ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT'],
  },
  {
    name: 'Codex',
    program: 'codex',
    inPackage: '@openai/codex',
    marks: ['CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED', 'CODEX_THREAD_ID'],
  },
  { name: 'Gemini CLI', program: 'gemini', inPackage: '@google/gemini-cli', marks: ['GEMINI_CLI'] },
  { name: 'Qwen Code', program: 'qwen', inPackage: '@qwen-code/qwen-code', marks: ['QWEN_CODE'] },
  { name: 'opencode', program: 'opencode', inPackage: 'opencode-ai', marks: ['OPENCODE'] },
  { name: 'Copilot', program: 'copilot', inPackage: '@github/copilot' },
  { name: 'Cursor’s agent', program: 'cursor-agent', marks: ['CURSOR_AGENT'] },
  { name: 'Aider', program: 'aider' },
  { name: 'Amp', program: 'amp', inPackage: '@sourcegraph/amp' },
  { name: 'Goose', program: 'goose', marks: ['GOOSE_TERMINAL'] },
  { name: 'Crush', program: 'crush', inPackage: '@charmland/crush' },
]

/** What hosts give to what they start. */
export const HOST_MARKS: readonly string[] = HOSTS.flatMap(({ marks }) => marks ?? [])

/** What our sessions, the agents in them, and what hosts start have in their environment. */
const MARKS: readonly string[] = [
  'HEIMDALL_SUPERVISOR',
  'HEIMDALL_SESSION_KEY',
  'HEIMDALL_SESSION_ID',
  'HEIMDALL_SECRET',
  'HEIMDALL_AGENT_ID',
  'HEIMDALL_HAID',
  'BB_AGENT',
  ...HOST_MARKS,
]

/** Flags of interpreters whose value is the next word. */
const VALUE_FLAGS = /^(-r|--require|--import|--loader|--experimental-loader|-C|--conditions|-W|-X)$/

const INTERPRETER = /^(node|nodejs|bun|deno|npx|python[\d.]*|pypy[\d.]*|ruby|uv|uvx)$/

/**
 * A session or a host on any way up is the one who acts. Variables never prove a person; those that a process was
 * started with may speak against one.
 */
export function whoActs(pid = process.pid): Acting {
  const table = lookUnswayed()
  const terminal = table.terminalOf(pid)
  if (terminal === undefined) return { person: false, reason: 'there is no terminal' }
  const line = withThoseAttached(table, [...new Set(waysUp(table, pid))])
  const reason =
    firstOf(line, (one) => whoRunsIt(table, one)) ??
    firstOf(line, (one) => markOf(table, one)) ??
    firstOf(line, (one) => whyNobodys(table, one))
  return reason === undefined ? { person: true, name: userName(), terminal } : { person: false, reason }
}

/** The agent that a process acts for: the nearest session or host on a way up, or one whose variables it was started with. */
export interface AgentAbove {
  /** The supervisor of the session that it is in; nothing for a host that no session runs, or one that is only known by a variable. */
  readonly supervisorPid: number | undefined
  readonly reason: string
}

/** Undefined for a human, and for a program that no agent has started. */
export function agentAbove(pid = process.pid): AgentAbove | undefined {
  const table = lookUnswayed()
  const line = [...new Set(waysUp(table, pid))]
  const reason = firstOf(line, (one) => whoRunsIt(table, one)) ?? firstOf(line, (one) => markOf(table, one))
  if (reason === undefined) return undefined
  return { supervisorPid: line.find((one) => supervisedBy(table, one) !== undefined), reason }
}

/** Refuses a caller that was started by a session or a host; scripts may. */
export function refuseAgent(what: string): void {
  const agent = agentAbove()
  if (agent === undefined) return
  throw new HeimdallError('PERSON_REQUIRED', `${what} needs a human: ${agent.reason}`, {
    hint: 'run it in your own terminal, outside of sessions and agents',
  })
}

/** The human who acts; otherwise a refusal with the reason. */
export function requirePerson(what: string): Person {
  const acting = whoActs()
  if (acting.person) return acting
  throw new HeimdallError('PERSON_REQUIRED', `${what} needs a human at a terminal: ${acting.reason}`, {
    hint: 'run it in your own terminal, outside of sessions and agents',
  })
}

/**
 * Three ways lead up from a process: the parents, the leader of the terminal's session (a process whose parents have
 * ended keeps its terminal), and whoever holds the far end of the terminal, which takes a look at everybody and so
 * comes last.
 */
export function* waysUp(table: ProcessTable, pid: number): Generator<number> {
  yield* lineOf(table, pid)
  yield* lineOf(table, table.stat(pid)?.session ?? 0)
  const terminal = table.terminalOf(pid)
  for (const holder of terminal === undefined ? [] : table.holdersOf(terminal)) yield* lineOf(table, holder)
}

/** Programs that hold terminals for whoever comes, and leave their parents as they start: what is above them says nothing. */
const MULTIPLEXERS: readonly string[] = ['tmux', 'screen', 'SCREEN', 'dtach', 'abduco', 'zellij']

const isMultiplexer = (table: ProcessTable, pid: number): boolean =>
  MULTIPLEXERS.includes(basename(table.commandWords(pid)[0] ?? ''))

/**
 * Whoever is attached to a multiplexer on the way types there, so the ways up from their terminals count as well.
 * Only for persons: that somebody else looks on does not make a pane theirs.
 */
function withThoseAttached(table: ProcessTable, line: readonly number[]): number[] {
  const all = new Set(line)
  for (const one of all) {
    if (!isMultiplexer(table, one)) continue
    for (const terminal of table.terminalsOpenIn(one) ?? []) {
      const there = table.all().filter(({ pid }) => table.terminalOf(pid) === terminal)
      // What is added here is met later in this loop: a multiplexer may show another.
      for (const viewer of [...there.map(({ pid }) => pid), ...table.holdersOf(terminal)])
        for (const above of lineOf(table, viewer)) all.add(above)
    }
  }
  return [...all]
}

/** A multiplexer without an attached client does not prove a human. */
function whyNobodys(table: ProcessTable, pid: number): string | undefined {
  if (!isMultiplexer(table, pid) || table.stat(pid)?.ttyNr !== 0 || table.terminalsOpenIn(pid)?.length !== 0)
    return undefined
  return `${basename(table.commandWords(pid)[0] ?? '')} (pid ${pid}) has no attached client`
}

/** The process and all that are above it. */
export function lineOf(table: ProcessTable, pid: number): number[] {
  const line: number[] = []
  // A parent that has ended may have left its number to a child of ours.
  for (let one = pid; one > 0 && !line.includes(one);) {
    const stat = table.stat(one)
    if (stat === undefined) break
    line.push(one)
    one = stat.ppid
  }
  return line
}

function firstOf(pids: readonly number[], say: (pid: number) => string | undefined): string | undefined {
  for (const pid of pids) {
    const said = say(pid)
    if (said !== undefined) return said
  }
  return undefined
}

function whoRunsIt(table: ProcessTable, pid: number): string | undefined {
  const session = supervisedBy(table, pid)
  if (session !== undefined) return `run by session ${session} (pid ${pid})`
  const host = hostOf(table, pid)
  return host === undefined ? undefined : `run by ${host} (pid ${pid})`
}

/** The name of the host that this process is, if it is one. */
export function hostOf(table: ProcessTable, pid: number): string | undefined {
  const words = table.commandWords(pid)
  return HOSTS.find((one) => isHost(one, words))?.name
}

/** The name of the host whose variables the process was started with. */
export function hostMarkedIn(table: ProcessTable, pid: number): string | undefined {
  return HOSTS.find(({ marks = [] }) => marks.some((mark) => table.hasInEnvironment(pid, `${mark}=`)))?.name
}

/**
 * The nearest host. Some start themselves anew (a launcher of Node.js, a larger heap), so the first of several in a row
 * is meant: all that one session of the host starts descends from it.
 */
export function hostIn(table: ProcessTable, line: readonly number[]): number | undefined {
  const nearest = line.findIndex((one) => hostOf(table, one) !== undefined)
  if (nearest === -1) return undefined
  const name = hostOf(table, line[nearest] ?? 0)
  const above = line.slice(nearest).findIndex((one) => hostOf(table, one) !== name)
  return line[above === -1 ? line.length - 1 : nearest + above - 1]
}

function markOf(table: ProcessTable, pid: number): string | undefined {
  const mark = MARKS.find((name) => table.hasInEnvironment(pid, `${name}=`))
  if (mark === undefined) return undefined
  const name = basename(table.commandWords(pid)[0] ?? 'a program')
  return `${name} (pid ${pid}) was started with ${mark}, which agents have`
}

function isHost({ program, inPackage }: Host, words: readonly string[]): boolean {
  const [first = '', ...rest] = words
  if (basename(first) === program) return true
  if (!INTERPRETER.test(basename(first))) return false
  // What follows the script is its own: `node bin/heimdall run -- node …/codex.js` is not Codex.
  const script = rest.find((word, at) => !word.startsWith('-') && !VALUE_FLAGS.test(rest[at - 1] ?? ''))
  if (script === undefined) return false
  return basename(script) === program || (inPackage !== undefined && script.includes(`node_modules/${inPackage}/`))
}

/** The unix user, for records. */
export function userName(): string {
  try {
    return userInfo().username
  } catch (error) {
    // A container may run as a number that no name belongs to.
    if (!isErrno(error, 'ERR_SYSTEM_ERROR')) throw error
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
