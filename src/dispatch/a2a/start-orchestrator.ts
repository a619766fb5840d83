// The orchestrator with its transport: peers over A2A, and where it is asked for, an address that workers announce themselves to.
import type { Planning } from '../../briefing/planning.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { logAttempt } from '../ledger-rows.ts'
import { takeAlone } from '../only-one.ts'
import { Orchestrator } from '../orchestrator.ts'
import {
  endOrchestrating,
  type KnownPeer,
  LOCAL,
  newToken,
  noteOrchestrating,
  publishAddress,
  whoShows,
  withdrawAddress,
} from '../peers.ts'
import { clearBriefs, sendsWholeBriefs } from '../by-log/large-briefs.ts'
import { takeLease } from '../by-log/lease.ts'
import { LogPeer } from '../by-log/log-peer.ts'
import { membershipIn } from '../../coordination/membership.ts'
import type { Peer } from '../peer.ts'
import { takeAnnounce } from '../workers.ts'
import { A2aPeer, type A2aPeerOptions } from './a2a-peer.ts'
import { agentCard, type CardFacts, legacyCard } from './card.ts'
import { type A2aServer, type Listen, serveA2a } from './http-server.ts'
import { orchestratorMethods } from './orchestrator-methods.ts'

export interface OrchestratorWish {
  readonly room: Coordination
  /** Of this repository, for the user alone. */
  readonly dir: string
  /** What the process is, for people. */
  readonly as: string
  /** Looked up at each use. */
  readonly workers: () => readonly KnownPeer[]
  /** Nothing where nobody may announce itself: then workers are asked. */
  readonly listen: Listen | undefined
  readonly version: string
  readonly planning: Planning | undefined
  readonly note: (line: string) => void
}

export interface RunningOrchestrator {
  readonly url: string | undefined
  /** Rejects where it could not go on. */
  readonly done: Promise<void>
  stop(): Promise<void>
}

const NAME = 'orchestrator'

/** Nothing while another orchestrates this repository. */
export async function startOrchestrator(wish: OrchestratorWish): Promise<RunningOrchestrator | undefined> {
  const release = takeAlone(`${wish.dir}/orchestrator.lock`)
  if (release === undefined) return undefined
  const over = new AbortController()
  try {
    let orchestrator: Orchestrator | undefined
    const { room, note } = wish
    const lease = await takeLease({ room, note, signal: over.signal, onLost: () => orchestrator?.stop() })
    if (lease === undefined) {
      release()
      return undefined
    }
    const linked = Promise.all([
      room.store.link(over.signal, (error) => note(error.message)),
      clearBriefs(room, note, over.signal),
    ])
    noteOrchestrating(wish.dir, wish.as)
    const server = wish.listen === undefined ? undefined : await listen(wish, wish.listen)
    const running = new Orchestrator({
      room: wish.room,
      peers: peersOf(wish),
      note: wish.note,
      onSettled: async (key) => {
        if (wish.planning !== undefined) await logAttempt(wish.planning, wish.room, key)
      },
    })
    orchestrator = running
    const done = running.run()
    return {
      url: server?.url,
      done,
      async stop() {
        running.stop()
        await done
        await lease.release()
        over.abort()
        await linked
        await server?.close()
        if (server !== undefined) withdrawAddress(wish.dir, 'orchestrator', NAME)
        endOrchestrating(wish.dir)
        release()
      },
    }
  } catch (error) {
    over.abort()
    release()
    throw error
  }
}

/** One client for each peer as long as its address stays. In a fleet workers of all machines are reached through the log, and over A2A only those that the settings name. */
export function peersOf({
  room,
  workers,
  note,
}: Pick<OrchestratorWish, 'room' | 'workers' | 'note'>): () => ReadonlyMap<string, { peer: Peer; url: string }> {
  let known = new Map<string, { peer: Peer; url: string }>()
  return () => {
    const isMember = membershipIn(room.store) !== undefined
    const named = workers().filter(({ origin }) => !isMember || origin === 'settings')
    const inLog = isMember ? room.store.read((rows) => rows.workers()).filter(({ url }) => url === null) : []
    const kept = (name: string, url: string, make: () => Peer): [string, { peer: Peer; url: string }] => {
      const before = known.get(name)
      return [name, before?.url === url ? before : { url, peer: make() }]
    }
    known = new Map([
      ...inLog.map(({ workerId }) => kept(workerId, '', () => new LogPeer(room, workerId))),
      ...named.map(({ name, url, token }) =>
        kept(name, url, () => {
          const onAnnounce: A2aPeerOptions['onAnnounce'] = async (announce, speaks) =>
            void (await takeAnnounce(room, { name, url, speaks }, announce))
          return sendsWholeBriefs(room, new A2aPeer({ name, url, token, clock: room.clock, note, onAnnounce }))
        }),
      ),
    ])
    return known
  }
}

async function listen(wish: OrchestratorWish, at: Listen): Promise<A2aServer> {
  const facts = (url: string): CardFacts => ({
    name: NAME,
    description: 'takes announces of workers, and sends them tasks',
    url,
    version: wish.version,
    tags: [NAME],
    params: { role: NAME, protocol_minor: 0, features: [] },
  })
  const epoch = wish.room.newId()
  const token = newToken()
  const server = await serveA2a({
    ...at,
    methods: (url) =>
      orchestratorMethods({
        room: wish.room,
        card: agentCard(facts(url)),
        epoch,
        urlOf: (name) => wish.workers().find((one) => one.name === name)?.url ?? null,
      }),
    legacyCard: (url) => legacyCard(facts(url)),
    authenticate: (shown) =>
      whoShows(shown, [
        { name: LOCAL, url: '', role: 'orchestrator', token: () => token, origin: 'local' },
        ...wish.workers(),
      ]),
    note: wish.note,
  })
  publishAddress(wish.dir, 'orchestrator', { name: NAME, url: server.url, token })
  return server
}
