// A host that a test plays: a process that is called like one, and hooks, servers and commands as its children.
import { systemClock as clock } from '../../src/clock.ts'
import type { HookHost } from '../../src/hosts/hooks/hook-table.ts'
import { answerHook } from '../../src/spine/hooks/answer-hook.ts'
import { bareEnv, type Ending, fixture, launcher, startProgram } from './programs.ts'
import type { TemporaryProject } from './project.ts'

export interface PlayedHost {
  readonly pid: number
  /** Calls the hook of the host with this payload; it is answered in the test's own process, as a hub answers for a host. */
  hook(event: string, payload?: object, flags?: readonly '--strict'[]): Promise<Answered>
  /** The same by a process of its own, as hosts do. */
  spawnHook(event: string, payload?: object): Promise<Answered>
  /** Runs a launcher of `bin/` as the host's child. */
  run(bin: string, args: readonly string[], options?: RunOptions): Promise<Ran>
  /** Runs any program. */
  program(command: readonly [string, ...string[]], options?: RunOptions): Promise<Ran>
  /** Starts a server that speaks JSON-RPC in lines. */
  serve(name: string, command: readonly [string, ...string[]]): Server
  end(): Promise<Ending>
}

export interface RunOptions {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export type Ran = Pick<Ending, 'code' | 'stdout' | 'stderr'>

export interface Answered extends Ran {
  /** What the hook said, as JSON; nothing where it said nothing. */
  readonly said: unknown
}

export interface Server {
  request(method: string, params: object): Promise<{ readonly result?: unknown; readonly error?: { message: string } }>
  notify(method: string): void
}

export interface HostOptions {
  /** As it is called in the process table. */
  readonly program?: string
  readonly host?: HookHost
  readonly session?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

const answered = (ran: Ran): Answered => ({
  ...ran,
  said: ran.stdout === '' ? undefined : (JSON.parse(ran.stdout) as unknown),
})

/** Ends with the test. */
export function playHost(project: TemporaryProject, options: HostOptions = {}): PlayedHost {
  const { program: name = 'claude', host = 'claude', session = 'session-1', cwd = project.root } = options
  // As Claude Code marks what it starts.
  const own = { ...project.env, CLAUDECODE: '1', ...options.env }
  const program = startProgram(['bash', '-c', 'exec -a "$0" "$@"', name, ...fixture('played-host')], {
    cwd,
    env: own,
  })
  const env = { ...bareEnv(), ...own }
  const textOf = (event: string, payload: object): string =>
    JSON.stringify({ session_id: session, cwd, hook_event_name: event, ...payload })
  // Until then it has the name of a shell. One that ends before that fails whoever asks it next.
  let last: Promise<unknown> = program.waitForLine('up').catch(() => undefined)
  const ordered = <T>(act: () => Promise<T>): Promise<T> => {
    const next = last.then(act)
    last = next.catch(() => undefined)
    return next
  }
  const run = (command: readonly [string, ...string[]], more: RunOptions = {}): Promise<Ran> =>
    ordered(async () => {
      program.send(JSON.stringify({ command, ...more }))
      return JSON.parse(await program.nextLine(/^\{"code"/)) as Ran
    })
  return {
    pid: program.pid,
    program: run,
    run: (bin, args, more) => run([...launcher(bin), ...args], more),
    hook: (event, payload = {}, flags = []) =>
      ordered(async () => {
        const text = textOf(event, payload)
        const isStrict = flags.length > 0
        const { stdout, stderr, exit } = await answerHook({ host, isStrict, text, env, cwd, clock, pid: program.pid })
        return answered({ code: exit, stdout, stderr })
      }),
    spawnHook: async (event, payload = {}) =>
      answered(await run([...launcher('heimdall'), 'hook', host], { stdin: textOf(event, payload) })),
    serve(server, command) {
      program.send(JSON.stringify({ command, keep: server }))
      let id = 0
      const tell = (message: object): void =>
        program.send(JSON.stringify({ to: server, stdin: `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n` }))
      return {
        notify: (method) => tell({ method }),
        request: (method, params) =>
          ordered(async () => {
            id += 1
            tell({ id, method, params })
            for (;;) {
              const { line } = JSON.parse(await program.nextLine(new RegExp(`^\\{"from":"${server}"`))) as {
                line: string
              }
              const answer = JSON.parse(line) as { id?: number; result?: unknown; error?: { message: string } }
              if (answer.id === id) return answer
            }
          }),
      }
    },
    end() {
      program.child.stdin?.end()
      return program.ended
    },
  }
}
