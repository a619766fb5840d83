// What has happened at a worker stays true while a fleet's engine is away or a disk is full: it is written down as soon as that is over.
import { pause } from '../../clock.ts'
import { type Coordination, isUnwritable } from '../../coordination/coordination.ts'
import { DISPATCH_LOOK_MS } from '../../limits.ts'

export interface WritingTask {
  readonly room: Pick<Coordination, 'clock'>
  readonly taskId: string
  readonly note: (line: string) => void
  /** Nobody tries any more: whoever comes next finds it. */
  readonly signal: AbortSignal
}

export async function untilWritten<T>(
  { room, taskId, note, signal }: WritingTask,
  write: () => Promise<T>,
): Promise<T> {
  for (let isTold = false; ; isTold = true)
    try {
      return await write()
    } catch (error) {
      if (!isUnwritable(error) || signal.aborted) throw error
      if (!isTold) note(`task ${taskId}: ${error.message}; it is written down when that is over`)
      await pause(room.clock, DISPATCH_LOOK_MS, signal)
    }
}
