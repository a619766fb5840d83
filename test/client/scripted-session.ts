// A socket that speaks frames as a test tells it to, for what a real session does too rarely or never.
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { encodeFrame } from '../../src/wire/encode.ts'
import type { FrameNameFrom } from '../../src/wire/frames.ts'
import type { Info } from '../../src/wire/payloads.ts'
import { FrameReader } from '../../src/wire/reader.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'

export interface Received {
  readonly name: FrameNameFrom<'client'>
  readonly payload: Buffer
}

export interface ScriptedSession {
  readonly socketPath: string
  readonly received: readonly Received[]
  readonly socket: () => Socket
  /** Resolves with the n-th frame of this name, from 1. */
  frame(name: FrameNameFrom<'client'>, n?: number): Promise<Received>
}

/** `answer` is called for each frame; what it returns is written back. */
export async function scriptedSession(
  answer: (frame: Received) => Buffer | undefined = () => undefined,
  greeting: Buffer = Buffer.from([0]),
): Promise<ScriptedSession> {
  const socketPath = join(temporaryFolder(), 's.sock')
  const received: Received[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    // The client may be gone when we answer, which is what some tests are about.
    socket.on('error', () => undefined)
    const reader = new FrameReader('client', {
      frame: (name, payload) => {
        const frame = { name, payload }
        received.push(frame)
        const reply = answer(frame)
        if (reply !== undefined) socket.write(reply)
      },
    })
    socket.on('data', (chunk: Buffer) => reader.push(chunk))
    if (greeting.length > 0) socket.write(greeting)
  })
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    socketPath,
    received,
    socket: () => {
      const last = sockets.at(-1)
      if (last === undefined) throw new Error('nobody has connected')
      return last
    },
    frame: (name, n = 1) => until(`${name} frame ${n}`, () => received.filter((frame) => frame.name === name)[n - 1]),
  }
}

export function infoWith(part: Partial<Info>): Buffer {
  const info: Info = {
    id: 's',
    pid: 2,
    supervisor_pid: 1,
    command: ['sh'],
    cwd: '/',
    started_at: '2026-01-01T00:00:00Z',
    cols: 80,
    rows: 24,
    pinned: false,
    alive: true,
    exit_code: null,
    state: 'idle',
    state_ms: 1,
    idle_ms: 1,
    needs_input: { value: false, source: 'none', evidence: null },
    modes: {},
    offset_start: 0,
    offset_end: 0,
    input_bytes_pending: 0,
    clients: 1,
    title: '',
    ...part,
  }
  return encodeFrame('infoResp', Buffer.from(JSON.stringify(info)))
}
