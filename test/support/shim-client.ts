// A client of one shim in tests: sends raw lines, waits for answers by id, and reads the events that the shim wrote.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../src/clock.ts'
import { type ShimProgram, startInProcess } from './in-process-shim.ts'
import { fixture, launcher, type ProgramOptions, startProgram } from './programs.ts'
import { temporaryFolder } from './project.ts'
import { until } from './wait.ts'

export type Json = Record<string, any> // oxlint-disable-line typescript/no-explicit-any -- answers and events are read by many tests, each in its own shape

/** What carries the messages; the core is the same (seed 004 §7). */
export const ADAPTERS = ['mcp_stdio', 'mcp_http'] as const
export type AdapterName = (typeof ADAPTERS)[number]

export interface ShimSetup {
  readonly adapter?: AdapterName
  /** A bundle as an object; written to a file, and given with `--policy`. */
  readonly policy?: object
  readonly name?: string
  readonly server?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  /** HOME; the same for shims that share a run. */
  readonly home?: string
  /** Where it runs; a folder of its own unless told. */
  readonly cwd?: string
  /** `sub` writes events to stderr, `heimdall` into the run's record. */
  readonly bin?: 'sub' | 'heimdall'
  /** For a test that kills the shim, looks at its process or reads its pipes; the others share the test's process. */
  readonly ownProcess?: boolean
  /** Goes before the command line of a process of its own: a program that ends in `exec "$@"`. */
  readonly wrap?: readonly string[]
  /** The clock of a shim in the test's process. */
  readonly clock?: Clock
}

export interface ShimClient {
  readonly program: ShimProgram
  readonly home: string
  readonly policyPath: string
  /** What the server was sent, byte for byte. */
  readonly received: () => string
  send(message: object | string): void
  call(name: string, args?: object, id?: number | string): Promise<Json>
  answer(id: number | string | null): Promise<Json>
  /** Events on stderr so far; with `heimdall`, those of the only run. */
  events(): Json[]
  /** Closes stdin and waits for the end. */
  end(): Promise<{
    readonly code: number | null
    readonly events: Json[]
    readonly lines: Json[]
    readonly stderr: string
  }>
}

/** Homes with a shim in the test's process. A second one gets a process: locks do not keep two shims of one process apart. */
const homesInProcess = new Set<string>()

export function startShim(setup: ShimSetup = {}): ShimClient {
  const home = setup.home ?? temporaryFolder()
  const folder = temporaryFolder()
  const policyPath = join(folder, 'policy.json')
  const logPath = join(folder, 'received')
  if (setup.policy !== undefined) writeFileSync(policyPath, JSON.stringify(setup.policy))
  const bin = setup.bin ?? 'sub'
  const words = [
    `--server-name=${setup.name ?? 'fake'}`,
    ...(setup.policy === undefined ? [] : [`--policy=${policyPath}`]),
    ...(setup.flags ?? []),
  ]
  const server = setup.server ?? fixture('shim-upstream')
  // The test is the host of every shim and goes on: without a quiet time the last one to leave ends the run.
  const env = { HOME: home, FAKE_LOG: logPath, HEIMDALL_RUN_QUIET_SECONDS: '0', ...setup.env }
  const cwd = setup.cwd ?? folder
  const isHttp = setup.adapter === 'mcp_http'
  const isAlone = isHttp || !homesInProcess.has(home)
  const program =
    setup.ownProcess === true || setup.wrap !== undefined || !isAlone
      ? startInOwnProcess(
          [
            ...(setup.wrap ?? []),
            ...launcher(bin),
            ...(bin === 'heimdall' ? ['mcp'] : []),
            'shim',
            ...words,
            '--',
            ...server,
          ],
          { env, cwd },
        )
      : startInProcess({ bin, words, server, isHttp, env, cwd, clock: setup.clock })
  if (isAlone) {
    homesInProcess.add(home)
    const leave = (): void => void homesInProcess.delete(home)
    program.ended.then(leave, leave)
  }
  let nextId = 1_000
  // Each line is read once: whoever makes hundreds of calls asks for an answer thousands of times.
  const answers = new Map<unknown, Json>()
  let read = 0
  const take = (text: string): void => {
    for (const message of parseLines(text).flat())
      if (message['method'] === undefined && !answers.has(message['id'])) answers.set(message['id'], message)
  }
  let isOver = false
  const ended = (): void => void (isOver = true)
  program.ended.then(ended, ended)
  const find = (id: number | string | null): Json | undefined => {
    const text = program.stdout()
    // The last line counts without its end where nothing can come behind it.
    const end = isOver ? text.length : text.lastIndexOf('\n') + 1
    if (end > read) take(text.slice(read, end))
    read = Math.max(read, end)
    const found = answers.get(id)
    if (found === undefined && isOver) throw new Error(`the shim ended without an answer to ${id}: ${program.stderr()}`)
    return found
  }
  const client: ShimClient = {
    program,
    home,
    policyPath,
    received: () => (existsSync(logPath) ? readFileSync(logPath, 'utf8') : ''),
    send: (message) => void program.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    call(name, args = {}, id = (nextId += 1)) {
      client.send(toolCall(id, name, args))
      return client.answer(id)
    },
    answer: (id) =>
      until(`an answer to ${JSON.stringify(id)}`, () => find(id), {
        context: () => `stdout: ${program.stdout().slice(-2_000)}\nstderr: ${program.stderr().slice(-2_000)}`,
      }),
    events: () => (bin === 'sub' ? parseLines(program.stderr()) : eventsOfOnlyRun(home)),
    async end() {
      program.stdin.end()
      const { code, stderr, stdout } = await program.ended
      return {
        code,
        get events() {
          return client.events()
        },
        lines: parseLines(stdout),
        stderr,
      }
    },
  }
  return client
}

function startInOwnProcess([file = '', ...args]: readonly string[], options: ProgramOptions): ShimProgram {
  const program = startProgram([file, ...args], options)
  const { stdin, stdout, stderr } = program.child
  if (stdin === null || stdout === null || stderr === null) throw new Error('a shim without pipes')
  return { ...program, stdin, stdoutStream: stdout, stderrStream: stderr }
}

/** Starts shims of one adapter. */
export const shimOver =
  (adapter: AdapterName): typeof startShim =>
  (setup) =>
    startShim({ ...setup, adapter })

export function toolCall(id: number | string, name: string, args: object = {}): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }
}

/** The lines that are JSON; stderr holds other text too. */
export function parseLines(text: string): Json[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{') || line.startsWith('['))
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Json]
      } catch {
        return []
      }
    })
}

export const runsDir = (home: string): string => join(home, '.local/state/heimdall/runs')

export function runFolders(home: string): string[] {
  return existsSync(runsDir(home)) ? readdirSync(runsDir(home)).filter((name) => !name.startsWith('.')) : []
}

export function eventsOfRun(home: string, folder: string): Json[] {
  return parseLines(readFileSync(join(runsDir(home), folder, 'events.jsonl'), 'utf8'))
}

function eventsOfOnlyRun(home: string): Json[] {
  const [only, ...others] = runFolders(home)
  if (only === undefined || others.length > 0) throw new Error(`${others.length + 1} runs in ${home}, expected one`)
  return eventsOfRun(home, only)
}

export function ofType(events: readonly Json[], type: string): Json[] {
  return events.filter((event) => event['type'] === type)
}

// -- bundles

export function bundle(rules: readonly object[], more: object = {}): object {
  return {
    policy_id: 'test',
    version: '1.0.0',
    mode: 'guardrails',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules,
    ...more,
  }
}

export function rule(rule_id: string, kind: string, match: object, effect: object): object {
  return { rule_id, kind, enabled: true, match, effect, severity: 'warn' }
}

export const tool = (...glob: string[]): object => ({ tool_name: { glob } })

export function deny(rule_id: string, match: object, more: object = {}): object {
  return rule(rule_id, 'deny', match, {
    action: 'BLOCK',
    reason_code: 'DENYLIST_MATCH',
    message: `${rule_id} says no`,
    ...more,
  })
}

// -- what must hold of any complete record of one run

/** The events of each segment of a run: from its start to before the next. */
export function segmentsOf(events: readonly Json[]): Json[][] {
  const segments: Json[][] = []
  for (const event of events) {
    if (event['type'] === 'run_start' || segments.length === 0) segments.push([])
    segments.at(-1)?.push(event)
  }
  return segments
}

/** Seed 004 §1: one start, one end, numbers without gap, and a summary that says what the events say. `before` is the last number of the segment before. */
export function checkBooks(events: readonly Json[], before = 0): string[] {
  const problems: string[] = []
  const count = (what: string, n: number, wanted: number): void => {
    if (n !== wanted) problems.push(`${n} ${what}, expected ${wanted}`)
  }
  const starts = ofType(events, 'tool_call_start')
  const decisions = ofType(events, 'tool_call_decision')
  const ends = ofType(events, 'tool_call_end')
  count('run_start', ofType(events, 'run_start').length, 1)
  count('run_end', ofType(events, 'run_end').length, 1)
  if (events[0]?.['type'] !== 'run_start') problems.push('run_start is not the first event')
  if (events.at(-1)?.['type'] !== 'run_end') problems.push('run_end is not the last event')
  const numbers = starts.map((event) => event['call'].seq as number)
  if (numbers.some((seq, i) => seq !== before + i + 1)) problems.push(`call numbers ${numbers.join(' ')}`)
  count('decisions', decisions.length, starts.length)
  count('ends', ends.length, starts.length)
  count('distinct call ids', new Set(starts.map((event) => event['call'].call_id)).size, starts.length)
  count('distinct run ids', new Set(events.map((event) => event['run_id'])).size, 1)
  const isAllowed = (event: Json): boolean =>
    event['decision'].action === 'ALLOW' || event['decision'].enforced === false
  const throttled = decisions.filter((event) => !isAllowed(event) && event['decision'].action === 'THROTTLE').length
  const allowed = decisions.filter(isAllowed).length
  const summary = ofType(events, 'run_end')[0]?.['run'].summary ?? {}
  count('calls_total', summary.calls_total, starts.length)
  count('calls_allowed', summary.calls_allowed, allowed)
  count('calls_throttled', summary.calls_throttled, throttled)
  count('calls_blocked', summary.calls_blocked, decisions.length - allowed - throttled)
  count('errors_total', summary.errors_total, ends.filter((event) => event['status'] === 'ERROR').length)
  return problems
}
