// Waits until a session is idle, needs input or has ended.
import { Watch } from '../client/watch.ts'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import type { StateEvent } from '../wire/payloads.ts'
import { connectTo, ended, type Located } from './locate.ts'

export type WaitCondition = 'idle' | 'needs-input' | 'exit'
type Known = Pick<StateEvent, 'state' | 'needs_input'>

export interface SessionWaitResult {
  /** Undefined when the session had ended before. */
  readonly state: Known | undefined
  readonly exitCode: number | null
}

export interface SessionWaitOptions {
  readonly clock: Clock
  readonly timeoutMs: number | undefined
  /** Finds the session again. */
  readonly again: () => Promise<Located>
}

export async function waitFor(
  located: Located,
  condition: WaitCondition,
  options: SessionWaitOptions,
): Promise<SessionWaitResult> {
  if (!located.isRunning) {
    if (condition !== 'exit') throw ended(located)
    return { state: undefined, exitCode: await exitCodeOf(located, options) }
  }
  const connection = await connectTo(located)
  try {
    const watch = new Watch(connection.subscribe({ from: 'live', readOnly: true, events: true }), options.clock)
    const now = condition === 'exit' ? undefined : await connection.info()
    if (now !== undefined && isMet(condition, now)) return { state: now, exitCode: now.exit_code }
    const isReached = await watch.until(
      ({ exitCode, state }) =>
        condition === 'exit' ? exitCode !== undefined : state !== undefined && isMet(condition, state),
      options.timeoutMs,
    )
    if (!isReached) throw tooLate(located.id, condition)
    return { state: watch.seen.state, exitCode: watch.seen.exitCode ?? null }
  } finally {
    connection.close()
  }
}

/** A session without a supervisor ends with the last of its processes. */
async function exitCodeOf(located: Located, { clock, timeoutMs, again }: SessionWaitOptions): Promise<number | null> {
  const deadlineMs = clock.monoMs() + (timeoutMs ?? Number.POSITIVE_INFINITY)
  let last = located
  while (last.orphans.length > 0) {
    if (clock.monoMs() >= deadlineMs) throw tooLate(last.id, 'exit')
    await pause(clock, LOST_POLL_MS)
    last = await again()
  }
  return last.exit?.exit_code ?? null
}

const LOST_POLL_MS = 100

const isMet = (condition: WaitCondition, { state, needs_input: needs }: Known): boolean =>
  condition === 'idle' ? state === 'idle' : needs.value

function tooLate(id: string, condition: WaitCondition): HeimdallError {
  return new HeimdallError('SESSION_WAIT_TIMEOUT', `session ${id} did not reach ${condition} in time`, {
    hint: `hm status ${id} shows what it is doing`,
  })
}
