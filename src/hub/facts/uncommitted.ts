// How many files are not committed in the folders that agents work in: asked of git now and then, while somebody looks.
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { HUB_UNCOMMITTED_MS } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import { isOurs } from './changes.ts'
import { fieldsOf, git, gitIn } from '../../spine/worktrees/git.ts'

interface Counted {
  readonly atMs: number
  readonly count: number | null
}

export class Uncommitted {
  readonly #env: Env
  readonly #clock: Clock
  readonly #counted = new Map<string, Counted>()

  constructor(env: Env, clock: Clock) {
    this.#env = env
    this.#clock = clock
  }

  /** As it is known; folders of which that is too old are asked about, one after the other. */
  async in(folders: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const wanted = [...new Set(folders)]
    for (const known of this.#counted.keys()) if (!wanted.includes(known)) this.#counted.delete(known)
    const nowMs = this.#clock.monoMs()
    for (const folder of wanted) {
      const known = this.#counted.get(folder)
      if (known !== undefined && nowMs - known.atMs < HUB_UNCOMMITTED_MS) continue
      this.#counted.set(folder, { atMs: nowMs, count: await this.#count(folder) })
    }
    return new Map([...this.#counted].flatMap(([folder, { count }]) => (count === null ? [] : [[folder, count]])))
  }

  /** Null where git has nothing to say. No lock is taken: whoever works there is not to wait for us. */
  async #count(folder: string): Promise<number | null> {
    const args = ['--no-optional-locks', 'status', '--porcelain', '-z', '--no-renames', '--untracked-files=all']
    try {
      const { code, stdout } = await git(gitIn(folder, this.#env), args, { answers: [128] })
      return code === 0 ? fieldsOf(stdout).filter((field) => !isOurs(field.slice(3))).length : null
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      return null
    }
  }
}
