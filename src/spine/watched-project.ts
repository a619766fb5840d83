// A repository as the watcher has it, shared by all of its runs: its store, opened when it is needed, and its place on the disk.
import type { Clock } from '../clock.ts'
import { openCoordination } from '../coordination/coordination.ts'
import { ResidentRoom } from '../coordination/resident-room.ts'
import { fleetDoor } from '../fleet/door.ts'
import { HeimdallError } from '../errors.ts'
import { WATCHER_BUSY_MS } from '../limits.ts'
import type { Env, Project } from '../paths.ts'
import { HeldPlace } from './place-held.ts'

interface ProjectParts {
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
}

export class WatchedProject {
  readonly room: ResidentRoom
  readonly place: HeldPlace
  readonly #project: Project
  readonly #over = new AbortController()
  readonly #closed: () => void
  /** Runs that use it. */
  #users = 0

  constructor(project: Project, { env, clock, note }: ProjectParts, closed: () => void) {
    this.#project = project
    this.#closed = closed
    this.place = new HeldPlace(project)
    this.room = new ResidentRoom(
      () => {
        this.refuseGone()
        const room = openCoordination({ project, env, clock, fleet: fleetDoor, busyMs: WATCHER_BUSY_MS })
        // In a fleet this machine's copy follows the log for as long as a run goes on.
        void room.store.link(this.#over.signal)
        return room
      },
      (why) => note(`${project.root}: coordination: ${why}`),
      { clock, signal: this.#over.signal },
    )
  }

  use(): this {
    this.#users += 1
    return this
  }

  /** The last run that used it closes it. */
  release(): void {
    this.#users -= 1
    if (this.#users === 0) this.close()
  }

  /** A repository that was removed is not created again, with nothing in it but our store. */
  refuseGone(): void {
    if (this.place.isGone)
      throw new HeimdallError('FOLDER_GONE', `${this.#project.root} was removed or moved away under the run`)
  }

  close(): void {
    this.#over.abort()
    this.room.close()
    this.place.close()
    this.#closed()
  }
}

export class WatchedProjects {
  readonly #parts: ProjectParts
  readonly #open = new Map<string, WatchedProject>()

  constructor(parts: ProjectParts) {
    this.#parts = parts
  }

  /** Opened for the first run of a repository; `env` is that of the run. */
  use(project: Project, env: Env): WatchedProject {
    const key = `${project.planningDir}\0${project.root}`
    let found = this.#open.get(key)
    if (found === undefined) {
      found = new WatchedProject(project, { ...this.#parts, env }, () => this.#open.delete(key))
      this.#open.set(key, found)
    }
    return found.use()
  }

  close(): void {
    for (const project of this.#open.values()) project.close()
  }
}
