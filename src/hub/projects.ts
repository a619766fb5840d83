// The projects that a hub shows, with all that looks at each of them.
import { HeimdallError } from '../errors.ts'
import { Acts } from './acts/acts.ts'
import { TaskActs } from './acts/task-acts.ts'
import { RepositoryFiles } from './facts/repository-files.ts'
import { RunsOfProject } from './facts/run-project.ts'
import { ProjectLive } from './live/project-live.ts'
import { type ProjectOptions, ProjectRoom } from './project-room.ts'
import { runsDirOf } from '../paths.ts'
import { projectHaid } from '../coordination/coordination.ts'
import { keepLinked } from '../coordination/linked.ts'
import { readMachine } from '../coordination/moment.ts'
import type { Screens } from './terminals/screens.ts'

export interface ShownProject {
  readonly room: ProjectRoom
  readonly live: ProjectLive
  readonly runs: RunsOfProject
  readonly files: RepositoryFiles
  readonly acts: Acts
  readonly tasks: TaskActs
}

export class Projects {
  readonly #person: string
  readonly #version: string
  readonly #screens: Screens
  readonly #shown = new Map<string, ShownProject>()
  readonly #over = new AbortController()
  readonly #linked: Promise<void>[] = []

  constructor(person: string, version: string, screens: Screens) {
    this.#person = person
    this.#version = version
    this.#screens = screens
  }

  /** The one that is there already, where it is. */
  add(options: ProjectOptions): ShownProject {
    const room = new ProjectRoom(options)
    const known = this.#shown.get(room.id)
    if (known !== undefined) return known
    const { env, clock, project } = options.fleet
    const tasks = new TaskActs({ room, person: this.#person, version: this.#version, note: options.note })
    const rootHaid = projectHaid(project, env, readMachine())
    const runs = new RunsOfProject({ runsDir: runsDirOf(env), project, env, rootHaid })
    const shown: ShownProject = {
      room,
      live: new ProjectLive(room, clock, this.#screens, runs),
      runs,
      files: new RepositoryFiles(room.root, env),
      acts: new Acts({ room, person: this.#person, clock, tasks }),
      tasks,
    }
    this.#shown.set(room.id, shown)
    this.#linked.push(this.#link(room, options.note))
    return shown
  }

  /** What other machines do is seen as it happens. A fleet that is away is tried again without a word: `fleet status` has one. */
  async #link(room: ProjectRoom, note: (line: string) => void): Promise<void> {
    try {
      await keepLinked(room.changing, this.#over.signal)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      note(`${room.name}: ${error.message}`)
    }
  }

  /** The first without a name. */
  find(id: string | undefined): ShownProject {
    const [first] = this.#shown.values()
    const found = id === undefined || id === '' ? first : this.#shown.get(id)
    if (found !== undefined) return found
    throw new HeimdallError('PROJECT_NOT_FOUND', 'the hub shows no project of this id', {
      hint: 'run heimdall up in it: a hub that runs takes it in',
    })
  }

  has(id: string): boolean {
    return this.#shown.has(id)
  }

  all(): readonly ShownProject[] {
    return [...this.#shown.values()]
  }

  async close(): Promise<void> {
    this.#over.abort()
    for (const { live } of this.#shown.values()) live.close()
    await Promise.all(this.#linked)
    await Promise.all([...this.#shown.values()].map(({ tasks }) => tasks.close()))
  }
}
