// The place of a repository by what the kernel knows: whoever holds a folder open is told where it was moved to, and that it was removed.
import { closeSync, fstatSync, openSync, readlinkSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isErrno } from '../errors.ts'
import { type Env, findProject, type Project } from '../paths.ts'

export class HeldPlace {
  readonly #project: Project
  #folder: number | undefined

  constructor(project: Project) {
    this.#project = project
    this.#folder = opened(anchorOf(project))
  }

  /** It is no longer where it was. */
  get isGone(): boolean {
    return identityAt(anchorOf(this.#project)) === undefined
  }

  /** The same repository in its new place; nothing where it was removed, or never seen. */
  movedTo(env: Env): Project | undefined {
    if (this.#folder === undefined) return undefined
    const place = linkOf(this.#folder)
    const { dev, ino } = fstatSync(this.#folder)
    if (place === undefined || identityAt(place) !== `${dev}:${ino}`) return undefined
    const moved = findProject(this.#project.gitCommonDir === undefined ? place : dirname(place), env)
    // A repository whose folder of git lies apart from its files is not found by going up from there.
    return anchorOf(moved) === place ? moved : undefined
  }

  close(): void {
    if (this.#folder !== undefined) closeSync(this.#folder)
    this.#folder = undefined
  }
}

/** What all of its worktrees share, and its claims lie in. */
const anchorOf = ({ root, gitCommonDir }: Project): string => gitCommonDir ?? root

function opened(path: string): number | undefined {
  return ifThere(() => openSync(path, 'r'))
}

function linkOf(folder: number): string | undefined {
  return ifThere(() => readlinkSync(`/proc/self/fd/${folder}`))
}

function identityAt(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) return undefined
    throw error
  }
}
