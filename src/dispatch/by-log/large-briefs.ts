// Briefs that are too large for an entry: they lie beside the log, by task and hash; the worker's machine fetches what it begins, and whoever orchestrates clears what is over.
import { createHash } from 'node:crypto'
import type { Coordination } from '../../coordination/coordination.ts'
import { membershipIn } from '../../coordination/membership.ts'
import { HeimdallError } from '../../errors.ts'
import {
  FLEET_ANNEX_STRAY_MS,
  FLEET_BRIEF_BYTES_MAX,
  FLEET_BRIEF_CHARS_SHOWN,
  FLEET_BRIEF_INLINE_BYTES,
} from '../../limits.ts'
import { blockedBy } from '../blocked.ts'
import type { TaskDispatch } from '../messages.ts'
import type { Peer, PeerReply } from '../peer.ts'
import { untilWritten, type WritingTask } from '../worker/until-written.ts'
import type { Execution } from '../worker/worker-desk.ts'

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** No two tasks share one, so that the end of one takes nothing from another. */
const nameOf = (taskId: string, sha256: string): string => `${taskId}/${sha256}`
const taskIn = (name: string): string => name.slice(0, name.lastIndexOf('/'))

/** Before the task is sent: what stands in an entry stands in every copy. Alone, and where it is short, as it is. */
export async function layBeside(room: Coordination, contract: TaskDispatch): Promise<TaskDispatch> {
  const { brief, brief_beside: beside } = contract
  const bytes = Buffer.byteLength(brief)
  const isShort = beside !== undefined || bytes <= FLEET_BRIEF_INLINE_BYTES
  if (isShort || membershipIn(room.store) === undefined) return contract
  const sha256 = hashOf(brief)
  await room.store.annex.lay(nameOf(taskOf(contract), sha256), brief)
  return { ...contract, brief: brief.slice(0, FLEET_BRIEF_CHARS_SHOWN), brief_beside: { sha256, bytes } }
}

/** The contract with all of its brief. Nothing where that is not what was laid there. */
async function whole(room: Coordination, contract: TaskDispatch): Promise<TaskDispatch | undefined> {
  const { brief_beside: beside, ...plain } = contract
  if (beside === undefined) return contract
  const text = await room.store.annex.fetch(nameOf(taskOf(contract), beside.sha256), FLEET_BRIEF_BYTES_MAX)
  return text !== undefined && hashOf(text) === beside.sha256 ? { ...plain, brief: text } : undefined
}

const taskOf = ({ dispatch_id: id, task }: TaskDispatch): string => id ?? task.task_id

/** Fetched by the machine that begins the task, when it does. `from`: nobody else's contract may name what lies there. */
export function withWholeBriefs(
  { room, note, signal }: Omit<WritingTask, 'taskId'> & { readonly room: Coordination },
  execution: Execution,
  from: string,
): Execution {
  return {
    ...execution,
    async start(assignment, contract) {
      if (assignment.from !== from) return execution.start(assignment, contract)
      const { taskId } = assignment
      const found = await untilWritten({ room, note, signal, taskId }, () => whole(room, contract))
      if (found !== undefined) return execution.start(assignment, found)
      return {
        blocked: blockedBy('brief_missing', [contract.brief_beside?.sha256 ?? '']),
        reason: 'its brief does not lie beside the log any more: send the task again',
      }
    },
  }
}

/** Nothing of it was sent: the engine was away. */
function unsent(error: unknown): Extract<PeerReply, { kind: 'refused' }> {
  if (!(error instanceof HeimdallError)) throw error
  return { kind: 'refused', why: error.message }
}

/** Whoever is reached by address gets all of it with the message. */
export function sendsWholeBriefs(room: Coordination, peer: Peer): Peer {
  return {
    send: async (contract, earlier, signal) => {
      const found = await whole(room, contract).catch(unsent)
      if (found !== undefined && 'kind' in found) return found
      if (found === undefined)
        return { kind: 'rejected', why: 'its brief does not lie beside the log any more', how: 'refusal' }
      return peer.send(found, earlier, signal)
    },
    follow: (...args) => peer.follow(...args),
    answer: (...args) => peer.answer(...args),
    cancel: (...args) => peer.cancel(...args),
    pull: (...args) => peer.pull(...args),
  }
}

/** Until the signal. What could not be cleared now is with the next end of a task, or by the next orchestrator. */
export async function clearBriefs(
  room: Coordination,
  note: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { store } = room
  const clear = async (): Promise<void> => {
    try {
      const laid = await store.annex.list()
      const over = laid.filter(({ name, ageMs }) => {
        const task = store.read((rows) => rows.task(taskIn(name)))
        return task === undefined ? ageMs > FLEET_ANNEX_STRAY_MS : task.endedMs !== null
      })
      if (over.length > 0) await store.annex.clear(over.map(({ name }) => name))
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      note(`dispatch: briefs of ended tasks: ${error.message}`)
    }
  }
  try {
    const from = store.read((rows) => rows.head())
    await clear()
    for await (const { puts } of store.follow(from, signal)) {
      const ended = puts.flatMap((put) =>
        put.table === 'tasks' && 'row' in put && put.row['ended_ms'] !== null ? [String(put.row['task_id'])] : [],
      )
      const isLarge = (taskId: string): boolean =>
        store.read((rows) => rows.contract(taskId))?.includes('"brief_beside"') === true
      if (ended.some(isLarge)) await clear()
    }
  } catch (error) {
    // The store was replaced under it: whoever orchestrates hears so for itself, and the next one clears.
    if (!(error instanceof HeimdallError)) throw error
    note(`dispatch: briefs of ended tasks: ${error.message}`)
  }
}
