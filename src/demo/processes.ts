// Every process that the demo starts, and the end of each of them, whichever way the demo ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { type Clock, within } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
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
  #isEnding = false

  constructor(options: ProcessOptions) {
    this.#options = options
  }

  /** A command of ours to its end. */
  async ask(args: readonly string[]): Promise<CommandReply> {
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

  /** Asks all of them to end, kills what does not, and with them every session of the stage. */
  async end(): Promise<void> {
    await this.#endAll()
    const { sessions } = (await this.must(['session', 'ls'])) as unknown as {
      readonly sessions: readonly { readonly id: string; readonly project: string | null }[]
    }
    const ours = sessions.filter(({ project }) => project === this.#options.cwd)
    await Promise.all(ours.map(({ id }) => this.ask(['session', 'kill', id, '--wait'])))
    this.#isEnding = true
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

  #start(args: readonly string[], env: Readonly<Record<string, string>>): Running {
    if (this.#isEnding) throw new HeimdallError('INTERRUPTED', 'the demo is ending')
    const { launcher, cwd } = this.#options
    const child = spawn(process.execPath, [launcher, ...args], {
      cwd,
      env: { ...this.#options.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    const running = { child, ended }
    this.#running.add(running)
    void ended.then(() => this.#running.delete(running))
    return running
  }
}
