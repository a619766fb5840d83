// The agent as a child of the task's process: started, asked to end once, and waited for no longer than it takes.
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { Clock, Timer } from '../../clock.ts'
import { TASK_ASKED_MS, TASK_DRAIN_MS } from '../../limits.ts'
import type { Env } from '../../paths.ts'

type Why = 'budget' | 'deadline' | 'servers'

export type Exit = { readonly code: number } | { readonly fault: string }

export class AgentProcess {
  readonly child: ChildProcess
  readonly exit: Promise<Exit>
  readonly #clock: Clock
  #why: Why | undefined
  readonly #timers: Timer[] = []

  constructor(
    argv: readonly string[],
    how: { readonly env: Env; readonly stdio: StdioOptions; readonly from: string; readonly clock: Clock },
  ) {
    const [program = '', ...args] = argv
    this.#clock = how.clock
    this.child = spawn(programAt(program, how.from), args, { stdio: how.stdio, env: { ...how.env } })
    this.exit = this.#ended().finally(() => {
      for (const timer of this.#timers) timer.cancel()
    })
  }

  /** Why it was asked to end, if it was. */
  get why(): Why | undefined {
    return this.#why
  }

  /** Asked first; one that does not listen is killed. Whatever it has started goes with the session, which ends with us. */
  end(why: Why): void {
    if (this.#why !== undefined) return
    this.#why = why
    this.child.kill('SIGTERM')
    this.#timers.push(this.#clock.after(TASK_ASKED_MS, () => this.child.kill('SIGKILL')))
  }

  endAt(wallMs: number): void {
    this.#timers.push(this.#clock.after(Math.max(0, wallMs - this.#clock.wallMs()), () => this.end('deadline')))
  }

  #ended(): Promise<Exit> {
    return new Promise((done) => {
      const of = (code: number | null, signal: NodeJS.Signals | null): Exit => ({
        code: code ?? (signal === null ? 1 : 128 + constants.signals[signal]),
      })
      this.child.once('error', (error) => done({ fault: error.message }))
      this.child.once('close', (code, signal) => done(of(code, signal)))
      // What it left running may hold its output open for good.
      this.child.once('exit', (code, signal) =>
        this.#timers.push(this.#clock.after(TASK_DRAIN_MS, () => done(of(code, signal)))),
      )
    })
  }
}

/** In the worktree if it is there; a path that is meant from where the worker was started is taken from there. */
function programAt(program: string, from: string): string {
  const isPath = program.includes('/') && !isAbsolute(program)
  return isPath && !existsSync(program) ? resolve(from, program) : program
}
