// Ending a session: SIGTERM, SIGHUP, SIGKILL in their time, and then whoever of the tree is still there.
import { type Clock, pause, type Timer } from '../clock.ts'
import { KILL_HANGUP_MS } from '../limits.ts'
import { sendSignal } from './signals.ts'
import type { ProcessTree } from './tree.ts'

/** How a session's child ended. */
export interface SessionEnd {
  readonly code: number
  readonly signal: number | null
  readonly reason: 'exit' | 'kill'
}

export interface EndingTarget {
  readonly pid: number
  /** Signals go to the group, and what left it is swept; otherwise the child alone is meant. */
  readonly wholeTree: boolean
  readonly graceMs: number
}

/** Escalates until `cancel`, which the child's end calls for. */
export function endChild(target: EndingTarget, tree: ProcessTree, clock: Clock): Timer {
  const signal = (name: NodeJS.Signals): void => {
    const address = target.wholeTree ? -target.pid : target.pid
    sendSignal(address, name)
    // A stopped process acts on a signal only when it goes on.
    sendSignal(address, 'SIGCONT')
  }
  signal('SIGTERM')
  const timers = [
    // An interactive shell ignores SIGTERM, but ends on SIGHUP and passes it on to its jobs.
    clock.after(Math.min(KILL_HANGUP_MS, target.graceMs), () => signal('SIGHUP')),
    clock.after(target.graceMs, () => {
      signal('SIGKILL')
      if (target.wholeTree) for (const { pid } of tree.members()) sendSignal(pid, 'SIGKILL')
    }),
  ]
  return { cancel: () => timers.forEach((timer) => timer.cancel()) }
}

const LOOK_MS = { first: 10, last: 100 }
/** After SIGKILL a process goes as soon as the kernel lets it; one that hangs in the kernel is nobody's to end. */
const KILL_ROUNDS_MAX = 100

/** Ends what is left of the tree after the child: asked first, then not. Resolves with how many there were. */
export async function sweep(tree: ProcessTree, graceMs: number, clock: Clock): Promise<number> {
  const asked = new Set<number>()
  const deadlineMs = clock.monoMs() + graceMs
  let pauseMs = LOOK_MS.first
  let rounds = 0
  for (let left = tree.members(); left.length > 0 && rounds < KILL_ROUNDS_MAX; left = tree.members()) {
    const isOverdue = clock.monoMs() >= deadlineMs
    if (isOverdue) rounds += 1
    for (const { pid } of left) {
      if (isOverdue) sendSignal(pid, 'SIGKILL')
      else if (!asked.has(pid)) {
        sendSignal(pid, 'SIGTERM')
        sendSignal(pid, 'SIGHUP')
        sendSignal(pid, 'SIGCONT')
      }
      asked.add(pid)
    }
    await pause(clock, pauseMs)
    pauseMs = Math.min(LOOK_MS.last, pauseMs * 2)
  }
  return asked.size
}
