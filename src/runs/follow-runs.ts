// All records as they grow: what their last events are, and then each line of each run soon after it was written, also of runs that begin later.
import { basename, join } from 'node:path'
import { type Clock, pause } from '../clock.ts'
import { RECORD_BUSY_MS, RECORD_POLL_MS, RUNS_SWEEP_MS, TAIL_BYTES } from '../limits.ts'
import { folderOf } from './open-run.ts'
import { recordOnDisk } from './record-on-disk.ts'
import { type RecordLine, RecordReader } from './record-reader.ts'
import { isRun, runFolders } from './run-folder.ts'
import { firstEvent, originOf, type RunOrigin } from './run-project.ts'
import { recordPath } from './run-log.ts'
import { WatchedFolders } from './watch-folders.ts'
import { namesInIfFolder } from '../storage/folder-names.ts'

export interface FollowingRuns {
  readonly runsDir: string
  /** Only this one, which need not be there yet. */
  readonly run?: string | undefined
  /** Of runs that it says yes to, unless `run` names one. */
  readonly ofOrigin?: ((origin: RunOrigin) => boolean) | undefined
  /** How many of the events that are there come first. */
  readonly last: number
  /** Runs that go on, and the one that was asked for, from their beginning. */
  readonly whole?: boolean
  /** Whether to go on with new ones. */
  readonly follow: boolean
  readonly clock: Clock
  readonly signal?: AbortSignal
}

/** Events of different runs come by time where they are there already, and as they are found where they are new. */
export async function* followRuns(options: FollowingRuns): AsyncGenerator<RecordLine> {
  const followed = new FollowedRuns(options)
  try {
    yield* followed.latest()
    if (!options.follow) return
    yield* followed.next()
  } finally {
    followed.close()
  }
}

class FollowedRuns {
  readonly #options: FollowingRuns
  /** Up to where each record was seen, by the name of its folder. */
  readonly #seen = new Map<string, number>()
  /** Of those that grow. */
  readonly #readers = new Map<string, RecordReader>()
  readonly #wanted = new Map<string, boolean>()
  readonly #changes = new WatchedFolders()
  #sweptMs = -Infinity

  constructor(options: FollowingRuns) {
    this.#options = options
  }

  /** The last events, merged by time. What is not looked into is seen up to where it ends now. */
  *latest(): Generator<RecordLine> {
    const { runsDir, run, last, whole } = this.#options
    let found: RecordLine[] = []
    for (const { runDir, changedMs } of runFolders(runsDir).runs) {
      const name = basename(runDir)
      if (!this.#isWanted(name)) continue
      // What was not seen is read from its beginning.
      if (whole === true && (run !== undefined || this.#isOpen(name))) continue
      const size = recordOnDisk(recordPath(runDir))?.bytes ?? 0
      const [oldest] = found
      // Runs come in the order of their last events: this one has none that belongs among the last.
      const isOlder = found.length >= last && (oldest === undefined || changedMs < timeOf(oldest))
      if (isOlder) {
        this.#seen.set(name, size)
        continue
      }
      const { lines, offset } = readFrom(runDir, Math.max(0, size - TAIL_BYTES))
      this.#seen.set(name, offset)
      found = [...found, ...lines].toSorted((a, b) => timeOf(a) - timeOf(b)).slice(-last)
    }
    yield* found
  }

  async *next(): AsyncGenerator<RecordLine> {
    const { clock, signal } = this.#options
    for (;;) {
      if (signal?.aborted === true) return
      const changed = this.#changes.next()
      this.#lookForRuns()
      let isBusy = false
      let hasSome = false
      for (const [name, reader] of this.#readers) {
        const lines = reader.read()
        if (lines === 'gone') {
          this.#leave(name, 0)
          continue
        }
        isBusy ||= reader.isBusy
        hasSome ||= lines.length > 0
        yield* lines
        if (lines.length === 0 && !reader.isBusy && !this.#isOpen(name)) this.#leave(name, reader.offset)
      }
      const waiting = signal === undefined ? changed : AbortSignal.any([changed, signal])
      if (!hasSome) await pause(clock, isBusy ? RECORD_BUSY_MS : RECORD_POLL_MS, waiting)
    }
  }

  close(): void {
    for (const reader of this.#readers.values()) reader.close()
    this.#changes.close()
  }

  #isWanted(name: string): boolean {
    const { run, runsDir, ofOrigin } = this.#options
    if (run !== undefined) return name === folderOf(run)
    if (ofOrigin === undefined) return true
    const known = this.#wanted.get(name)
    if (known !== undefined) return known
    const first = firstEvent(join(runsDir, name))
    // Nothing is written yet: it is read again at the next sweep.
    if (first === undefined) return false
    const isWanted = ofOrigin(originOf(first))
    this.#wanted.set(name, isWanted)
    return isWanted
  }

  /** Whoever writes has the mark of an open run made first; the rest is looked at now and then. */
  #lookForRuns(): void {
    const { runsDir, clock } = this.#options
    this.#changes.add(runsDir)
    this.#changes.add(join(runsDir, '.open'))
    const names = new Set(namesInIfFolder(join(runsDir, '.open')))
    for (const name of namesInIfFolder(runsDir)) if (!this.#seen.has(name) && !name.startsWith('.')) names.add(name)
    if (clock.monoMs() - this.#sweptMs >= RUNS_SWEEP_MS) {
      this.#sweptMs = clock.monoMs()
      for (const [name, offset] of this.#seen)
        if ((recordOnDisk(recordPath(join(runsDir, name)))?.bytes ?? offset) !== offset) names.add(name)
    }
    for (const name of names)
      if (this.#isWanted(name) && !this.#readers.has(name) && isRun(join(runsDir, name))) this.#follow(name)
  }

  #follow(name: string): void {
    const runDir = join(this.#options.runsDir, name)
    const seen = this.#seen.get(name) ?? 0
    // What was cut, or removed and begun anew, is read from its beginning.
    const from = (recordOnDisk(recordPath(runDir))?.bytes ?? 0) < seen ? 0 : seen
    this.#seen.set(name, from)
    this.#changes.add(runDir)
    this.#readers.set(name, new RecordReader(runDir, from))
  }

  #leave(name: string, offset: number): void {
    this.#readers.get(name)?.close()
    this.#readers.delete(name)
    this.#changes.remove(join(this.#options.runsDir, name))
    this.#seen.set(name, offset)
  }

  #isOpen(name: string): boolean {
    return namesInIfFolder(join(this.#options.runsDir, '.open')).includes(name)
  }
}

function readFrom(runDir: string, from: number): { readonly lines: RecordLine[]; readonly offset: number } {
  const reader = new RecordReader(runDir, from)
  try {
    const lines: RecordLine[] = []
    for (;;) {
      const some = reader.read()
      if (some === 'gone' || some.length === 0) return { lines, offset: reader.offset }
      lines.push(...some)
    }
  } finally {
    reader.close()
  }
}

function timeOf({ event }: RecordLine): number {
  const ms = Date.parse(String(event.ts))
  return Number.isNaN(ms) ? 0 : ms
}
