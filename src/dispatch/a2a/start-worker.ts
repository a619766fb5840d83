// A worker with its transport: its desk behind an A2A address, its announces to whoever orchestrates.
import { join } from 'node:path'
import type { Coordination } from '../../coordination/coordination.ts'
import { HeimdallError } from '../../errors.ts'
import type { Announce } from '../messages.ts'
import { takeAlone } from '../only-one.ts'
import { type KnownPeer, LOCAL, localPeers, newToken, publishAddress, whoShows, withdrawAddress } from '../peers.ts'
import { drainSetting } from '../worker/drain-setting.ts'
import { type DeskOptions, WorkerDesk } from '../worker/worker-desk.ts'
import { withWholeBriefs } from '../by-log/large-briefs.ts'
import { FLEET_ORCHESTRATOR, LogDesk } from '../by-log/log-desk.ts'
import { drainInstance, endInstance } from '../workers.ts'
import { membershipIn } from '../../coordination/membership.ts'
import { Announcing } from './announcing.ts'
import { agentCard, legacyCard, liveCard, workerFacts } from './card.ts'
import { type Listen, serveA2a } from './http-server.ts'
import { spilledReply } from './task-view.ts'
import { workerMethods } from './worker-methods.ts'

export interface WorkerWish {
  readonly room: Coordination
  readonly dir: string
  readonly workerId: string
  readonly listen: Listen
  readonly version: string
  /** What tasks run in: `claude`, `codex` or `command`. */
  readonly runtime: string
  readonly desk: Omit<DeskOptions, 'room' | 'workerId' | 'note' | 'profile'>
  readonly profile: (url: () => string | undefined) => DeskOptions['profile']
  /** Peers of the settings that may send tasks, and that are told of us. */
  readonly orchestrators: () => readonly KnownPeer[]
  readonly note: (line: string) => void
}

export interface RunningWorker {
  readonly url: string
  readonly desk: WorkerDesk
  readonly announce: () => Promise<Announce>
  /** Takes nothing more, and says so. What it has goes on, and it stays to be asked for it. */
  drain(): Promise<void>
  /** Once its desk is settled: nothing of it touches the store any more. */
  stop(): Promise<void>
}

export async function startWorker(wish: WorkerWish): Promise<RunningWorker> {
  const { room, dir, workerId, note } = wish
  const release = takeAlone(join(dir, `worker-${workerId}.lock`))
  if (release === undefined)
    throw new HeimdallError('WORKER_RUNNING', `worker ${workerId} is already running for this repository`, {
      hint: 'use another --name',
    })
  const over = new AbortController()
  /** How each step is undone, should a later one fail. */
  const undo: (() => unknown)[] = [release, () => over.abort()]
  try {
    let url: string | undefined
    const token = newToken()
    const execution = withWholeBriefs({ room, note, signal: over.signal }, wish.desk.execution, FLEET_ORCHESTRATOR)
    const desk = new WorkerDesk({ ...wish.desk, execution, room, workerId, note, profile: wish.profile(() => url) })
    const first = await desk.announce()
    // In a fleet it is the log that everybody hears, on this machine too.
    const { instanceId } = wish.desk
    const inLog =
      membershipIn(room.store) === undefined ? undefined : new LogDesk({ room, workerId, instanceId, desk, note })
    // From here on tasks are routed to it.
    undo.push(async () => {
      desk.leave()
      await inLog?.leave()
    })
    await inLog?.enter(first)
    const server = await serveA2a({
      ...wish.listen,
      methods: (at) => {
        url = at
        const facts = workerFacts({ ...first, url: at }, at, wish.version, [wish.runtime])
        return workerMethods({
          desk,
          card: agentCard(facts),
          url: at,
          liveCard: (announce) => liveCard(facts, announce),
        })
      },
      legacyCard: (at) => legacyCard(workerFacts(first, at, wish.version, [wish.runtime])),
      reply: (id, principal) => {
        const assignment = desk.assignment(id)
        return assignment?.from === principal ? spilledReply(assignment) : undefined
      },
      authenticate: (shown) =>
        whoShows(shown, [
          { name: LOCAL, url: '', role: 'orchestrator', token: () => token, origin: 'local' },
          ...wish.orchestrators(),
        ]),
      note,
    })
    undo.push(
      () => server.close(),
      () => withdrawAddress(dir, 'worker', workerId),
    )
    publishAddress(dir, 'worker', { name: workerId, url: server.url, token })
    desk.recover()
    const announcing = new Announcing({
      announce: () => desk.announce(),
      also: inLog === undefined ? undefined : (announce) => inLog.announce(announce),
      // An orchestrator of this machine knows us by the address that we have just put there.
      orchestrators: () => [
        ...(inLog === undefined ? localPeers(dir, 'orchestrator') : []).map((one) => ({ ...one, token: () => token })),
        ...wish.orchestrators(),
      ],
      onCancel: (id) =>
        void desk.cancel(id, 'its orchestrator has gone on without it').catch((error: unknown) => note(String(error))),
      clock: room.clock,
      note,
    })
    await announcing.start()
    const drain = async (): Promise<void> => {
      desk.drain()
      if (inLog === undefined) await drainInstance(room, workerId, instanceId)
      await announcing.start()
    }
    const following = Promise.all([
      follow(wish, over.signal, announcing, drain),
      inLog?.run(over.signal),
      room.store.link(over.signal, (error) => note(error.message)),
    ])
    return {
      url: server.url,
      desk,
      announce: () => desk.announce(),
      drain,
      async stop() {
        desk.leave()
        await announcing.stop()
        // Whoever orchestrates only while it waits hears no announce, and would send to nobody until the lease is over.
        await (inLog === undefined ? endInstance(room, workerId, instanceId) : inLog.leave())
        withdrawAddress(dir, 'worker', workerId)
        over.abort()
        await following
        await server.close()
        release()
      },
    }
  } catch (error) {
    for (const step of undo.toReversed()) await step()
    throw error
  }
}

/** Tasks that begin and end change what is announced; so does a person's word. */
async function follow(
  { room, workerId }: WorkerWish,
  signal: AbortSignal,
  announcing: Announcing,
  drain: () => Promise<void>,
): Promise<void> {
  const from = room.store.read((rows) => rows.head())
  for await (const { puts } of room.store.follow(from, signal)) {
    if (puts.some((put) => put.table === 'assignments' && 'row' in put && put.row['worker_id'] === workerId))
      announcing.changed()
    if (puts.some((put) => put.table === 'settings' && 'row' in put && put.row['key'] === drainSetting(workerId)))
      await drain()
  }
}
