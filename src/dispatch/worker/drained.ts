// Stops a worker: it takes no more tasks and finishes those it has; a second signal ends them.
import type { Assignment } from '../../coordination/dispatched.ts'
import type { RunningWorker } from '../a2a/start-worker.ts'
import { parseDispatch } from '../messages.ts'

/** Resolves when no task is left; `again` ends the open ones. What still runs when the process dies is found by the next start. */
export async function drained(
  { desk, drain }: Pick<RunningWorker, 'desk' | 'drain'>,
  workerId: string,
  again: Promise<void>,
  note: (line: string) => void,
): Promise<void> {
  // Printed before anything is awaited: the user is looking at the terminal now.
  desk.drain()
  const open = desk.open()
  if (open.length > 0)
    note(
      `${workerId} takes no more tasks and finishes ${open.map(withDeadline).join(', ')}; Ctrl-C again ends ${open.length === 1 ? 'it' : 'them'} now`,
    )
  const settled = Promise.all([open.length === 0 ? undefined : drain(), desk.settled()])
  if (await Promise.race([settled.then(() => false), again.then(() => true)])) await desk.stop()
  await settled
}

function withDeadline({ taskId, contract }: Assignment): string {
  const { deadline } = parseDispatch(JSON.parse(contract))
  return deadline === null ? taskId : `${taskId} (deadline ${deadline})`
}
