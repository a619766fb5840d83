// Which runs belong to the project of the page: the records of all projects are in one folder.
import { join } from 'node:path'
import type { Env, Project } from '../../paths.ts'
import { firstEvent, originOf, Repositories } from '../../runs/run-project.ts'

export interface RunProjectOptions {
  readonly runsDir: string
  readonly project: Project
  readonly env: Env
  /** HAID of the project on this machine, without a role. */
  readonly rootHaid: string | undefined
}

/** The origin of a run does not change, so each record is read once. */
export class RunsOfProject {
  readonly #options: RunProjectOptions
  readonly #repositories: Repositories
  readonly #known = new Map<string, boolean>()

  constructor(options: RunProjectOptions) {
    this.#options = options
    this.#repositories = new Repositories(options.env)
  }

  has(record: string): boolean {
    const known = this.#known.get(record)
    if (known !== undefined) return known
    const { runsDir, project, rootHaid } = this.#options
    const first = firstEvent(join(runsDir, record))
    // Nothing is written yet: it is read again at the next call.
    if (first === undefined) return false
    const isOurs = this.#repositories.isOf(originOf(first), project, rootHaid)
    this.#known.set(record, isOurs)
    return isOurs
  }
}
