// Handles the files of several hosts one by one: a failure in one does not stop the others.
import { HeimdallError } from '../errors.ts'
import type { ConfigFile } from '../hosts/config-files.ts'
import type { HostName } from '../hosts/host-table.ts'
import type { Context } from './command.ts'
import { exitOf } from './manners.ts'

interface FailedFile {
  readonly host: HostName
  readonly path: string
  readonly error: HeimdallError
}

export class EachFile {
  readonly #failed: FailedFile[] = []

  /** The results, without files that have failed before. If there is only one file, its failure is that of the command. */
  async run<T>(
    files: readonly ConfigFile[],
    attempt: (file: ConfigFile) => Promise<T | undefined> | T | undefined,
  ): Promise<T[]> {
    const done: T[] = []
    for (const file of files) {
      if (this.#failed.some(({ host, path }) => host === file.host && path === file.path)) continue
      try {
        const one = await attempt(file)
        if (one !== undefined) done.push(one)
      } catch (error) {
        if (!(error instanceof HeimdallError) || error.code === 'INTERNAL' || files.length === 1) throw error
        this.#failed.push({ host: file.host, path: file.path, error })
      }
    }
    return done
  }

  /** Prints the failures; the exit code is that of the first. */
  outcome({ note, calledAs, isSeedName }: Context): { failed: object[]; exit?: number } {
    for (const { error } of this.#failed)
      note(`error: ${error.message}${error.hint === undefined ? '' : `\nhint: ${error.hint}`}`)
    const failed = this.#failed.map(({ host, path, error: { code, message, hint, details } }) => ({
      host,
      path,
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
      ...details,
    }))
    const [first] = this.#failed
    return first === undefined ? { failed } : { failed, exit: exitOf(first.error, calledAs, isSeedName) }
  }
}
