// Which repository a run belongs to: its first event records the agent's HAID and the folder of the checkout.
import { basename, dirname } from 'node:path'
import { type Env, findProjectIfThere, type Project } from '../paths.ts'
import { isObject } from '../plain-object.ts'
import { RecordReader } from './record-reader.ts'

export interface RunOrigin {
  readonly haid: string | null
  /** Top folder of the checkout or worktree that the run was started in. */
  readonly repoPath: string | null
}

export function originOf(event: object | undefined): RunOrigin {
  const { haid, workload } = (event ?? {}) as { readonly haid?: unknown; readonly workload?: unknown }
  const path = isObject(workload) ? workload['repo_path'] : undefined
  return { haid: typeof haid === 'string' ? haid : null, repoPath: typeof path === 'string' ? path : null }
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

/** Folders are looked up once: origins repeat. */
export class Repositories {
  readonly #env: Env
  readonly #projects = new Map<string, Project | undefined>()

  constructor(env: Env) {
    this.#env = env
  }

  /** A HAID identifies the repository on this machine, also where the worktree of the run was removed. */
  isOf({ haid, repoPath }: RunOrigin, project: Project, rootHaid: string | undefined): boolean {
    if (haid !== null && rootHaid !== undefined && rootIn(haid) === rootIn(rootHaid)) return true
    return repoPath !== null && this.#projectAt(repoPath)?.coordinationDir === project.coordinationDir
  }

  /** The main checkout of the run's repository; the recorded folder where that is gone. */
  pathOf({ repoPath }: RunOrigin): string | null {
    const common = repoPath === null ? undefined : this.#projectAt(repoPath)?.gitCommonDir
    return common !== undefined && basename(common) === '.git' ? dirname(common) : repoPath
  }

  #projectAt(path: string): Project | undefined {
    if (!this.#projects.has(path)) this.#projects.set(path, findProjectIfThere(path, this.#env))
    return this.#projects.get(path)
  }
}

/** `haid:ana.box-1f2e` of `haid:ana.box-1f2e/amber-otter`. */
const rootIn = (haid: string): string => haid.split('/')[0] ?? ''
