// A worker that is told to stop stays for what it has taken; told once more, it ends that.
import type { RunningWorker } from '../../../dispatch/a2a/start-worker.ts'
import type { Assignment } from '../../../coordination/dispatched.ts'
import { parseDispatch } from '../../../dispatch/messages.ts'
import { untilSignal } from '../../until-signal.ts'

/** Resolves when nothing that it has taken is left. A third signal is the system's: what runs then goes on, and the next start finds it. */
export async function drained(
  { desk, drain }: Pick<RunningWorker, 'desk' | 'drain'>,
  workerId: string,
  note: (line: string) => void,
): Promise<void> {
  const again = untilSignal()
  try {
    // Said and decided before anything is waited for: whoever stops it looks at the terminal now.
    desk.drain()
    const open = desk.open()
    if (open.length > 0)
      note(
        `${workerId} takes no more tasks, and ends with ${open.map(withDeadline).join(', ')}; once more (Ctrl-C) ends ${open.length === 1 ? 'it' : 'them'} now`,
      )
    const settled = Promise.all([open.length === 0 ? undefined : drain(), desk.settled()])
    const isAgain = await Promise.race([settled.then(() => false), again.told.then(() => true)])
    again.over()
    if (isAgain) await desk.stop()
    await settled
  } finally {
    again.over()
  }
}

function withDeadline({ taskId, contract }: Assignment): string {
  const { deadline } = parseDispatch(JSON.parse(contract))
  return deadline === null ? taskId : `${taskId} (at the latest at ${deadline})`
}
