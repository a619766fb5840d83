// All that came of a process, also those that left its group or its session: found by parent, session, environment and terminal.
import type { Clock, Timer } from './clock.ts'
import { HeimdallError } from './errors.ts'
import { TREE_PROCESSES_MAX } from './limits.ts'
import type { FileId, ProcessId, ProcessStat, ProcessTable } from './process-table.ts'
import { isSame, isSameStart, isStartedAfter, lookAside, lookAtProcesses, scanMs } from './processes.ts'

export interface TreeRoot {
  /** Undefined when whoever started it died before it could say: the mark alone has to do. */
  readonly child: ProcessId | undefined
  /** `NAME=value` in the environment of the child and so, unless they clear it, of all its descendants. */
  readonly mark: string | undefined
  /** The child's side of the terminal, while it is held open: without that, another terminal may have got its number. */
  readonly terminal?: FileId
  /** Came from the child, but belongs to somebody else. */
  readonly isForeign?: (table: ProcessTable, pid: number) => boolean
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
  look(table: ProcessTable = lookAtProcesses()): void {
    // Also the child: below a number that has gone to another process are that one's children.
    for (const [pid, known] of this.#seen) if (!isSame(known, table)) this.#seen.delete(pid)
    const queue = [...this.#seen.keys()]
    for (let pid = queue.pop(); pid !== undefined; pid = queue.pop())
      for (const child of table.childrenOf(pid)) if (this.#note(child, table)) queue.push(child)
  }

  /** Looks now and then until `cancel`, without holding anyone up; `looked` is told of each look. */
  watch(clock: Clock, note: (problem: string) => void, looked?: (table: ProcessTable) => void): Timer {
    let isWatching = true
    let timer: Timer
    const arm = (): void => {
      timer = clock.after(scanMs(), () => void watched(), { background: true })
    }
    const watched = async (): Promise<void> => {
      try {
        const table = await lookAside()
        this.look(table)
        looked?.(table)
      } catch (error) {
        if (!(error instanceof HeimdallError)) throw error
        note(error.message)
      }
      if (isWatching) arm()
    }
    arm()
    return {
      cancel: () => {
        isWatching = false
        timer.cancel()
      },
    }
  }

  /** Everyone seen so far who was alive at the last look, the child included. */
  get known(): readonly ProcessId[] {
    return [...this.#seen.values()]
  }

  /** Everyone alive who belongs to the tree, the child included, from a look at all processes. */
  members(table: ProcessTable = lookAtProcesses()): ProcessStat[] {
    this.look(table)
    const { child } = this.#root
    const processes = table.all().filter((one) => !one.isZombie)
    // The number of a session or a group is not given out again while anyone is in it; only a new leader of that
    // number voids it.
    const leader = processes.find((one) => one.pid === child?.pid)
    const areNumbersOurs = child !== undefined && (leader === undefined || isSameStart(leader, child))
    const found = new Set(
      processes
        .filter(
          (one) =>
            this.#isKnown(one) ||
            (areNumbersOurs && (one.session === child.pid || one.pgrp === child.pid)) ||
            this.#isMarked(table, one.pid) ||
            this.#isLeftOver(table, one),
        )
        .filter((one) => !this.#isForeign(table, one.pid))
        .map((one) => one.pid),
    )
    for (let size = -1; size !== found.size;) {
      size = found.size
      for (const one of processes)
        if (!found.has(one.pid) && found.has(one.ppid) && !this.#isForeign(table, one.pid)) found.add(one.pid)
    }
    return processes.filter((one) => found.has(one.pid))
  }

  #isForeign(table: ProcessTable, pid: number): boolean {
    return this.#root.isForeign?.(table, pid) ?? false
  }

  #isMarked(table: ProcessTable, pid: number): boolean {
    const { mark } = this.#root
    return mark !== undefined && pid !== process.pid && table.hasInEnvironment(pid, `${mark}\0`)
  }

  #isKnown(stat: ProcessStat): boolean {
    const known = this.#seen.get(stat.pid)
    return known !== undefined && isSameStart(known, stat)
  }

  /** No terminal of its own, ours as a standard stream, and younger than the child: whoever did that came from here. */
  #isLeftOver(table: ProcessTable, one: ProcessStat): boolean {
    const { child, terminal } = this.#root
    if (terminal === undefined || child === undefined || one.pid === process.pid) return false
    return one.ttyNr === 0 && isStartedAfter(one, child) && table.hasAsStream(one.pid, terminal)
  }

  #note(pid: number, table: ProcessTable): boolean {
    if (this.#seen.has(pid) || this.#seen.size >= TREE_PROCESSES_MAX || this.#isForeign(table, pid)) return false
    const stat = table.stat(pid)
    if (stat === undefined) return false
    this.#seen.set(pid, { pid, startTicks: stat.startTicks })
    return true
  }
}
