// Tasks from the page: sent, cancelled, sent again, and a worker that takes no more. While the hub runs and nobody else does, it brings queued tasks to workers.
import { buildBrief } from '../../briefing/brief.ts'
import { openPlanning } from '../../briefing/planning.ts'
import { loadConfig, type PeerEntry } from '../../config.ts'
import { changeAsOther } from '../../coordination/change.ts'
import { type Coordination, openCoordination } from '../../coordination/coordination.ts'
import type { RunningOrchestrator } from '../../dispatch/a2a/start-orchestrator.ts'
import { parseDispatch } from '../../dispatch/messages.ts'
import { dispatchDir, type KnownPeer, localPeers, settingsPeers } from '../../dispatch/peers.ts'
import { answerTask } from '../../dispatch/questions.ts'
import { sendTask } from '../../dispatch/send-task.ts'
import { cancelTask, retryTask } from '../../dispatch/tasks.ts'
import { drainSetting } from '../../dispatch/worker/drain-setting.ts'
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

  async send({ title, brief, priority, tokens_budget: budget, deadline }: DispatchRequest): Promise<string> {
    const { room } = this.#options
    const { project, clock } = room.fleetOptions
    const taskId = await room.change(async (open) => {
      const id = `t-${open.newId().toLowerCase()}`
      const { text } = buildBrief(
        openPlanning(project, clock, () => undefined),
        {
          task: id,
          spec: `${title}\n\n${brief}`,
          symbols: [],
          capsules: [],
          facts: [],
        },
      )
      const contract = parseDispatch({
        type: 'TASK_DISPATCH',
        protocol_version: '2.0',
        task: { task_id: id, priority, token_budget: budget ?? null, scopes: [] },
        deadline: deadline ?? null,
        brief: text,
      })
      await sendTask(open, { contract, title })
      return id
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
    return `${taskId} goes on with that`
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
      throw new HeimdallError('WORKER_NOT_FOUND', `no worker ${printable(worker)} runs here`, {
        hint: 'heimdall peers list shows who does',
      })
    await room.change((open) =>
      changeAsOther(open, { kind: 'system' }, ({ rows, now }) =>
        rows.putSetting(drainSetting(worker), String(now.wallMs)),
      ),
    )
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
    const dir = dispatchDir(env, project)
    const settled = settingsPeers(entries, 'worker', room.root)
    const workers = (): readonly KnownPeer[] => [...settled, ...localPeers(dir, 'worker')]
    const open = openCoordination(room.changing)
    const running = await startOrchestrator({
      room: open,
      dir,
      workers,
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
