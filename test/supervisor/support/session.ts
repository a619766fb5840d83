// A session in its own process and raw clients on its socket, for tests below any command.
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { resolveOptions, type SessionOptions } from '../../../src/wire/session-options.ts'
import { findSession } from '../../../src/sessions/session-files.ts'
import { sessionPaths } from '../../../src/wire/session-paths.ts'
import { settle } from '../../../src/sessions/settle.ts'
import { startSession } from '../../../src/sessions/start.ts'
import type { StartedSession } from '../../../src/wire/handover.ts'
import { decodeExit, decodeGap, decodeStatusResp } from '../../../src/wire/decode.ts'
import { encodeFrame, encodeJson } from '../../../src/wire/encode.ts'
import type { FrameName, FrameNameFrom } from '../../../src/wire/frames.ts'
import { type Info, parseInfo, type Status, type SubscribeOptions } from '../../../src/wire/payloads.ts'
import { FrameReader } from '../../../src/wire/reader.ts'
import { sourceEnv } from '../../support/process-sources.ts'
import { isRunning } from '../../support/programs.ts'
import { temporaryFolder } from '../../support/project.ts'
import { until } from '../../support/wait.ts'

export const LAUNCHER = resolve('dist/session.cjs')

export interface TestSession extends StartedSession {
  readonly dir: string
  connect(): Promise<Client>
  /** Resolves when the supervisor's process is gone. */
  gone(): Promise<void>
}

export async function start(
  command: readonly string[],
  options: Partial<SessionOptions> & { readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<TestSession> {
  const { environment, ...rest } = options
  const dir = rest.socketDir ?? join(temporaryFolder(), 's')
  const started = await startSession(resolveOptions({ id: 't', cwd: '/', ...rest, socketDir: dir, command }), {
    launcher: LAUNCHER,
    env: {
      PATH: process.env['PATH'],
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      HOME: dir,
      ...sourceEnv(),
      ...environment,
    },
  })
  onTestFinished(async () => {
    if (isRunning(started.supervisor_pid)) process.kill(started.supervisor_pid, 'SIGKILL')
    await until('the supervisor to be gone', () => !isRunning(started.supervisor_pid))
    if (findSession(dir, started.id)?.holder?.supervisorPid === started.supervisor_pid)
      await settle(dir, started.id, { by: 'a test' })
  })
  return {
    ...started,
    dir,
    connect: () => Client.connect(sessionPaths(dir, started.id).socket),
    gone: async () => void (await until('the session to be gone', () => !isRunning(started.supervisor_pid))),
  }
}

/** Every process whose environment names the session's folder as its home: found by us, not by the code under test. */
export function processesOf(session: TestSession): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, 'latin1').includes(`HOME=${session.dir}\0`)
      } catch {
        return false
      }
    })
    .map(Number)
    .filter((pid) => pid !== session.supervisor_pid && isRunning(pid))
}

export const sh = (script: string): string[] => ['sh', '-c', script]

export interface Frame {
  readonly name: FrameNameFrom<'supervisor'>
  readonly payload: Buffer
}

/** Keeps every frame that came, and says when one more has come. */
export class Client {
  readonly socket: Socket
  readonly frames: Frame[] = []
  /** Output so far. Not kept frame by frame when `counts` is set: only its length and its last bytes. */
  outputBytes = 0
  #tail = Buffer.alloc(0)
  #wake: (() => void)[] = []
  failure: Error | undefined
  isClosed = false
  onOutput: ((bytes: Buffer) => void) | undefined

  private constructor(socket: Socket) {
    this.socket = socket
    const reader = new FrameReader('supervisor', {
      frame: (name, payload) => {
        if (name === 'output') {
          this.outputBytes += payload.length
          this.onOutput?.(payload)
          if (this.onOutput !== undefined) {
            this.#tail = Buffer.concat([this.#tail, payload]).subarray(-4_096)
            return
          }
        }
        this.frames.push({ name, payload: Buffer.from(payload) })
      },
    })
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk)
      } catch (error) {
        this.failure = error as Error
        socket.destroy()
      }
      this.#woken()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.isClosed = true
      if (!reader.isBetweenFrames && this.failure === undefined) this.failure = new Error('cut off inside a frame')
      this.#woken()
    })
  }

  static connect(path: string): Promise<Client> {
    return new Promise((resolve, reject) => {
      const socket = connect(path)
      const client = new Client(socket)
      onTestFinished(() => void socket.destroy())
      socket.once('connect', () => resolve(client))
      socket.once('error', reject)
    })
  }

  #woken(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }

  send(name: FrameName, payload?: Uint8Array): void {
    this.socket.write(encodeFrame(name, payload))
  }

  type(text: string | Buffer): void {
    this.send('input', typeof text === 'string' ? Buffer.from(text) : text)
  }

  subscribe(options?: Partial<SubscribeOptions>): void {
    if (options === undefined) this.send('subscribe')
    else this.socket.write(encodeJson('subscribe', options))
  }

  /** Resolves with the first value that `look` finds, looking again after each arrival. */
  async waitFor<T>(what: string, look: (client: this) => T | undefined | false): Promise<T> {
    const deadline = performance.now() + 60_000
    for (;;) {
      if (this.failure !== undefined) throw new Error(`waiting for ${what}: ${this.failure.message}`)
      const found = look(this)
      if (found !== undefined && found !== false) return found
      if (this.isClosed) throw new Error(`closed while waiting for ${what}; output: ${this.output().slice(-500)}`)
      if (performance.now() > deadline)
        throw new Error(
          `waited too long for ${what}; frames: ${this.names().slice(-5).join()}; output: ${this.output().slice(-500)}`,
        )
      await new Promise<void>((wake) => {
        const timer = setTimeout(wake, 1_000)
        this.#wake.push(() => {
          clearTimeout(timer)
          wake()
        })
      })
    }
  }

  frame(name: Frame['name']): Promise<Frame> {
    return this.waitFor(name, () => this.frames.find((frame) => frame.name === name))
  }

  async status(): Promise<Status> {
    const before = this.count('statusResp')
    this.send('status')
    return this.waitFor('status', () => {
      const all = this.frames.filter((frame) => frame.name === 'statusResp')
      return all.length > before && decodeStatusResp((all.at(-1) as Frame).payload)
    })
  }

  async info(): Promise<Info> {
    const before = this.count('infoResp')
    this.send('info')
    return this.waitFor('info', () => {
      const all = this.frames.filter((frame) => frame.name === 'infoResp')
      return all.length > before && parseInfo((all.at(-1) as Frame).payload)
    })
  }

  count(name: Frame['name']): number {
    return this.frames.filter((frame) => frame.name === name).length
  }

  names(): string[] {
    return this.frames.map((frame) => frame.name)
  }

  output(): string {
    if (this.onOutput !== undefined) return this.#tail.toString('latin1')
    return this.bytes().toString('utf8')
  }

  bytes(): Buffer {
    return Buffer.concat(this.frames.filter((frame) => frame.name === 'output').map((frame) => frame.payload))
  }

  waitForOutput(text: string | RegExp): Promise<true> {
    return this.waitFor(`output ${String(text)}`, () =>
      typeof text === 'string' ? this.output().includes(text) : text.test(this.output()),
    )
  }

  /** Resolves with the exit code; the EXIT frame must be the last and the connection must end behind it. */
  async exit(): Promise<number> {
    const frame = await this.frame('exit')
    await this.waitFor('the end of the connection', () => this.isClosed)
    if (this.failure !== undefined) throw this.failure
    if (this.frames.at(-1) !== frame) throw new Error(`frames behind EXIT: ${this.names().join()}`)
    return decodeExit(frame.payload)
  }

  gaps(): { droppedBytes: number; nextOffset: number }[] {
    return this.frames.filter((frame) => frame.name === 'gap').map((frame) => decodeGap(frame.payload))
  }

  close(): void {
    this.socket.destroy()
  }
}
