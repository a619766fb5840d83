// A visit to a session that waits: attached until it goes on by the person's answer, or the person leaves.
import { openConnection } from '../../../client/connection.ts'
import { type Clock, pause } from '../../../clock.ts'
import { HeimdallError } from '../../../errors.ts'
import { NEXT_SETTLE_MS } from '../../../limits.ts'
import { sessionPaths } from '../../../wire/session-paths.ts'
import type { Context } from '../../command.ts'
import { TypedAnswer } from './typed-answer.ts'

interface SessionPlace {
  readonly dir: string
  readonly id: string
}

/** True when the person wants no more: the terminal is gone, or its input has ended. */
export async function attachUntilAnswered(context: Context, { dir, id }: SessionPlace): Promise<boolean> {
  const over = new AbortController()
  const answered = new AbortController()
  const { clock } = context
  const typed = new TypedAnswer()
  const watching = settled({ dir, id, clock, typed, signal: over.signal }).then(
    (isAnswered) => (isAnswered ? answered.abort() : undefined),
    // The view speaks of a session that cannot be reached.
    (error: unknown) => {
      if (!(error instanceof HeimdallError)) throw error
    },
  )
  try {
    const { attachTo } = await import('./attach.ts')
    const { data } = await attachTo(context, {
      id,
      dir,
      socketPath: sessionPaths(dir, id).socket,
      isInline: false,
      isReadOnly: false,
      isSafe: false,
      isAlone: false,
      staysToEnd: false,
      from: 'snapshot',
      answered: answered.signal,
      onTyped: (bytes) => typed.take(bytes, clock.monoMs()),
    })
    return ['SIGTERM', 'SIGHUP', 'end of input'].includes((data as { readonly reason: string }).reason)
  } catch (error) {
    // It ended between the look and the visit.
    if (!(error instanceof HeimdallError) || error.code !== 'SESSION_NOT_FOUND') throw error
    return false
  } finally {
    over.abort()
    await watching
  }
}

interface Settling {
  readonly dir: string
  readonly id: string
  readonly clock: Clock
  readonly typed: TypedAnswer
  readonly signal: AbortSignal
}

/** Resolves when nobody is waited for any more, for long enough, and the person has typed a whole answer. */
async function settled({ dir, id, clock, typed, signal }: Settling): Promise<boolean> {
  const connection = await openConnection(sessionPaths(dir, id).socket)
  signal.addEventListener('abort', () => connection.close())
  try {
    for (let freeMs = 0; !signal.aborted;) {
      const { needs_input: needs } = await connection.info()
      freeMs = needs.value ? 0 : freeMs + LOOK_MS
      if (freeMs >= NEXT_SETTLE_MS && typed.isWhole(clock.monoMs())) return true
      await pause(clock, LOOK_MS, signal)
    }
    return false
  } finally {
    connection.close()
  }
}

const LOOK_MS = 200
