// Which runs are a project's: records of all projects lie in one folder, and each says in its first line where it was made.
import { join } from 'node:path'
import { rootOf } from '../../coordination/who/haid.ts'
import { type Env, findProjectIfThere, type Project } from '../../paths.ts'
import { RecordReader } from '../../runs/record-reader.ts'

export interface RunProjectOptions {
  readonly runsDir: string
  readonly project: Project
  readonly env: Env
  /** HAID of the project on this machine, without a role. */
  readonly rootHaid: string | undefined
}

/** Where a run was made does not change, so each record is looked into once. */
export class RunsOfProject {
  readonly #options: RunProjectOptions
  readonly #known = new Map<string, boolean>()

  constructor(options: RunProjectOptions) {
    this.#options = options
  }

  has(record: string): boolean {
    const known = this.#known.get(record)
    if (known !== undefined) return known
    const first = firstEvent(join(this.#options.runsDir, record))
    // Nothing was written yet: it is asked again.
    if (first === undefined) return false
    const isOurs = this.#isOurs(first)
    this.#known.set(record, isOurs)
    return isOurs
  }

  #isOurs(event: Readonly<Record<string, unknown>>): boolean {
    const { project, env, rootHaid } = this.#options
    const { haid, workload } = event
    if (typeof haid === 'string' && rootHaid !== undefined && rootOf(haid) === rootOf(rootHaid)) return true
    const path =
      typeof workload === 'object' && workload !== null && 'repo_path' in workload ? workload.repo_path : undefined
    return typeof path === 'string' && findProjectIfThere(path, env)?.coordinationDir === project.coordinationDir
  }
}

export function firstEvent(runDir: string): Readonly<Record<string, unknown>> | undefined {
  const reader = new RecordReader(runDir, 0)
  try {
    const lines = reader.read()
    return lines === 'gone' ? undefined : lines[0]?.event
  } finally {
    reader.close()
  }
}
