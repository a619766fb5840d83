// The traffic of one stdio shim: bytes both ways with back-pressure. How it ends is decided in ending.ts.
import type { Readable, Writable } from 'node:stream'
import type { Timer } from '../../clock.ts'
import { READ_AHEAD_PROBE_MS, READ_AHEAD_PROBED_MAX } from '../../limits.ts'
import type { CallCore, Traffic } from '../call/adapter.ts'
import type { AgentOut } from '../messages/agent-out.ts'
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
  const client = options.clientSide(flowTo(options, () => ending.serverTook()))
  const ending = new TrafficEnding({ ...options, client })
  stdin.on('data', (chunk: Buffer) => {
    client.push(chunk)
    ending.clientSpoke()
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
    upstreamSide.push(chunk)
    ending.serverWasRead(open.size < openBefore || upstreamSide.isMidMessage)
  })
  upstream.stdout.once('close', () => ending.hungUp('the server closed its output and does not exit'))
  upstream.stdin.once('error', () => ending.hungUp('the server closed its input and does not exit'))
  return { ended: ending.ended, terminate: (decision) => ending.terminate(decision) }
}

function flowTo({ upstream: { stdin: to }, stdin, core }: TrafficOptions, onTaken: () => void): Flow {
  let probe: Timer | undefined
  return {
    // A server that has closed its input takes nothing more; its exit or its hangup ends the calls.
    write: (bytes) => !to.writable || to.write(bytes, onTaken),
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
