// A host that a test plays: a process that is called like one, and hooks, servers and commands as its children.
import { type Ending, fixture, launcher, startProgram } from './programs.ts'
import type { TemporaryProject } from './project.ts'

export interface PlayedHost {
  readonly pid: number
  /** Calls the hook of the host with this payload. */
  hook(event: string, payload?: object, flags?: readonly string[]): Promise<Answered>
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
  readonly host?: string
  readonly session?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Ends with the test. */
export function playHost(project: TemporaryProject, options: HostOptions = {}): PlayedHost {
  const { program: name = 'claude', host = 'claude', session = 'session-1', cwd = project.root } = options
  const program = startProgram(['bash', '-c', 'exec -a "$0" "$@"', name, ...fixture('played-host')], {
    cwd,
    // As Claude Code marks what it starts.
    env: { ...project.env, CLAUDECODE: '1', ...options.env },
  })
  let last: Promise<unknown> = Promise.resolve()
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
    async hook(event, payload = {}, flags = []) {
      const stdin = JSON.stringify({ session_id: session, cwd, hook_event_name: event, ...payload })
      const ran = await run([...launcher('heimdall'), 'hook', host, ...flags], { stdin })
      return { ...ran, said: ran.stdout === '' ? undefined : (JSON.parse(ran.stdout) as unknown) }
    },
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
