// One project as the hub has it: where its state lies, its store opened to read, and the way in for changes.
import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import { type Coordination, openCoordinationToRead } from '../coordination/coordination.ts'
import { withRoom } from '../coordination/frame.ts'
import { HeimdallError } from '../errors.ts'
import { fleetDoor } from '../fleet/door.ts'
import type { Project } from '../paths.ts'
import type { Fleet } from '../spine/fleet/fleet.ts'
import { type FleetOptions, lookAtFleet } from '../spine/fleet/look.ts'

export interface ProjectOptions {
  readonly fleet: FleetOptions
  /** One line for whoever sits at the hub's terminal. */
  readonly note: (line: string) => void
}

export class ProjectRoom {
  readonly id: string
  readonly name: string
  readonly root: string
  readonly fleetOptions: FleetOptions
  readonly #note: (line: string) => void
  #open: Coordination | undefined

  constructor({ fleet, note }: ProjectOptions) {
    this.root = homeOf(fleet.project)
    this.name = basename(this.root)
    this.id = idOf(fleet.project)
    this.fleetOptions = fleet
    this.#note = note
  }

  look(): Promise<Fleet> {
    return lookAtFleet(this.fleetOptions)
  }

  /** `otherwise` where nobody has coordinated anything yet. A store that another has taken the place of is opened anew. */
  read<T>(act: (room: Coordination) => T, otherwise: () => T): T {
    const room = this.#room()
    if (room === undefined) return otherwise()
    try {
      return act(room)
    } catch (error) {
      if (!(error instanceof HeimdallError) || error.code !== 'STORE_REPLACED') throw error
      this.close()
      const next = this.#room()
      return next === undefined ? otherwise() : act(next)
    }
  }

  /** For those who follow it for longer: a handle of their own, which they close. */
  openToFollow(): Coordination | undefined {
    return openCoordinationToRead(this.fleetOptions)
  }

  /** With the way to other machines, where the project has one. */
  get changing(): FleetOptions {
    return { ...this.fleetOptions, fleet: fleetDoor }
  }

  change<T>(act: (room: Coordination) => T | Promise<T>): Promise<T> {
    const asking = { env: this.fleetOptions.env, named: undefined, place: undefined }
    return withRoom({ options: this.changing, asking, note: this.#note }, act)
  }

  close(): void {
    this.#open?.store.close()
    this.#open = undefined
  }

  #room(): Coordination | undefined {
    this.#open ??= openCoordinationToRead(this.fleetOptions)
    return this.#open
  }
}

/** Linked worktrees of one repository are one project. */
function homeOf({ root, gitCommonDir }: Project): string {
  return gitCommonDir !== undefined && basename(gitCommonDir) === '.git' ? dirname(gitCommonDir) : root
}

/** The same in every hub, so that an address means the same tomorrow. */
function idOf(project: Project): string {
  const name = basename(homeOf(project)).replaceAll(/[^A-Za-z0-9._-]+/g, '-')
  return `${name}-${createHash('sha256').update(project.coordinationDir).digest('hex').slice(0, 6)}`
}
