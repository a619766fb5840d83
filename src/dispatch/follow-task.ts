// Waits for a dispatched task until it needs nobody to wait: it has ended, or a human has to act.
import type { Coordination } from '../coordination/coordination.ts'
import { isOpenTask } from '../coordination/tasks.ts'
import type { DispatchedTask } from './parking.ts'
import { showTask, waitsForPerson } from './tasks.ts'

export const isUnderWay = (task: DispatchedTask): boolean => isOpenTask(task) && !waitsForPerson(task)

/** `onState` receives each state before the last; the log of a fleet is read for as long as this waits. */
export async function followTask(
  room: Coordination,
  taskId: string,
  signal: AbortSignal,
  onState: (state: string) => void,
): Promise<void> {
  // A worker that is out of reach is tried every few seconds: each state is told once.
  const told = new Set<string>()
  const isOver = (): boolean => {
    const { task, attempts } = showTask(room, taskId)
    const attempt = attempts.at(-1)
    if (!isUnderWay(task)) return true
    const state =
      attempt === undefined || task.state !== 'in_progress'
        ? task.state
        : `${attempt.state} ${attempt.state === 'sent' ? 'to' : 'by'} ${attempt.workerId}`
    if (!told.has(state)) onState(state)
    told.add(state)
    return false
  }
  const linking = new AbortController()
  void room.store.link(linking.signal)
  try {
    const from = room.store.read((rows) => rows.head())
    if (isOver()) return
    for await (const { puts } of room.store.follow(from, signal))
      if (puts.some((put) => 'row' in put && put.row['task_id'] === taskId) && isOver()) return
  } finally {
    linking.abort()
  }
}
