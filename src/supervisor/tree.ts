// The process tree of a session, also those that left its group or its session: found by parent, session, environment and terminal.
import { TREE_PROCESSES_MAX } from '../limits.ts'
import {
  allProcesses,
  childrenOf,
  type FileId,
  hasAsStream,
  hasInEnvironment,
  isSame,
  type ProcessId,
  type ProcessStat,
  readStat,
} from '../processes.ts'
import { SUPERVISOR_VARIABLE } from './handover.ts'

/** In the environment of the child and so, unless they clear it, of all its descendants. */
export const KEY_VARIABLE = 'HEIMDALL_SESSION_KEY'

export interface TreeRoot {
  /** Undefined when its supervisor died before it could say: the key alone has to do. */
  readonly child: ProcessId | undefined
  readonly key: string | undefined
  /** The child's side of the terminal, while it is held open: without that, another terminal may have got its number. */
  readonly terminal?: FileId
}

export class ProcessTree {
  readonly #root: TreeRoot
  /** Everyone ever seen below the child: whoever is adopted by init later is still known. */
  readonly #seen = new Map<number, ProcessId>()

  constructor(root: TreeRoot) {
    this.#root = root
    if (root.child !== undefined) this.#seen.set(root.child.pid, root.child)
  }

  /** Walks down from those that are known, which costs as much as the tree is large. To be called now and then. */
  look(): void {
    for (const [pid, known] of this.#seen) if (pid !== this.#root.child?.pid && !isSame(known)) this.#seen.delete(pid)
    const queue = [...this.#seen.keys()]
    for (let pid = queue.pop(); pid !== undefined; pid = queue.pop())
      for (const child of childrenOf(pid)) if (this.#note(child)) queue.push(child)
  }

  /** Everyone alive who belongs to the tree, the child included, from a look at all processes. */
  members(): ProcessStat[] {
    this.look()
    const { child, key } = this.#root
    const processes = allProcesses().filter((one) => !one.isZombie)
    // A session number is not given out again while anyone is in it; only a new leader of that number voids it.
    const leader = processes.find((one) => one.pid === child?.pid)
    const isSessionOurs = child !== undefined && (leader === undefined || leader.startTicks === child.startTicks)
    const found = new Set(
      processes
        .filter(
          (one) =>
            this.#isKnown(one) ||
            (isSessionOurs && one.session === child.pid) ||
            carries(one.pid, key) ||
            this.#isLeftOver(one),
        )
        .filter((one) => !isSupervisor(one.pid))
        .map((one) => one.pid),
    )
    for (let size = -1; size !== found.size;) {
      size = found.size
      for (const one of processes)
        if (!found.has(one.pid) && found.has(one.ppid) && !isSupervisor(one.pid)) found.add(one.pid)
    }
    return processes.filter((one) => found.has(one.pid))
  }

  #isKnown(stat: ProcessStat): boolean {
    return this.#seen.get(stat.pid)?.startTicks === stat.startTicks
  }

  /** No terminal of its own, ours as a standard stream, and younger than the child: whoever did that came from here. */
  #isLeftOver({ pid, ttyNr, startTicks }: ProcessStat): boolean {
    const { child, terminal } = this.#root
    if (terminal === undefined || child === undefined || pid === process.pid) return false
    return ttyNr === 0 && startTicks >= child.startTicks && hasAsStream(pid, terminal)
  }

  #note(pid: number): boolean {
    if (this.#seen.has(pid) || this.#seen.size >= TREE_PROCESSES_MAX || isSupervisor(pid)) return false
    const stat = readStat(pid)
    if (stat === undefined) return false
    this.#seen.set(pid, { pid, startTicks: stat.startTicks })
    return true
  }
}

/** A session started from inside this one is somebody's own session; it ends on its own terms. */
const isSupervisor = (pid: number): boolean => hasInEnvironment(pid, `${SUPERVISOR_VARIABLE}=`)

const carries = (pid: number, key: string | undefined): boolean =>
  key !== undefined && pid !== process.pid && hasInEnvironment(pid, `${KEY_VARIABLE}=${key}\0`)
