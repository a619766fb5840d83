// Workers as the orchestrator knows them: what they announced, until when that holds, and who they are to routing.
import { changeAsOther } from '../coordination/change.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { Worker, WorkerState } from '../coordination/dispatched.ts'
import { heardOf, membershipOf } from '../coordination/membership.ts'
import { type Moment, sinceMs } from '../coordination/moment.ts'
import type { Reader, Writer } from '../coordination/store.ts'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { type Announce, parseAnnounce } from './messages.ts'
import type { Candidate } from './routing.ts'
import { wakeFor } from './parking.ts'

export interface Announced {
  /** False for what an instance says that another has taken the place of, and for what came before something newer. */
  readonly taken: boolean
  /** Where it was not taken because another machine has a worker of this name that lives. */
  readonly isElsewhere: boolean
  readonly why: string | null
  /** Attempts that it runs and nobody here knows, or that are over: it should end them. */
  readonly cancel: readonly string[]
}

/** Who authenticated is who it is: an announce under another name is refused. */
export async function takeAnnounce(
  room: Coordination,
  from: {
    readonly name: string
    readonly url: string | null
    readonly speaks: Worker['speaks']
    /** What it says in the log is about a worker of this machine: a name is one machine's as long as that one's lease lasts. */
    readonly isByLog?: true
  },
  announce: Announce,
): Promise<Announced> {
  if (announce.worker.agent_id !== from.name)
    throw new HeimdallError(
      'PEER_FORBIDDEN',
      `${printable(from.name)} announces itself as ${printable(announce.worker.agent_id)}`,
      { hint: 'a worker must announce itself under the name that its token belongs to' },
    )
  const { instance_id: instanceId, seq, issued_at: _, running, session, ...lasting } = announce
  return changeAsOther(room, { kind: 'system' }, ({ rows, now, record }) => {
    const known = rows.worker(from.name)
    const isAnother = known !== undefined && known.instanceId !== instanceId && stateAt(rows, known, now) !== 'gone'
    if (isAnother && from.isByLog === true && !known.isHere)
      return { ...dropped('a worker of this name runs on another machine'), isElsewhere: true }
    // Instance ids grow with time: what an older one still says is of a process that is gone. Once the newer one is gone
    // itself, whoever comes is the worker: its clock may have been set back.
    if (isAnother && known.instanceId > instanceId) return dropped('a newer instance has taken its place')
    if (known?.instanceId === instanceId && known.state !== 'gone' && seq <= known.seq && seq !== 0)
      return dropped('it is older than what is known')
    const profile = JSON.stringify({ ...lasting, session, instance_id: instanceId, seq: 0 })
    const worker: Worker = {
      workerId: from.name,
      instanceId,
      url: announce.url ?? from.url,
      speaks: from.speaks,
      state: announce.state,
      profile,
      ttlSeconds: announce.ttl_s,
      seq,
      renewed: now,
      isHere: true,
    }
    rows.putWorker(worker)
    if (known === undefined || known.instanceId !== instanceId || known.state !== worker.state)
      record({
        type: 'WORKER',
        to: from.name,
        payload: { worker: from.name, state: worker.state, instance: instanceId },
      })
    if (known === undefined || known.profile !== profile || known.state !== worker.state) wakeFor(rows, worker)
    return { taken: true, isElsewhere: false, why: null, cancel: strangers(rows, from.name, running) }
  })
}

const dropped = (why: string): Announced => ({ taken: false, isElsewhere: false, why, cancel: [] })

function strangers(rows: Reader, workerId: string, running: Announce['running']): string[] {
  return running.flatMap(({ dispatch_id: taskId, attempt, a2a_task_id: remoteId }) => {
    const known = rows.attempts({ taskId }).find((one) => one.number === attempt && one.workerId === workerId)
    // Of a task that is not ours nothing is known: another orchestrator may have sent it.
    return known === undefined || known.state === 'sent' || known.state === 'accepted' ? [] : [remoteId]
  })
}

/** Leases that have run out. Returns when the next one does, if any is left. */
export async function expireWorkers(room: Coordination): Promise<number | undefined> {
  const isOver = (worker: Worker, now: Moment): boolean => leftMs(worker, now) <= 0
  const now = room.now()
  const workers = room.store.read((rows) => rows.workers()).filter(isWatched)
  if (workers.some((worker) => isOver(worker, now)))
    await changeAsOther(room, { kind: 'system' }, (change) => {
      for (const worker of change.rows.workers())
        if (isWatched(worker) && isOver(worker, change.now)) putState(change.rows, worker, 'gone', change.record)
    })
  const left = workers.filter((worker) => !isOver(worker, now)).map((worker) => leftMs(worker, now))
  return left.length === 0 ? undefined : Math.min(...left)
}

/**
 * An instance that has ended and left nothing that runs is gone at once, and its name is free; otherwise with its lease,
 * until which it is sent nothing.
 */
export async function endInstance(room: Coordination, workerId: string, instanceId: string): Promise<void> {
  await changeAsOther(room, { kind: 'system' }, ({ rows, record }) => {
    const worker = rows.worker(workerId)
    if (worker === undefined || worker.instanceId !== instanceId || worker.state === 'gone') return
    const isEmpty = rows.assignments({ workerId, open: true }).length === 0
    if (isEmpty || worker.state !== 'draining') putState(rows, worker, isEmpty ? 'gone' : 'draining', record)
  })
}

/** It takes nothing more: also for those who do not hear its announces. */
export async function drainInstance(room: Coordination, workerId: string, instanceId: string): Promise<void> {
  await changeAsOther(room, { kind: 'system' }, ({ rows, record }) => {
    const worker = rows.worker(workerId)
    if (worker?.instanceId !== instanceId || worker.state === 'gone' || worker.state === 'draining') return
    putState(rows, worker, 'draining', record)
  })
}

function putState(
  rows: Writer,
  worker: Worker,
  state: WorkerState,
  record: (event: { type: string; to: string; payload: Record<string, unknown> }) => unknown,
): void {
  rows.putWorker({ ...worker, state })
  record({
    type: 'WORKER',
    to: worker.workerId,
    payload: { worker: worker.workerId, state, instance: worker.instanceId },
  })
}

/** A lease that was renewed elsewhere is watched there. */
const isWatched = ({ state, renewed }: Worker): boolean => state !== 'gone' && renewed.boot !== ''

const leftMs = ({ ttlSeconds, renewed }: Worker, now: Moment): number => ttlSeconds * 1_000 - sinceMs(renewed, now)

/**
 * In a fleet by its lease, not by the last word: a worker renews it in the log, and while nobody orchestrates nobody
 * writes down that one has run out. Of one elsewhere, as it was when this machine last heard. On a machine alone only who
 * orchestrates hears workers: while nobody does, a lease says nothing of them.
 */
export function stateAt(rows: Pick<Reader, 'localSetting'>, worker: Worker, now: Moment): WorkerState {
  if (membershipOf(rows) === undefined) return worker.state
  const at = worker.isHere ? now : (heardOf(rows) ?? now)
  return isWatched(worker) && leftMs(worker, at) <= 0 ? 'gone' : worker.state
}

/** Nothing where it is none that a version of ours has written: any member of a fleet can put one. */
export function profileOf({ profile }: Worker): Announce | undefined {
  try {
    return parseAnnounce(JSON.parse(profile))
  } catch (error) {
    if (!(error instanceof HeimdallError) && !(error instanceof SyntaxError)) throw error
    return undefined
  }
}

/** All workers of which one knows what they can do, with what is out with each of them. */
export function candidates(rows: Reader, now: Moment): Candidate[] {
  const open = new Map<string, number>()
  for (const { workerId } of rows.attempts({ open: true })) open.set(workerId, (open.get(workerId) ?? 0) + 1)
  return rows.workers().flatMap((worker) => {
    const profile = profileOf(worker)
    if (profile === undefined) return []
    const state = stateAt(rows, worker, now)
    const sent = open.get(worker.workerId) ?? 0
    const isHeard = state !== 'gone' && !(isWatched(worker) && leftMs(worker, now) <= 0)
    return {
      workerId: worker.workerId,
      speaks: worker.speaks,
      state,
      profile,
      // What it announced may have ended since, and what we sent it may not know yet: the larger of the two, as long as
      // what it announced holds.
      active: isHeard ? Math.max(sent, profile.session.active_tasks) : sent,
      near: 0,
    }
  })
}
