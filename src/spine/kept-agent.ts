// The agent of a run as the watcher acts for it in the store: bound to the command, beating, watched in what it writes, released at the end.
import { type Clock, pause } from '../clock.ts'
import { openCoordination } from '../coordination/coordination.ts'
import { publish } from '../coordination/frame.ts'
import { ResidentRoom } from '../coordination/resident-room.ts'
import { WriteWatch } from '../coordination/watch/write-watch.ts'
import { beatFor, bindTo, endFor } from '../coordination/who/kept.ts'
import type { SessionOutcome } from '../coordination/who/outcome.ts'
import { type ProcessRef, processRef } from '../coordination/who/process-ref.ts'
import { fleetDoor } from '../fleet/door.ts'
import { STORE_RETRY_MS, WATCHER_BUSY_MS } from '../limits.ts'
import type { Env } from '../paths.ts'
import { readHolder } from '../sessions/session-files.ts'
import type { KeptRun } from './kept-run.ts'
import type { WatchedProject, WatchedProjects } from './watched-project.ts'

export interface ActWith {
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
  readonly projects: WatchedProjects
}

export class KeptAgent {
  readonly #run: () => KeptRun
  readonly #how: ActWith
  readonly #at: WatchedProject
  #child: ProcessRef | undefined
  #watch: WriteWatch | undefined
  readonly #over = new AbortController()
  #binding: Promise<void> = Promise.resolve()

  constructor(run: () => KeptRun, how: ActWith) {
    this.#run = run
    this.#how = how
    this.#at = how.projects.use(run().project, how.env)
  }

  /** What all of the session descends from; nothing before it is bound. */
  get child(): ProcessRef | undefined {
    return this.#child
  }

  /** What is noticed of the run does not wait for the store. */
  bind(): void {
    const { session } = this.#run()
    const holder = readHolder(session.dir, session.id)
    const child = holder?.supervisorPid === session.supervisor.pid ? processRef(holder.childPid) : undefined
    if (child === undefined) return
    this.#child = child
    this.#binding = this.#bindTo(child)
  }

  async #bindTo(child: ProcessRef): Promise<void> {
    const { agent, project } = this.#run()
    const { clock } = this.#how
    const { signal } = this.#over
    while (!(await this.#at.room.act((room) => bindTo(room, agent, child)))) {
      await pause(clock, STORE_RETRY_MS, signal)
      if (signal.aborted) return
    }
    if (signal.aborted) return
    // What its processes write into what others hold is noticed while the run goes on.
    this.#watch = new WriteWatch({ project, agent, tree: child, clock, room: this.#at.room })
  }

  async beat(): Promise<void> {
    await this.#at.room.act((room) => {
      this.#at.refuseGone()
      return beatFor(room, this.#run().agent)
    })
  }

  /** False when the store could not be reached in all that time. With a repository that is removed goes all that was held in it. */
  async release(outcome: SessionOutcome): Promise<boolean> {
    await this.#unbind()
    if (this.#at.place.isGone) return await this.#releaseMoved(outcome)
    return await this.#endIn(this.#at.room, outcome)
  }

  /** In its new place a claim would stand until its lease is over, of a run that is known to have ended. */
  async #releaseMoved(outcome: SessionOutcome): Promise<boolean> {
    const { env, clock, note } = this.#how
    const { root } = this.#run().project
    const moved = this.#at.place.movedTo(env)
    if (moved === undefined) {
      note(`${root} was removed under the run: there is nothing left to release`)
      return true
    }
    note(`${root} was moved to ${moved.root} under the run: what it held is released there`)
    const room = new ResidentRoom(
      () => openCoordination({ project: moved, env, clock, fleet: fleetDoor, busyMs: WATCHER_BUSY_MS }),
      (why) => note(`coordination: ${why}`),
      { clock },
    )
    try {
      const isDone = await this.#endIn(room, outcome)
      if (room.current !== undefined) await publish({ note }, room.current)
      return isDone
    } finally {
      room.close()
    }
  }

  async #endIn(home: ResidentRoom, outcome: SessionOutcome): Promise<boolean> {
    for (let turn = 0; turn < RELEASE_TURNS; turn += 1) {
      if (await home.act((room) => endFor(room, this.#run().agent, 'the run ended', outcome))) return true
      await pause(this.#how.clock, STORE_RETRY_MS)
    }
    return false
  }

  /** The files for people. */
  async publish(): Promise<void> {
    const { room, place } = this.#at
    const { current } = room
    if (current !== undefined && !place.isGone) await publish({ note: this.#how.note }, current)
  }

  async close(): Promise<void> {
    await this.#unbind()
    this.#at.release()
  }

  async #unbind(): Promise<void> {
    this.#over.abort()
    await this.#binding
    await this.#watch?.stop()
  }
}

/** Each turn waits for the store as long as a writer may hold it. */
const RELEASE_TURNS = 3
