// A session of another machine, reached through `ssh box hm pipe ID`: found, spoken to, and returned to when the line breaks.
import type { Duplex } from 'node:stream'
import type { Way } from '../../client/endpoint.ts'
import type { Clock } from '../../clock.ts'
import { ERRORS, type ErrorCode, HeimdallError } from '../../errors.ts'
import { parseId } from '../../ids.ts'
import type { Env } from '../../paths.ts'
import type { ExitRecord } from '../../wire/exit-record.ts'
import { type KeptOutput, parseKept } from '../../wire/kept-output.ts'
import type { PipeGreeting } from '../../wire/pipe-greeting.ts'
import { callPipe, type Piped } from './pipe-call.ts'
import { type FoundSession, ReturningLine } from './returning-line.ts'

export interface SshMachine {
  /** As ssh knows it. */
  readonly host: string
  readonly env: Env
  readonly clock: Clock
  /** No terminal is free to ask for a password in. */
  readonly isUnattended?: true
}

type Met = Extract<PipeGreeting, { id: string }>

export class RemoteSession implements Way {
  readonly name: string
  readonly id: string
  readonly host: string
  /** Told when the line breaks and when it is back. */
  tell: (words: string) => void = () => undefined
  readonly #machine: SshMachine
  /** The line that it was found over; the first connection has it. */
  #first: Duplex | undefined
  #last: Duplex | undefined
  readonly exit: ExitRecord | undefined
  readonly kept: KeptOutput | undefined
  readonly isRunning: boolean

  private constructor(machine: SshMachine, met: Met, line: Duplex, kept: KeptOutput | undefined) {
    this.#machine = machine
    this.id = met.id
    this.host = machine.host
    this.name = `${met.id} on ${machine.host}`
    this.isRunning = met.state === 'running'
    this.#first = this.isRunning ? line : undefined
    this.exit = met.state === 'ended' ? (met.exit ?? undefined) : undefined
    this.kept = kept
  }

  static async find(machine: SshMachine, id: string): Promise<RemoteSession> {
    const { met, line, kept } = await meet(machine, id)
    return new RemoteSession(machine, met, line, kept)
  }

  async open(): Promise<Duplex> {
    const first = this.#first ?? (await this.#again()).line
    this.#first = undefined
    if (first === undefined) throw new HeimdallError('SESSION_NOT_FOUND', `no session listens at ${this.name}`)
    const { clock } = this.#machine
    this.#last = new ReturningLine({ first, again: () => this.#again(), clock, tell: (words) => this.tell(words) })
    return this.#last
  }

  /** Resolves when the other end has closed, which it does when nothing of the session runs any more. */
  async gone(): Promise<void> {
    const line = this.#last
    if (line !== undefined && !line.closed) await new Promise((resolve) => line.once('close', resolve))
  }

  async #again(): Promise<FoundSession> {
    // A viewer has the terminal now; a password that somebody is asked for would be typed into the session.
    const { met, line, kept } = await meet({ ...this.#machine, isUnattended: true }, this.id)
    return met.state === 'running' ? { line } : { line: undefined, exitCode: met.exit?.exit_code, kept }
  }
}

/** What `hm ls` says there, one object per session. */
export async function listRemote(machine: SshMachine, isAll: boolean): Promise<readonly unknown[]> {
  const { greeting, line } = await call(machine, ['hm', 'pipe', ...(isAll ? ['--all'] : [])])
  line.destroy()
  if (greeting.state !== 'list') throw unexpected(machine)
  return greeting.sessions
}

async function meet(
  machine: SshMachine,
  id: string,
): Promise<{ readonly met: Met; readonly line: Duplex; readonly kept: KeptOutput | undefined }> {
  const { greeting, line } = await call(machine, ['hm', 'pipe', parseId('session', id)])
  if (greeting.state === 'list') throw unexpected(machine)
  const hasKept = greeting.state === 'ended' && greeting.kept_bytes > 0
  const kept = hasKept ? parseKept(await bytesOf(line, greeting.kept_bytes)) : undefined
  if (greeting.state === 'ended') line.destroy()
  return { met: greeting, line, kept }
}

async function call(
  { host, env, isUnattended }: SshMachine,
  command: readonly string[],
): Promise<Piped & { readonly greeting: Exclude<PipeGreeting, { state: 'refused' }> }> {
  const { greeting, line } = await callPipe({ host, command, env, isUnattended: isUnattended === true })
  if (greeting.state !== 'refused') return { greeting, line }
  line.destroy()
  const { code, message, hint, details } = greeting
  throw new HeimdallError(isCode(code) ? code : 'SESSION_REFUSED', `${host}: ${message}`, {
    details,
    // What is to be typed next is to be typed there.
    ...(hint === null ? {} : { hint: hint.replaceAll(/\bhm (?=\w)/g, `hm --host ${host} `) }),
  })
}

const isCode = (text: string): text is ErrorCode => Object.hasOwn(ERRORS, text)

const unexpected = ({ host }: SshMachine): HeimdallError =>
  new HeimdallError('REMOTE_UNREACHABLE', `hm on ${host} answers otherwise than this one expects`, {
    hint: 'the same version on both machines is sure to fit',
  })

async function bytesOf(line: Duplex, count: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const chunk of line as AsyncIterable<Buffer>) parts.push(chunk)
  return Buffer.concat(parts).subarray(0, count)
}
