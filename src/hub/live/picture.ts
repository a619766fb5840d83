// The picture of a project at one moment: agents, waits, totals and banners as every screen has them.
import { HeimdallError } from '../../errors.ts'
import { runsDirOf } from '../../paths.ts'
import type { ShownChoice } from '../../spine/fleet/choices.ts'
import type { Fleet } from '../../spine/fleet/fleet.ts'
import type { AgentCard, Banner, FleetTotals, WaitCard } from '../contract.ts'
import { Banners } from '../facts/banners.ts'
import { cardOf, totalsOf } from '../facts/cards.ts'
import { changedPin } from '../facts/changed-pins.ts'
import { LastRuns } from '../facts/last-runs.ts'
import { taskOfRun } from '../facts/runs.ts'
import type { RunsOfProject } from '../facts/run-project.ts'
import { choicesOn } from '../facts/shown-choices.ts'
import { Uncommitted } from '../facts/uncommitted.ts'
import { hasChoices, noteTextIn, waitCardOf } from '../facts/wait-cards.ts'
import type { ProjectRoom } from '../project-room.ts'
import type { Screens } from '../terminals/screens.ts'

/** Lines in which a host asks; a longer question scrolls out of sight there, too. */
const ASKING_LINES = 16

export interface Picture {
  readonly at: string
  readonly fleet: Fleet
  readonly agents: readonly AgentCard[]
  readonly waits: readonly WaitCard[]
  readonly totals: FleetTotals
  readonly banners: readonly Banner[]
}

export class Pictures {
  readonly #room: ProjectRoom
  readonly #screens: Screens
  readonly #banners = new Banners()
  readonly #uncommitted: Uncommitted
  readonly #lastRuns: LastRuns

  constructor(room: ProjectRoom, screens: Screens, runs: RunsOfProject) {
    this.#room = room
    this.#screens = screens
    this.#uncommitted = new Uncommitted(room.fleetOptions.env, room.fleetOptions.clock)
    this.#lastRuns = new LastRuns(runsDirOf(room.fleetOptions.env), runs)
  }

  async take(): Promise<Picture> {
    const room = this.#room
    const fleet = await room.look()
    const folders = fleet.agents.flatMap(({ cwd, is_over: isOver }) => (cwd === null || isOver ? [] : [cwd]))
    const lastRuns = this.#lastRuns.of(fleet.agents, (runDir, facts) =>
      readable(
        () =>
          room.read(
            (open) => taskOfRun(open, runDir, facts),
            () => null,
          ),
        null,
      ),
    )
    const beside = { uncommitted: await this.#uncommitted.in(folders), seq: seqOf(room), lastRuns }
    const agents = fleet.agents.map((agent) => cardOf(agent, fleet, beside))
    const { env, project } = room.fleetOptions
    const choices = await this.#choices(fleet)
    const about = {
      noteText: (id: string) =>
        readable(
          () =>
            room.read(
              (open) => noteTextIn(open)(id),
              () => undefined,
            ),
          undefined,
        ),
      pinOf: (server: string) => changedPin(env, project.root, server),
      uncommittedIn: (folder: string) => beside.uncommitted.get(folder),
      choicesOf: (session: string) => choices.get(session) ?? [],
    }
    return {
      at: fleet.at,
      fleet,
      agents,
      waits: fleet.waits.map((wait) => waitCardOf(wait, fleet, about)),
      totals: totalsOf(fleet, agents, beside),
      banners: this.#banners.of(room.id, fleet.missing, fleet.at),
    }
  }

  /** By session, of those that ask; the others are not looked at. */
  async #choices({ agents, waits }: Fleet): Promise<ReadonlyMap<string, readonly ShownChoice[]>> {
    const asking = new Set(waits.filter(hasChoices).map(({ agent_id: id }) => id))
    const places = agents.flatMap(({ agent_id: agent, session_id: id, socket_dir: dir }) =>
      id === null || dir === null || !asking.has(agent) ? [] : [{ id, dir }],
    )
    const screens = places.length === 0 ? [] : await this.#screens.of(places, ASKING_LINES)
    return new Map(screens.map(({ session_id: id, lines }) => [id, choicesOn(lines)]))
  }
}

/** 0 where the store cannot be read: a banner says so, of this look or, where it was lost in the middle of it, of the next. */
function seqOf(room: ProjectRoom): number {
  return readable(
    () =>
      room.read(
        ({ store }) => store.read((rows) => rows.head()),
        () => 0,
      ),
    0,
  )
}

function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof HeimdallError) return otherwise
    throw error
  }
}
