// What dispatch keeps in the coordination store: how a task stands in the queue, the workers, the attempts at a task, tokens set aside for them, and what a worker has taken on.
import type { Moment } from './moment.ts'

/** The dispatch state of a task added with `heimdall task add`; tasks that agents start have none. */
export interface Dispatch {
  /** Canonical text of what a worker must have. Tasks of the same needs are served by the same workers, so the queue is asked once for each. */
  readonly needs: string
  /** Its rank: the earliest goes first. It never changes, so whoever waits long enough is the first one day. */
  readonly dueMs: number
  /** While parked: when it is tried again by itself; null for whoever waits for a worker to announce itself. */
  readonly wakeMs: number | null
  readonly deadlineMs: number | null
  readonly tokenBudget: number | null
  readonly attempts: number
  /** Attempts that failed after they had begun. */
  readonly failures: number
  /** JSON: why it is parked or waits for a person, or how it ended. */
  readonly reason: string | null
}

export type WorkerState = 'ready' | 'busy' | 'draining' | 'gone'

export interface Worker {
  /** The authenticated name that it announces itself under. */
  readonly workerId: string
  /** One per process: the newest is the worker, whatever an older one still says. */
  readonly instanceId: string
  readonly url: string | null
  /** `plain`: without the extension; gets text, and nothing that requires anything. */
  readonly speaks: 'extension' | 'plain'
  readonly state: WorkerState
  /** JSON of its SESSION_ANNOUNCE, without what changes at each. */
  readonly profile: string
  readonly ttlSeconds: number
  /** Local. Number of its last announce. */
  readonly seq: number
  /** Local. When the lease was renewed last. */
  readonly renewed: Moment
  /** Local. It was this machine that heard its announce; others are known by their signs. */
  readonly isHere: boolean
}

export const ATTEMPT_ENDS = ['done', 'partial', 'blocked', 'error', 'canceled', 'lost'] as const

export type AttemptState = 'sent' | 'accepted' | (typeof ATTEMPT_ENDS)[number]

export interface Attempt {
  readonly taskId: string
  /** From 1. */
  readonly number: number
  readonly workerId: string
  readonly instanceId: string
  readonly state: AttemptState
  /** Id of the A2A task at the worker. */
  readonly remoteId: string | null
  readonly sentMs: number
  readonly acceptedMs: number | null
  readonly endedMs: number | null
  /** JSON of the TASK_RESULT, also of one that came too late to count. */
  readonly result: string | null
  /** Its result came after the task had gone on without it. */
  readonly isLate: boolean
}

/** Tokens of a task's budget that are set aside for one attempt, and what it took in the end. */
export interface TokenReservation {
  readonly taskId: string
  readonly attempt: number
  readonly reserved: number
  readonly settled: number | null
  /** Where the settled number comes from: runtime, provider, estimate, or unknown, which settles all that was reserved. */
  readonly source: string | null
}

export type AssignmentState = 'accepted' | 'running' | (typeof ATTEMPT_ENDS)[number]

/** An attempt as the worker that took it keeps it: its A2A task. */
export interface Assignment {
  /** Given by the worker. */
  readonly assignmentId: string
  readonly taskId: string
  readonly attempt: number
  /** The authenticated orchestrator. */
  readonly from: string
  readonly workerId: string
  readonly instanceId: string
  readonly contextId: string
  readonly state: AssignmentState
  /** JSON of the TASK_DISPATCH. */
  readonly contract: string
  readonly runId: string | null
  readonly acceptedMs: number
  readonly endedMs: number | null
  readonly result: string | null
  /** JSON of a `Question`, while its runtime waits for a person. */
  readonly asks: string | null
}

/** What a worker waits for a person with, in the middle of a task. */
export interface TaskQuestion {
  readonly question: string
  /** A person has to allow something where the worker runs: no answer from elsewhere does. */
  readonly isAuth: boolean
  /** It was stopped, and could go on. */
  readonly partial?: Stopped
}

/** A task that was stopped before its end, and is kept open for a while. */
export interface Stopped {
  /** ISO 8601: then what there is, is all. */
  readonly resume_by: string
  /** What it goes on with: more tokens, or somebody's words. */
  readonly needs: 'tokens' | 'words'
  /** TASK_RESULT as it would end now; only where the worker is. */
  readonly result?: unknown
}

/** Why a task waits, or how it ended: what stands in `Dispatch.reason`. */
export interface Why {
  readonly why: string
  readonly depends_on?: string
  /** Somebody, or its deadline, wants it ended at its worker. */
  readonly cancel?: string
  /** Its worker waits for a person. */
  readonly asks?: TaskQuestion & { readonly since: string }
  /** A person's answer that the worker does not have yet. */
  readonly answer?: { readonly text: string; readonly id: string }
  /** What became of the work of a task that has ended. */
  readonly review?: Review
}

/** `pr`: the address of its pull request. */
export interface Review {
  readonly state: 'proposed' | 'merged' | 'discarded'
  readonly into?: string
  readonly commit?: string
  readonly pr?: string
}

export const readWhy = (reason: string | null): Why | undefined =>
  reason === null ? undefined : (JSON.parse(reason) as Why)

/** Shared setting: who orchestrates a fleet. */
export const ORCHESTRATOR_SETTING = 'dispatch:orchestrator'
/** What signs of life of those who are no agents are known by. */
export const orchestratorSign = (holder: string): string => `orchestrator:${holder}`
export const workerSign = (workerId: string): string => `worker:${workerId}`

export interface DispatchReader {
  contract(taskId: string): string | undefined
  /** Of somebody on another machine, as the engine has told of it. */
  lastSign(who: string): Moment | undefined
  /** Of each needs among queued tasks the first in rank, by rank. */
  queueHeads(): { readonly taskId: string; readonly needs: string }[]
  /** Parked tasks that are due by now, and those that wait for a worker, in order of rank. */
  parked(): { readonly taskId: string; readonly needs: string; readonly wakeMs: number | null }[]
  /** Open tasks whose deadline is this or before, and when the next one's is. */
  deadlines(byMs: number): { readonly due: readonly string[]; readonly nextMs: number | null }
  worker(workerId: string): Worker | undefined
  /** In order of id. */
  workers(): Worker[]
  attempts(query: { taskId?: string; open?: true }): Attempt[]
  tokenReservations(taskId: string): TokenReservation[]
  assignment(assignmentId: string): Assignment | undefined
  assignments(query: { workerId?: string; taskId?: string; open?: true }): Assignment[]
}

export interface DispatchWriter {
  /** What the task was sent with; a reply to an ended task puts the next contract. */
  putContract(taskId: string, contract: string): void
  putWorker(worker: Worker): void
  /** A sign of life, which a fleet is told of. */
  sign(who: string): void
  putAttempt(attempt: Attempt): void
  putTokenReservation(reservation: TokenReservation): void
  putAssignment(assignment: Assignment): void
}
