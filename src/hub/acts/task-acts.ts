// Tasks from the page: sent, cancelled, sent again, and a worker that takes no more. While the hub runs and nobody else does, it brings queued tasks to workers.
import { openPlanning } from '../../briefing/planning.ts'
import { loadConfig, type PeerEntry } from '../../config.ts'
import { type Coordination, openCoordination } from '../../coordination/coordination.ts'
import type { RunningOrchestrator } from '../../dispatch/a2a/start-orchestrator.ts'
import { newContract } from '../../dispatch/new-contract.ts'
import { dispatchDir, knownPeers, localPeers } from '../../dispatch/peers.ts'
import { answerTask } from '../../dispatch/questions.ts'
import { sendTask } from '../../dispatch/send-task.ts'
import { cancelTask, retryTask } from '../../dispatch/tasks.ts'
import { drainWorker } from '../../dispatch/worker/drain-setting.ts'
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import type { DispatchRequest } from '../contract.ts'
import type { ProjectRoom } from '../project-room.ts'

export interface TaskActOptions {
  readonly room: ProjectRoom
  readonly person: string
  readonly version: string
  readonly note: (line: string) => void
}

export class TaskActs {
  readonly #options: TaskActOptions
  #orchestrating: Promise<Orchestrating | undefined> | undefined

  constructor(options: TaskActOptions) {
    this.#options = options
  }

  async send({ title, brief, priority, tokens_budget: budget, deadline, worker }: DispatchRequest): Promise<string> {
    const { room } = this.#options
    const { project, clock, env } = room.fleetOptions
    const planning = openPlanning(project, clock, () => undefined)
    const { taskId } = await room.change(async (open) => {
      const contract = await newContract(open, planning, env, {
        spec: `${title}\n\n${brief}`,
        task: { priority, token_budget: budget ?? null, scopes: [] },
        deadline: deadline ?? null,
      })
      return await sendTask(open, { contract, title, only: worker })
    })
    await this.orchestrate()
    return taskId
  }

  /** Kept until the worker has it: the question may have outlived whoever brought the task there. */
  async answer(taskId: string, text: string, since?: string): Promise<string> {
    const { room, person } = this.#options
    await room.change((open) =>
      answerTask(open, taskId, text, { by: person, ...(since === undefined ? {} : { since }) }),
    )
    await this.orchestrate()
    return `${taskId} continues with that answer`
  }

  async cancel(taskId: string): Promise<string> {
    const { state } = await this.#options.room.change((open) =>
      cancelTask(open, taskId, `cancelled by ${this.#options.person}`),
    )
    return state === 'canceled' ? `${taskId} is cancelled` : `${taskId} is being ended at its worker`
  }

  async retry(taskId: string): Promise<string> {
    const { room, person } = this.#options
    const by = { kind: 'human', name: person } as const
    const { state } = await room.change((open) => retryTask(open, taskId, undefined, by))
    await this.orchestrate()
    return `${taskId} is ${state}`
  }

  async drain(worker: string): Promise<string> {
    const { room } = this.#options
    const { project, env } = room.fleetOptions
    if (!localPeers(dispatchDir(env, project), 'worker').some(({ name }) => name === worker))
      throw new HeimdallError('WORKER_NOT_FOUND', `no worker ${printable(worker)} is known here`, {
        hint: 'heimdall peers list shows known workers',
      })
    await room.change((open) => drainWorker(open, worker))
    return `${worker} takes no more tasks`
  }

  /** From the first task that the page has sent, until the hub stops; not where another does it. */
  async orchestrate(): Promise<void> {
    const { note } = this.#options
    if ((await this.#orchestrating) !== undefined) return
    this.#orchestrating = this.#start()
    const started = await this.#orchestrating
    started?.running.done.catch((error: unknown) => {
      this.#orchestrating = undefined
      note(`tasks are not brought to workers any more: ${error instanceof Error ? error.message : String(error)}`)
    })
  }

  async close(): Promise<void> {
    const started = await this.#orchestrating
    this.#orchestrating = undefined
    if (started === undefined) return
    await started.running.stop()
    started.open.store.close()
  }

  async #start(): Promise<Orchestrating | undefined> {
    const { room, version, note } = this.#options
    const { env, project, clock } = room.fleetOptions
    // Loaded here: most hubs never send a task.
    const { startOrchestrator } = await import('../../dispatch/a2a/start-orchestrator.ts')
    const entries = (await loadConfig({ cwd: room.root, env })).peers.value as readonly PeerEntry[]
    const { dir, peers } = knownPeers(env, project, entries, room.root)
    const open = openCoordination(room.changing)
    const running = await startOrchestrator({
      room: open,
      dir,
      as: 'heimdall up',
      workers: () => peers('worker'),
      // On this machine alone, so that a worker is heard of when it starts, and not when it is asked.
      listen: { host: '127.0.0.1', port: 0 },
      version,
      planning: openPlanning(project, clock, () => undefined),
      note,
    })
    if (running !== undefined) return { running, open }
    open.store.close()
    return undefined
  }
}

interface Orchestrating {
  readonly running: RunningOrchestrator
  readonly open: Coordination
}
