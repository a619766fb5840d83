// A worker's desk behind a real A2A address, with tasks that a test ends itself.
import { onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/clock.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import type { TaskQuestion } from '../../src/coordination/dispatched.ts'
import { agentCard, legacyCard, liveCard, workerFacts } from '../../src/dispatch/a2a/card.ts'
import { serveA2a } from '../../src/dispatch/a2a/http-server.ts'
import { spilledReply } from '../../src/dispatch/a2a/task-view.ts'
import { workerMethods } from '../../src/dispatch/a2a/worker-methods.ts'
import {
  type Announce,
  parseAnnounce,
  parseDispatch,
  resultOf,
  type TaskDispatch,
  type TaskResult,
} from '../../src/dispatch/messages.ts'
import { WorkerDesk } from '../../src/dispatch/worker/worker-desk.ts'
import { openRoom } from '../coordination/room.ts'
import { until } from '../support/wait.ts'

export const announceOf = (name: string, more: object = {}): Announce =>
  parseAnnounce({
    type: 'SESSION_ANNOUNCE',
    protocol_version: '2.0',
    worker: { agent_id: name, model: '', model_tier: 'sonnet', context_window: 0 },
    capabilities: { tools: ['terminal'], mcp_servers: ['a'] },
    mcp_health: { a: 'ok' },
    session: { context_id: '', active_tasks: 0, repo_state: { branch: null, clean: true }, session_fresh: true },
    instance_id: 'i1',
    ...more,
  })

export const contractOf = (taskId: string, more: object = {}): TaskDispatch =>
  parseDispatch({
    type: 'TASK_DISPATCH',
    protocol_version: '2.0',
    task: { task_id: taskId },
    requirements: { writes: false },
    brief: 'do it',
    ...more,
  })

export interface OwnWorker {
  readonly room: Coordination
  readonly desk: WorkerDesk
  /** `task#attempt` of what was begun. */
  readonly started: string[]
  readonly health: Record<string, string>
  /** Its runtime waits for a person, or does so no longer. */
  readonly ask: (taskId: string, question: TaskQuestion | undefined) => Promise<void>
  readonly end: (taskId: string, result?: Partial<TaskResult>) => void
  /** Its address; tokens are names of peers. */
  readonly serve: () => Promise<string>
}

export function ownWorker({
  slots = 1,
  clock = systemClock,
}: { readonly slots?: number; readonly clock?: Clock } = {}): OwnWorker {
  const room = openRoom({ clock })
  const started: string[] = []
  const health: Record<string, string> = { a: 'ok' }
  const asks = new Map<string, (question: TaskQuestion | undefined) => Promise<void>>()
  const ends = new Map<string, (result: TaskResult) => void>()
  const desk = new WorkerDesk({
    room,
    workerId: 'w',
    instanceId: 'i1',
    maxConcurrent: slots,
    execution: {
      start: async ({ taskId, attempt }) => {
        started.push(`${taskId}#${attempt}`)
        return { runId: 'r' }
      },
      ended: ({ taskId }, _contract, onAsks) =>
        new Promise((resolve) => {
          asks.set(taskId, onAsks)
          ends.set(taskId, resolve)
        }),
      stop: async ({ taskId, attempt }) =>
        ends.get(taskId)?.(
          resultOf({ task_id: taskId, attempt, status: 'error', error: { summary: 'cancelled', code: 'canceled' } }),
        ),
    },
    profile: async () => announceOf('w', { mcp_health: health, max_concurrent: slots }),
    newId: room.newId,
    note: () => undefined,
  })
  return {
    room,
    desk,
    started,
    health,
    async ask(taskId, question) {
      await until('it to run', () => asks.has(taskId))
      await asks.get(taskId)?.(question)
    },
    end(taskId, result = {}) {
      ends.get(taskId)?.(
        resultOf({ task_id: taskId, status: 'done', tokens_spent: 5, usage: { source: 'runtime' }, ...result }),
      )
    },
    async serve() {
      const facts = (url: string) => workerFacts(announceOf('w'), url, '1')
      const server = await serveA2a({
        host: '127.0.0.1',
        port: 0,
        methods: (url) =>
          workerMethods({ desk, card: agentCard(facts(url)), url, liveCard: (live) => liveCard(facts(url), live) }),
        legacyCard: (url) => legacyCard(facts(url)),
        authenticate: (token) => token,
        reply: (id, principal) => {
          const assignment = desk.assignment(id)
          return assignment?.from === principal ? spilledReply(assignment) : undefined
        },
        note: () => undefined,
      })
      onTestFinished(() => server.close())
      return server.url
    },
  }
}
