// Which process trees have written anything since a moment, by the kernel's own count: what has not, has not written this file either.
import { setImmediate } from 'node:timers/promises'
import { WATCH_MARK_MS } from '../../limits.ts'
import type { ProcessTable } from '../../process-table.ts'
import type { ProcessTree } from '../../process-tree.ts'
import { isSame, lookAtProcesses } from '../../processes.ts'
import { sessionTree } from '../../session-tree.ts'
import type { Moment } from '../moment.ts'
import { processIdOf, type ProcessRef } from '../who/process-ref.ts'

/** Bytes by process; nothing for one that the system does not tell of. */
type Counts = ReadonlyMap<string, number | undefined>

/** How much some trees had written at a moment. */
export interface Sample {
  readonly wallMs: number
  readonly counts: ReadonlyMap<ProcessRef, Counts>
}

export const NO_SAMPLE: Sample = { wallMs: -Infinity, counts: new Map() }

/** What was counted of a tree, and when it was last looked who belongs to it. */
interface Counted {
  readonly counts: Counts
  readonly lookedMs: number
}

export class TreeWrites {
  #trees = new Map<ProcessRef, ProcessTree>()
  #counted = new Map<ProcessRef, Counted>()

  /** From now on it is these trees that are known. Of the agent's own it is seen each time who belongs to it: in doubt it has written nothing, and the others have. */
  sample(own: ProcessRef, others: ReadonlySet<ProcessRef>, now: Pick<Moment, 'wallMs' | 'monoMs'>): Sample {
    const table = lookAtProcesses()
    const refs = new Set([own, ...others])
    for (const ref of this.#trees.keys()) if (!refs.has(ref)) this.#trees.delete(ref)
    const counted = [...refs].flatMap((ref) => {
      const tree = this.#treeOf(ref)
      if (tree === undefined) return []
      const before = ref === own ? undefined : this.#counted.get(ref)
      const isQuiet = before !== undefined && now.monoMs - before.lookedMs < WATCH_MARK_MS && isUnchanged(before, table)
      return [[ref, isQuiet ? before : { counts: countsOf(tree, table), lookedMs: now.monoMs }] as const]
    })
    this.#counted = new Map(counted)
    return { wallMs: now.wallMs, counts: new Map(counted.map(([ref, { counts }]) => [ref, counts])) }
  }

  /**
   * Nothing where that is not known. With `besides`, of all but its first process: a host draws all the time, and the
   * commands that it runs are others.
   */
  hasWritten(ref: ProcessRef, since: Sample, besides: 'nobody' | 'first'): boolean | undefined {
    const before = since.counts.get(ref)
    const tree = this.#treeOf(ref)
    if (before === undefined || tree === undefined) return undefined
    const counts = countsOf(tree, lookAtProcesses())
    if ([...counts.values(), ...before.values()].includes(undefined)) return undefined
    if (besides === 'nobody') return sum(counts) !== sum(before)
    const first = keyOf(processIdOf(ref))
    // What one that has ended had written is its parent's by now: it may have been more than was seen.
    const names = [...counts.keys(), ...before.keys()].filter((name) => name !== first)
    return names.some((name) => counts.get(name) !== (before.get(name) ?? 0))
  }

  /**
   * Someone of the tree has the file open to write to it. To be asked before `hasWritten`: the system tells of a write
   * before it counts it, and until then the file is open.
   */
  isWriting(ref: ProcessRef, path: string): boolean {
    const table = lookAtProcesses()
    const tree = this.#treeOf(ref)
    tree?.look(table)
    return tree?.known.some(({ pid }) => table.hasOpenToWrite(pid, path)) === true
  }

  /** Whether the process is one of the tree. */
  isMember(ref: ProcessRef, pid: number): boolean {
    return this.#trees.get(ref)?.known.some((one) => one.pid === pid) === true
  }

  #treeOf(ref: ProcessRef): ProcessTree | undefined {
    const known = this.#trees.get(ref)
    const child = processIdOf(ref)
    if (known !== undefined || child === undefined) return known
    const tree = sessionTree({ child, key: undefined })
    this.#trees.set(ref, tree)
    return tree
  }
}

/** Whatever was written before this was called has been heard of when it resolves: events are handed out between two turns of the loop, and the first may have begun before. */
export async function allHeard(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

function countsOf(tree: ProcessTree, table: ProcessTable): Counts {
  tree.look(table)
  // Among them are those that have ended and that their parent has not noticed yet: until then the count is theirs.
  const counts = tree.known.map((one) => [keyOf(one), table.bytesWritten(one.pid), one] as const)
  // One that has ended in between is no longer there; its count is its parent's.
  return new Map(
    counts.filter(([, bytes, one]) => bytes !== undefined || isSame(one, table)).map(([key, bytes]) => [key, bytes]),
  )
}

/**
 * Nobody in it has written, which is most of a fleet most of the time: one read for each process, where a look at the
 * tree takes seven. A process that came since then and has not been looked at is missing, as it would be in a count of
 * the moment before it came: it makes its tree one that may have written.
 */
const isUnchanged = ({ counts }: Counted, table: ProcessTable): boolean =>
  [...counts].every(([key, bytes]) => bytes !== undefined && table.bytesWritten(Number.parseInt(key, 10)) === bytes)

const keyOf = (one: { readonly pid: number; readonly startTicks: number } | undefined): string =>
  one === undefined ? '' : `${one.pid} ${one.startTicks}`

const sum = (counts: Counts): number => [...counts.values()].reduce<number>((all, bytes) => all + (bytes ?? 0), 0)
