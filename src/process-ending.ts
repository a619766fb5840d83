// Ending a tree of processes: everyone is asked once, has the whole grace time, and whoever is left then is killed.
import { type Clock, pause } from './clock.ts'
import { HeimdallError } from './errors.ts'
import type { ProcessStat, ProcessTable } from './process-table.ts'
import { lookAtProcesses } from './processes.ts'
import { isInteractiveShell } from './interactive-shell.ts'
import { sendSignal } from './signals.ts'
import type { ProcessTree } from './process-tree.ts'

export interface EndingTarget {
  readonly tree: ProcessTree
  /** The child, while it has not ended. */
  readonly child: number | undefined
  /** Signals go to the group, and what left it is swept; otherwise the child alone is meant. */
  readonly wholeTree: boolean
  readonly graceMs: number
  readonly clock: Clock
}

const LOOK_MS = { first: 10, last: 100 }
/** After SIGKILL a process goes as soon as the kernel lets it; one that hangs in the kernel is nobody's to end. */
const KILL_ROUNDS_MAX = 100
/** Processes are read one after the other: who starts another and goes meanwhile, or becomes another program, is not seen. */
const EMPTY_LOOKS = 2
/** A process stops when it is next given the processor. */
const STOP_ROUNDS_MAX = 100
const STOP_LOOK_MS = 2

export class Ending {
  readonly #target: EndingTarget
  #child: number | undefined
  #deadlineMs: number | undefined
  #by: string | undefined
  readonly #asked = new Set<number>()
  /** Those who disregarded SIGTERM when they were asked: what they start afterwards is no way to end. */
  readonly #neverListened = new Set<number>()
  readonly #hungUp = new Set<number>()
  /** The child is stopped with SIGTERM waiting for it. */
  #isHeld = false

  constructor(target: EndingTarget) {
    this.#target = target
    this.#child = target.child
  }

  /** Who asked for the end. */
  get by(): string | undefined {
    return this.#by
  }

  /** Goes on by itself until `childEnded`. */
  begin(by: string, onFailure: (error: unknown) => void): void {
    if (this.#by !== undefined) return
    this.#by = by
    this.#deadlineMs = this.#target.clock.monoMs() + this.#target.graceMs
    this.#untilChildEnds().catch(onFailure)
  }

  childEnded(): void {
    this.#child = undefined
    this.#isHeld = false
  }

  /** Ends what is left of the tree after the child, which may have been asked with it. Resolves with how many there were. */
  async sweep(): Promise<number> {
    const { clock, graceMs } = this.#target
    this.#deadlineMs ??= clock.monoMs() + graceMs
    const swept = new Set<number>()
    let pauseMs = LOOK_MS.first
    let rounds = 0
    let empty = 0
    while (empty < EMPTY_LOOKS && rounds < KILL_ROUNDS_MAX) {
      const left = this.#step()
      for (const { pid } of left) swept.add(pid)
      empty = left.length === 0 ? empty + 1 : 0
      if (this.#isOverdue && left.length > 0) rounds += 1
      if (empty < EMPTY_LOOKS) await pause(clock, pauseMs)
      pauseMs = Math.min(LOOK_MS.last, pauseMs * 2)
    }
    return swept.size
  }

  get #isOverdue(): boolean {
    return this.#target.clock.monoMs() >= (this.#deadlineMs ?? Infinity)
  }

  async #untilChildEnds(): Promise<void> {
    const { clock } = this.#target
    // Blind, the group is asked all the same, and in its time it is killed.
    await this.#holdLeader().catch(rethrowUnlessBlind)
    this.#askGroup()
    for (let pauseMs = LOOK_MS.first; this.#child !== undefined; pauseMs = Math.min(LOOK_MS.last, pauseMs * 2)) {
      try {
        this.#step()
      } catch (error) {
        rethrowUnlessBlind(error)
        if (this.#isOverdue) sendSignal(this.#address(this.#child), 'SIGKILL')
      }
      await pause(clock, pauseMs)
    }
  }

  /**
   * The kernel hangs up on the terminal's programs when the leader of its session goes: a shell that runs a program
   * would, by ending at once, take from it the time to end well. Where somebody below has something to do on SIGTERM
   * and the leader has not, the leader is stopped, and goes on to its end when the others have come to theirs.
   */
  async #holdLeader(): Promise<void> {
    const { tree, wholeTree, clock } = this.#target
    const child = this.#child
    if (!wholeTree || child === undefined) return
    const table = lookAtProcesses()
    const treats = (pid: number): string | undefined => table.treatmentOf(pid, 'SIGTERM')
    if (treats(child) !== 'default') return
    if (!tree.members(table).some(({ pid }) => pid !== child && treats(pid) === 'caught')) return
    sendSignal(child, 'SIGSTOP')
    // Until it has stopped, SIGTERM would come first.
    for (let rounds = 0; rounds < STOP_ROUNDS_MAX; rounds += 1) {
      this.#isHeld = lookAtProcesses().stat(child)?.isStopped === true
      if (this.#isHeld) return
      await pause(clock, STOP_LOOK_MS)
    }
  }

  /** As one, so that a parent cannot start anew what a signal has just ended. */
  #askGroup(): void {
    if (this.#child === undefined) return
    const address = this.#address(this.#child)
    sendSignal(address, 'SIGTERM')
    // A stopped process acts on a signal only when it goes on.
    if (!this.#isHeld) sendSignal(address, 'SIGCONT')
  }

  #address(child: number): number {
    return this.#target.wholeTree ? -child : child
  }

  /** One look: asks whoever has not been asked, hangs up on whoever does not listen, and at the deadline kills. */
  #step(): readonly ProcessStat[] {
    const table = lookAtProcesses()
    const left = this.#members(table)
    if (this.#isOverdue) {
      // The child last: with it the terminal hangs up, and nobody is to act on that instead of being gone.
      for (const { pid } of left) if (pid !== this.#child) sendSignal(pid, 'SIGKILL')
      if (this.#child !== undefined) sendSignal(this.#child, 'SIGKILL')
      return left
    }
    const above = ancestry(left)
    // What a process starts after it was asked is how it ends well.
    const isLeftToOthers = ({ pid }: ProcessStat): boolean => above(pid).some((one) => this.#asked.has(one))
    for (const one of left.filter(({ pid }) => !this.#asked.has(pid)).filter((one) => !isLeftToOthers(one)))
      this.#ask(one, table)
    const isDeaf = new Set(
      left.filter(({ pid }) => this.#asked.has(pid) && disregards(table, pid)).map(({ pid }) => pid),
    )
    const goesOn = (pid: number): boolean =>
      disregards(table, pid) && this.#neverListened.has(above(pid).find((one) => this.#asked.has(one)) ?? pid)
    const busy = left.filter(({ pid }) => pid !== this.#heldPid && !isDeaf.has(pid) && !goesOn(pid))
    for (const pid of isDeaf)
      // A shell passes a hang-up on to its jobs, so those come first.
      if (!this.#hungUp.has(pid) && !busy.some((one) => above(one.pid).includes(pid))) {
        sendSignal(pid, 'SIGHUP')
        sendSignal(pid, 'SIGCONT')
        this.#hungUp.add(pid)
      }
    if (this.#heldPid !== undefined && busy.length === 0) {
      sendSignal(this.#heldPid, 'SIGCONT')
      this.#isHeld = false
    }
    return left
  }

  get #heldPid(): number | undefined {
    return this.#isHeld ? this.#child : undefined
  }

  #members(table: ProcessTable): readonly ProcessStat[] {
    const { tree, wholeTree } = this.#target
    if (wholeTree) return tree.members(table)
    const child = this.#child === undefined ? undefined : table.stat(this.#child)
    return child === undefined || child.isZombie ? [] : [child]
  }

  #ask({ pid, pgrp }: ProcessStat, table: ProcessTable): void {
    this.#asked.add(pid)
    if (disregards(table, pid)) this.#neverListened.add(pid)
    const isAskedWithGroup = this.#child !== undefined && (this.#target.wholeTree ? pgrp : pid) === this.#child
    if (!isAskedWithGroup) sendSignal(pid, 'SIGTERM')
    if (pid !== this.#heldPid) sendSignal(pid, 'SIGCONT')
  }
}

/** Whom there is to ask cannot be seen just now. */
function rethrowUnlessBlind(error: unknown): void {
  if (!(error instanceof HeimdallError)) throw error
}

const disregards = (table: ProcessTable, pid: number): boolean =>
  table.treatmentOf(pid, 'SIGTERM') === 'ignored' || isInteractiveShell(table.commandWords(pid))

/** From a pid to those above it, as far as they are in the list. */
function ancestry(processes: readonly ProcessStat[]): (pid: number) => readonly number[] {
  const parents = new Map(processes.map(({ pid, ppid }) => [pid, ppid]))
  return (pid) => {
    const line: number[] = []
    for (
      let one = parents.get(pid);
      one !== undefined && parents.has(one) && !line.includes(one);
      one = parents.get(one)
    )
      line.push(one)
    return line
  }
}
