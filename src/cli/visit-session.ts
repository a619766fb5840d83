// A visit to a session that waits: attached until it goes on by the person's answer, or the person leaves.
import { openConnection } from '../client/connection.ts'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { NEXT_SETTLE_MS } from '../limits.ts'
import { sessionPaths } from '../wire/session-paths.ts'
import type { Context } from './command.ts'

interface SessionPlace {
  readonly dir: string
  readonly id: string
}

/** True when the person wants no more: the terminal is gone, or its input has ended. */
export async function attachUntilAnswered(context: Context, { dir, id }: SessionPlace): Promise<boolean> {
  const over = new AbortController()
  const answered = new AbortController()
  const typing = new Typing(context)
  const watching = settled({ dir, id, clock: context.clock, typing, signal: over.signal }).then(
    (isAnswered) => (isAnswered ? answered.abort() : undefined),
    // The view speaks of a session that cannot be reached.
    (error: unknown) => {
      if (!(error instanceof HeimdallError)) throw error
    },
  )
  try {
    const { attachTo } = await import('./commands/session/attach.ts')
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
    })
    return ['SIGTERM', 'SIGHUP', 'end of input'].includes((data as { readonly reason: string }).reason)
  } catch (error) {
    // It ended between the look and the visit.
    if (!(error instanceof HeimdallError) || error.code !== 'SESSION_NOT_FOUND') throw error
    return false
  } finally {
    over.abort()
    typing.stop()
    await watching
  }
}

interface Settling {
  readonly dir: string
  readonly id: string
  readonly clock: Clock
  readonly typing: Typing
  readonly signal: AbortSignal
}

/** Resolves when nobody is waited for any more, for long enough, and the person has typed a whole answer. */
async function settled({ dir, id, clock, typing, signal }: Settling): Promise<boolean> {
  const connection = await openConnection(sessionPaths(dir, id).socket)
  signal.addEventListener('abort', () => connection.close())
  try {
    await typing.begin(signal)
    for (let freeMs = 0; !signal.aborted;) {
      const { needs_input: needs } = await connection.info()
      freeMs = needs.value ? 0 : freeMs + LOOK_MS
      if (freeMs >= NEXT_SETTLE_MS && typing.isAnswered(clock.monoMs())) return true
      await pause(clock, LOOK_MS, signal)
    }
    return false
  } finally {
    connection.close()
  }
}

const LOOK_MS = 200
const BEGIN_MS = 10

/** What the person has typed so far: a key alone, or a line with its Enter, is an answer; half a line is none. */
class Typing {
  readonly #context: Context
  readonly #onData: (chunk: Buffer) => void
  #keys = 0
  #isLineOpen = false
  #lastMs = Number.POSITIVE_INFINITY

  constructor(context: Context) {
    this.#context = context
    this.#onData = (chunk) => {
      // What a terminal says by itself begins with ESC and is nobody's answer; so are arrows, which Enter follows.
      if (chunk[0] === 0x1b) return
      this.#keys += chunk.length
      this.#isLineOpen = chunk.at(-1) !== 0x0d && chunk.at(-1) !== 0x0a
      this.#lastMs = context.clock.monoMs()
    }
  }

  /** From when the view reads the terminal: a listener before that would take keys away from it. */
  async begin(signal: AbortSignal): Promise<void> {
    const { stdin, clock } = this.#context
    while (!stdin.isRaw && !signal.aborted) await pause(clock, BEGIN_MS, signal)
    if (!signal.aborted) stdin.on('data', this.#onData)
  }

  isAnswered(nowMs: number): boolean {
    return this.#keys > 0 && nowMs - this.#lastMs >= NEXT_SETTLE_MS && (!this.#isLineOpen || this.#keys === 1)
  }

  stop(): void {
    this.#context.stdin.off('data', this.#onData)
  }
}
