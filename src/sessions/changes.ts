// Sessions of a folder as they appear, change and end. States and ends come from the sessions themselves; only who is new is looked for.
import { openConnection } from '../client/connection.ts'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { SESSIONS_LOOK_MS } from '../limits.ts'
import type { NeedsInput, StateEvent } from '../wire/payloads.ts'
import type { Holder } from '../wire/pid-file.ts'
import { sessionPaths } from '../wire/session-paths.ts'
import { findListed, listSessions } from './session-files.ts'

export interface SessionChange {
  readonly id: string
  readonly change: 'appeared' | 'state' | 'ended'
  readonly state: string
  readonly needs_input: NeedsInput | null
  /** Null while it runs, and where nobody knows. */
  readonly exit_code: number | null
}

export interface Watching {
  readonly dir: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onChange: (change: SessionChange) => void
}

/** Until the signal. Sessions that run already appear first. */
export async function watchSessions(watching: Watching): Promise<void> {
  const { dir, clock, signal } = watching
  const followed = new Set<string>()
  const endings: Promise<void>[] = []
  while (!signal.aborted) {
    const running = listSessions(dir).filter(({ state }) => state === 'running')
    for (const { id, holder } of running) {
      const name = nameOf(id, holder)
      if (followed.has(name)) continue
      followed.add(name)
      endings.push(follow(watching, id, () => followed.delete(name)))
    }
    await pause(clock, SESSIONS_LOOK_MS, signal)
  }
  await Promise.all(endings)
}

/** An id is used again; a process is not. */
function nameOf(id: string, holder: Holder | undefined): string {
  return `${id} ${holder?.supervisorPid} ${holder?.supervisorStart}`
}

type Known = Pick<StateEvent, 'state' | 'needs_input' | 'id'>

/** A title or a size that changes is no news of the session. */
function isSameState(one: Known, other: Known): boolean {
  return one.state === other.state && one.needs_input.value === other.needs_input.value && one.id === other.id
}

/** `forget`: it could not be reached though it runs, and is tried again. */
async function follow({ dir, clock, signal, onChange }: Watching, id: string, forget: () => void): Promise<void> {
  const ended = (code: number | null): void =>
    onChange({ id, change: 'ended', state: 'dead', needs_input: null, exit_code: code })
  try {
    const connection = await openConnection(sessionPaths(dir, id).socket, { clock })
    const close = (): void => connection.close()
    signal.addEventListener('abort', close)
    try {
      const events = connection.subscribe({ from: 'live', readOnly: true, events: true })
      let known: Known = await connection.info()
      onChange({ id, change: 'appeared', state: known.state, needs_input: known.needs_input, exit_code: null })
      for await (const event of events) {
        if (event.type === 'exit') {
          ended(event.code)
          return
        }
        if (event.type !== 'state' || isSameState(event.state, known)) continue
        known = event.state
        onChange({
          id: known.id ?? id,
          change: 'state',
          state: known.state,
          needs_input: known.needs_input,
          exit_code: null,
        })
      }
    } finally {
      signal.removeEventListener('abort', close)
      connection.close()
    }
  } catch (error) {
    // Gone between the look and the question, or too busy to answer: its files say which.
    if (!(error instanceof HeimdallError)) throw error
  }
  if (signal.aborted) return
  const found = findListed(dir, id)
  if (found?.state === 'running') forget()
  else ended(found?.exit?.exit_code ?? null)
}
