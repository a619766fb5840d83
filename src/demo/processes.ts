// Every process that the demo starts, and the end of each of them, whichever way the demo ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { type Clock, within } from '../clock.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import { DEMO_END_MS } from '../limits.ts'
import { mustSucceed, type CommandReply, replyOf, withJson } from './command-reply.ts'

export interface ProcessOptions {
  readonly launcher: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly clock: Clock
}

interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<void>
}

export interface Resident {
  /** Resolves with the first line that matches; refuses when the program ends without it. */
  readonly said: Promise<string>
  readonly ended: Promise<void>
}

export class Processes {
  readonly #options: ProcessOptions
  readonly #running = new Set<Running>()
  readonly #agents: number[] = []
  #isOpen = true

  constructor(options: ProcessOptions) {
    this.#options = options
  }

  /** Runs a command of `heimdall`, or of `hm` where that is the first word, to its end. */
  async ask(args: readonly string[]): Promise<CommandReply> {
    this.#checkOpen()
    return await this.#ask(args)
  }

  async #ask(args: readonly string[]): Promise<CommandReply> {
    let stdout = ''
    let stderr = ''
    const { child, ended } = this.#start(withJson(args), {})
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    await ended
    return replyOf(args, { code: child.exitCode ?? 1, stdout, stderr })
  }

  async must(args: readonly string[]): Promise<CommandReply['data']> {
    return mustSucceed(args, await this.ask(args))
  }

  /** One that stays until the demo ends it. */
  reside(args: readonly string[], line: RegExp, env: Readonly<Record<string, string>> = {}): Resident {
    this.#checkOpen()
    const { child, ended } = this.#start(args, env)
    let text = ''
    const said = new Promise<string>((resolve, reject) => {
      const hear = (more: string): void => {
        text += more
        const found = line.exec(text)
        if (found !== null) resolve(found[0])
      }
      child.stdout?.setEncoding('utf8').on('data', hear)
      child.stderr?.setEncoding('utf8').on('data', hear)
      void ended.then(() =>
        reject(new HeimdallError('INTERNAL', `heimdall ${args.slice(0, 2).join(' ')} ended: ${text.trim()}`)),
      )
    })
    // Whoever waits for the line hears of it; a program that ends later is nobody's failure.
    said.catch(() => undefined)
    return { said, ended }
  }

  /** The command of a session, which outlives the command that started it. */
  addAgent(pid: number): void {
    this.#agents.push(pid)
    if (!this.#isOpen) endGroup(pid)
  }

  /** Ends commands and agents now, without waiting: the caller may be killed next. */
  stop(): void {
    this.#isOpen = false
    for (const pid of this.#agents) endGroup(pid)
    for (const { child } of this.#running) child.kill('SIGTERM')
  }

  /** Ends everything, kills what does not end, and then the sessions whose start was cut off. */
  async end(): Promise<void> {
    this.#isOpen = false
    await this.#endAll()
    await this.#ask(['kill', '--all', '--yes', '--wait'])
    await this.#endAll()
  }

  async #endAll(): Promise<void> {
    const { clock } = this.#options
    const all = [...this.#running]
    for (const { child } of all) child.kill('SIGTERM')
    await within(clock, DEMO_END_MS, Promise.all(all.map(({ ended }) => ended)))
    for (const { child } of all) child.kill('SIGKILL')
    await Promise.all(all.map(({ ended }) => ended))
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw new HeimdallError('INTERRUPTED', 'the demo is ending')
  }

  #start(args: readonly string[], env: Readonly<Record<string, string>>): Running {
    const { launcher, cwd } = this.#options
    const [first, ...rest] = args
    const words = first === 'hm' ? [join(dirname(launcher), 'hm'), ...rest] : [launcher, ...args]
    const child = spawn(process.execPath, words, {
      cwd,
      env: { ...this.#options.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Out of reach of Ctrl-C and a closed terminal, which would kill the commands that end the agents. The hub stays: only a terminal gets a link.
      detached: args[0] !== 'up',
    })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    const running = { child, ended }
    this.#running.add(running)
    void ended.then(() => this.#running.delete(running))
    return running
  }
}

/** SIGTERM to the agent and everything that it has started in its session. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM')
  } catch (error) {
    // It has ended by itself.
    if (!isErrno(error, 'ESRCH')) throw error
  }
}
