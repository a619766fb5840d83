// Watches for a host session that no run of ours keeps: done by whichever process of ours stands for it as long as it lives.
import type { Clock, Timer } from '../../clock.ts'
import { WATCH_SESSION_MS } from '../../limits.ts'
import { type Env, findProject } from '../../paths.ts'
import { type FleetDoor, openCoordination } from '../coordination.ts'
import { ResidentRoom } from '../resident-room.ts'
import { roomOptions } from '../room-options.ts'
import type { Agent } from '../store.ts'
import { hasTrail, watcherOf } from '../trail.ts'
import { type Place, placeOf } from '../who/place.ts'
import { fateOf, pidOf, type ProcessRef } from '../who/process-ref.ts'
import { WriteWatch } from './write-watch.ts'

export interface SessionWatchParts {
  readonly cwd: string
  readonly env: Env
  readonly clock: Clock
  readonly fleet: FleetDoor
  readonly note: (line: string) => void
}

export class SessionWatch {
  readonly #parts: SessionWatchParts
  #place: Place | undefined
  readonly #room: ResidentRoom
  #watch: { readonly agent: Agent; readonly watch: WriteWatch } | undefined
  #looking: Promise<void> = Promise.resolve()
  #timer: Timer
  #isOver = false

  constructor(parts: SessionWatchParts) {
    this.#parts = parts
    const { cwd, env, clock, fleet, note } = parts
    this.#room = new ResidentRoom(
      async () => openCoordination(await roomOptions({ cwd, env, clock, fleet })),
      (why) => note(`writes are not watched: ${why}`),
    )
    this.#timer = this.#arm()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    this.#timer.cancel()
    await this.#looking
    await this.#watch?.watch.stop()
    this.#room.close()
  }

  #arm(): Timer {
    return this.#parts.clock.after(
      WATCH_SESSION_MS,
      () => {
        this.#looking = this.#look().then(() => {
          if (!this.#isOver) this.#timer = this.#arm()
        })
      },
      { background: true },
    )
  }

  /** Nothing is opened before a hook of the host has been called: then there is an agent, and it is known whose. */
  async #look(): Promise<void> {
    const { cwd, env, clock } = this.#parts
    this.#place ??= placeOf()
    const tree = this.#place?.tree
    // What runs in a session is watched by the watcher.
    if (tree === undefined || this.#place?.host === undefined || this.#place.session !== undefined) return
    const project = findProject(cwd, env)
    if (!hasTrail(project, tree) || isWatchedByOthers(watcherOf(project, tree))) return
    const { agent } = await this.#agentOf(tree)
    const known = this.#watch?.agent
    if (known?.haid === agent?.haid && known?.runtime.epoch === agent?.runtime.epoch) return
    await this.#watch?.watch.stop()
    const room = this.#room
    this.#watch =
      agent === undefined
        ? undefined
        : { agent, watch: new WriteWatch({ project, agent: kept(agent), tree, clock, room }) }
  }

  async #agentOf(tree: ProcessRef): Promise<{ readonly agent: Agent | undefined }> {
    let agent = this.#watch?.agent
    await this.#room.act(async (room) => {
      agent = room.store
        .read((rows) => rows.agentsOfTree(tree))
        .find(({ runtime }) => runtime.process === tree && runtime.endedMs === null && runtime.client === null)
    })
    return { agent }
  }
}

const kept = ({ haid, runtime }: Agent): { haid: string; epoch: number } => ({ haid, epoch: runtime.epoch })

/** A host may have started several of us. */
const isWatchedByOthers = (watcher: ProcessRef | undefined): boolean =>
  watcher !== undefined && pidOf(watcher) !== process.pid && fateOf(watcher) === 'alive'
