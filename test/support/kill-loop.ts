// The kill -9 harness: a writer acknowledges over a pipe, dies at a random moment after its first acknowledgement, and what it promised is compared with what is there.
import { setTimeout as delay } from 'node:timers/promises'
import type { Program } from './programs.ts'

export interface KillLoop {
  readonly cycles: number
  readonly random: () => number
  /** Starts the writer, which prints `ack WHAT` for each thing that it promises. */
  start(cycle: number): Program
  /** The longest life after the first acknowledgement. */
  readonly lifeMsMax: number
  /** Sees all that this cycle's writer acknowledged; throws when something is missing. */
  check(acknowledged: readonly string[], cycle: number): void | Promise<void>
}

/** Returns how many acknowledgements were checked. Killing before the first one would test the interpreter's start. */
export async function killLoop(loop: KillLoop): Promise<number> {
  let total = 0
  for (let cycle = 0; cycle < loop.cycles; cycle += 1) {
    const writer = loop.start(cycle)
    await writer.waitForLine(/^ack /)
    await delay(loop.random() * loop.lifeMsMax)
    writer.kill('SIGKILL')
    const { stdout, stderr, signal } = await writer.ended
    if (signal !== 'SIGKILL') throw new Error(`cycle ${cycle}: the writer ended by itself: ${stderr}`)
    // The last line may be cut: the writer died while it spoke.
    const acknowledged = stdout
      .split('\n')
      .slice(0, -1)
      .flatMap((line) => (line.startsWith('ack ') ? [line.slice(4)] : []))
    total += acknowledged.length
    await loop.check(acknowledged, cycle)
  }
  return total
}
