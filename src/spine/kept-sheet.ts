// The sheet of a run in the hands of the watcher, which alone changes it: the run as it stands now.
import { join } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { type KeptRun, removeSheet, runsDirOfSheet, writeSheet } from './kept-run.ts'

export class KeptSheet {
  readonly runsDir: string
  /** Where the record is. */
  readonly runDir: string
  readonly #path: string
  readonly #note: (line: string) => void
  #run: KeptRun

  constructor(path: string, run: KeptRun, note: (line: string) => void) {
    this.#path = path
    this.#run = run
    this.#note = note
    this.runsDir = runsDirOfSheet(path)
    this.runDir = join(this.runsDir, run.folder)
  }

  get run(): KeptRun {
    return this.#run
  }

  /** What others read of this run while it goes on. A sheet that cannot be written is behind, and the record has it all. */
  put(more: Partial<KeptRun>): void {
    this.#run = { ...this.#run, ...more }
    try {
      writeSheet(this.#path, this.#run)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.#note(error.message)
    }
  }

  remove(): void {
    removeSheet(this.#path)
  }
}
