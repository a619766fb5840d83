// Attaches a terminal to a session until its command ends or the viewer leaves.
import { openConnection, type SessionConnection } from '../../client/connection.ts'
import { type Clock, pause } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { NEXT_SETTLE_MS } from '../../limits.ts'
import { infoIfKnown } from '../ask-info.ts'
import { readExitRecord } from '../session-files.ts'
import { surviveClosedTerminal } from './outer-terminal.ts'
import type { Leave, Viewer, ViewTarget } from './view.ts'
import type { TypedAnswer } from './view-keys.ts'

export async function attach(viewer: Viewer, target: ViewTarget): Promise<Leave> {
  surviveClosedTerminal(viewer)
  const found = await connectOrRecord(target)
  if ('exitCode' in found) return { reason: 'exited', code: found.exitCode }
  const { connection } = found
  try {
    if (!target.isReadOnly) await connection.callAs(viewer.calledAs)
    if (target.isAlone) await detachOthers(viewer, target.id, connection)
    const isTerminal = viewer.stdin.isTTY && viewer.stdout.isTTY && viewer.env['TERM'] !== 'dumb'
    if (isTerminal && !target.isInline) {
      const { screenView } = await import('./screen-view.ts')
      return await screenView(viewer, target, connection)
    }
    const { inlineView } = await import('./inline-view.ts')
    return await inlineView(viewer, target, connection)
  } finally {
    connection.close()
  }
}

/** A short command may have ended, and its session stopped listening, before the connection: then its exit code. */
async function connectOrRecord({
  id,
  dir,
  socketPath,
  remote,
}: ViewTarget): Promise<{ readonly connection: SessionConnection } | { readonly exitCode: number }> {
  try {
    return { connection: await openConnection(remote ?? socketPath) }
  } catch (error) {
    const record = remote === undefined ? readExitRecord(dir, id) : remote.exit
    if (error instanceof HeimdallError && error.code === 'SESSION_NOT_FOUND' && record !== undefined)
      return { exitCode: record.exit_code }
    throw error
  }
}

async function detachOthers(viewer: Viewer, id: string, connection: SessionConnection): Promise<void> {
  if ((await infoIfKnown(connection))?.viewers === undefined)
    viewer.note(`session ${id} was started by a version that cannot detach viewers; other viewers stay`)
  else await connection.detachOthers()
}

export interface AnswerWatch {
  readonly socketPath: string
  readonly clock: Clock
  readonly typed: TypedAnswer
  readonly signal: AbortSignal
}

/** True when the session has stopped waiting for long enough and the human has typed a whole answer; false when aborted. */
export async function untilAnswered({ socketPath, clock, typed, signal }: AnswerWatch): Promise<boolean> {
  const connection = await openConnection(socketPath)
  signal.addEventListener('abort', () => connection.close())
  try {
    for (let freeMs = 0; !signal.aborted;) {
      const { needs_input: needs } = await connection.info()
      freeMs = needs.value ? 0 : freeMs + POLL_MS
      if (freeMs >= NEXT_SETTLE_MS && typed.isWhole(clock.monoMs())) return true
      await pause(clock, POLL_MS, signal)
    }
    return false
  } finally {
    connection.close()
  }
}

const POLL_MS = 200
