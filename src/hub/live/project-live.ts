// A project as it changes, for as many as look at it: watched while somebody does, and not at all while nobody does.
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { HUB_PICTURE_MS } from '../../limits.ts'
import type { RunsOfProject } from '../facts/run-project.ts'
import type { ProjectRoom } from '../project-room.ts'
import type { Screens } from '../terminals/screens.ts'
import { ringBells } from './bells.ts'
import { type Picture, Pictures } from './picture.ts'

export interface Looker {
  readonly onPicture: (picture: Picture) => void
  /** Looking has failed for good, which is a bug. */
  readonly onFailure: (error: unknown) => void
}

export class ProjectLive {
  readonly room: ProjectRoom
  readonly #clock: Clock
  readonly #pictures: Pictures
  readonly #lookers = new Set<Looker>()
  #watching: AbortController | undefined
  #last: Picture | undefined
  #taken: { readonly atMs: number; readonly picture: Promise<Picture> } | undefined

  constructor(room: ProjectRoom, clock: Clock, screens: Screens, runs: RunsOfProject) {
    this.room = room
    this.#clock = clock
    this.#pictures = new Pictures(room, screens, runs)
  }

  /** As it is now: those who ask at the same time get the same. */
  now(): Promise<Picture> {
    const nowMs = this.#clock.monoMs()
    const taken = this.#taken
    return taken !== undefined && nowMs - taken.atMs < HUB_PICTURE_MS ? taken.picture : this.#take(nowMs)
  }

  /** Something was done through us: who asks next sees it. */
  forget(): void {
    this.#taken = undefined
  }

  #take(atMs: number): Promise<Picture> {
    const picture = this.#pictures.take()
    this.#taken = { atMs, picture }
    // A look that has failed is nobody's answer but of those who wait for it.
    picture.catch(() => (this.#taken = undefined))
    return picture
  }

  /** Nothing where what is looked at went away in the middle of it: the next look tells of that. */
  async #tried(): Promise<Picture | undefined> {
    try {
      return await this.#take(this.#clock.monoMs())
    } catch (error) {
      if (error instanceof HeimdallError) return undefined
      throw error
    }
  }

  /** Tells of every picture from now on, the one that is known already first; returns how to stop. */
  look(looker: Looker): () => void {
    this.#lookers.add(looker)
    if (this.#last !== undefined && this.#watching !== undefined) looker.onPicture(this.#last)
    this.#watching ??= this.#start()
    return () => {
      this.#lookers.delete(looker)
      if (this.#lookers.size > 0) return
      this.#watching?.abort()
      this.#watching = undefined
      this.#last = undefined
    }
  }

  close(): void {
    this.#watching?.abort()
    this.room.close()
  }

  #start(): AbortController {
    const over = new AbortController()
    ringBells({
      options: this.room.fleetOptions,
      clock: this.#clock,
      signal: over.signal,
      onRing: async () => {
        const picture = await this.#tried()
        if (picture === undefined || over.signal.aborted) return
        this.#last = picture
        for (const { onPicture } of this.#lookers) onPicture(picture)
      },
    }).catch((error: unknown) => {
      // Whoever looks next begins anew.
      if (this.#watching === over) this.#watching = undefined
      for (const { onFailure } of this.#lookers) onFailure(error)
    })
    return over
  }
}
