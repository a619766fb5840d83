// The traffic of one shim: bytes both ways with back-pressure. When it is over, and how, is told by ending.ts.
import type { Readable, Writable } from 'node:stream'
import type { Timer } from '../../clock.ts'
import { READ_AHEAD_PROBE_MS, READ_AHEAD_PROBED_MAX } from '../../limits.ts'
import type { CallCore, Traffic } from '../call/adapter.ts'
import type { AgentOut } from '../messages/agent-out.ts'
import { Garbage } from '../messages/garbage.ts'
import { writerTo } from '../pipes/pipe.ts'
import type { Upstream } from '../server/upstream.ts'
import type { ClientSide, Flow } from './client-side.ts'
import { TrafficEnding } from './ending.ts'
import type { UpstreamSide } from './upstream-side.ts'
import type { WatchForEnd } from './watch-for-end.ts'

export interface TrafficOptions {
  readonly core: CallCore
  readonly out: AgentOut
  readonly upstream: Upstream
  readonly upstreamSide: UpstreamSide
  readonly clientSide: (flow: Flow) => ClientSide
  readonly stdin: Readable
  readonly stdout: Writable
  readonly watchForEnd: WatchForEnd
  readonly note: (line: string) => void
}

export function startTraffic(options: TrafficOptions): Traffic {
  const { core, out, upstream, upstreamSide, stdin, stdout } = options
  const { open } = core
  const garbage = new Garbage()
  const client = options.clientSide(flowTo(options, garbage, () => ending.serverTook()))
  const ending = new TrafficEnding({ ...options, client })

  /** Chunks that were looked at and may still be on their way to the client. */
  const unsent: Buffer[] = []
  const passed = (chunk: Buffer): void => {
    garbage.freed(chunk.length)
    unsent.push(chunk)
    if (out.backlog > 0) return
    for (const one of unsent) upstream.room?.giveBack(one)
    unsent.length = 0
  }
  stdin.on('data', (chunk: Buffer) => {
    client.push(chunk)
    ending.clientSpoke()
    garbage.passed(chunk.length)
  })
  const clientLeft = (): void => ending.clientLeft()
  stdin.once('end', clientLeft)
  stdin.once('close', clientLeft)
  stdin.on('error', clientLeft)
  stdout.on('error', clientLeft)
  upstream.stdout.on('data', (chunk: Buffer) => {
    ending.serverSpoke()
    if (!out.fromUpstream(chunk)) {
      upstream.stdout.pause()
      out.onDrain(() => {
        upstream.stdout.resume()
        ending.clientTook()
      })
    }
    const openBefore = open.size
    garbage.passed(chunk.length)
    upstreamSide.push(chunk, passed)
    ending.serverWasRead(open.size < openBefore || upstreamSide.isMidMessage)
  })
  // Pipes that are read into our own memory do not begin by themselves.
  stdin.resume()
  upstream.stdout.resume()
  upstream.stdout.once('close', () => ending.hungUp('the server closed its output and does not exit'))
  upstream.stdin.once('error', () => ending.hungUp('the server closed its input and does not exit'))
  return { ended: ending.ended, terminate: (decision) => ending.terminate(decision) }
}

function flowTo({ upstream, stdin, core }: TrafficOptions, garbage: Garbage, onTaken: () => void): Flow {
  const { stdin: to } = upstream
  const send = writerTo(to)
  let probe: Timer | undefined
  return {
    // A server that has closed its input takes nothing any more; its exit tells the rest.
    write(bytes) {
      // What was held, or put together from pieces, is in buffers of its own.
      garbage.passed(bytes.length)
      return !to.writable || send(bytes, onTaken)
    },
    writable: () =>
      new Promise((resolve) => {
        const done = (): void => {
          to.off('drain', done)
          to.off('close', done)
          resolve()
        }
        to.on('drain', done)
        to.on('close', done)
        if (to.destroyed || !to.writableNeedDrain) done()
      }),
    pause(waitingBytes) {
      stdin.pause()
      probe?.cancel()
      // The end of input is behind what is in the pipe: a paused stream would never see that its client is gone.
      if (waitingBytes < READ_AHEAD_PROBED_MAX) probe = core.clock.after(READ_AHEAD_PROBE_MS, () => void stdin.resume())
    },
    resume() {
      probe?.cancel()
      stdin.resume()
    },
  }
}
