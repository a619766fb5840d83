// What a server session works on: one project, opened on first use, and the identities that this session may act under.
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { openPlanning, type Planning } from '../briefing/planning.ts'
import type { Clock } from '../clock.ts'
import type { AgentActor } from '../coordination/change.ts'
import { lossText, tellLoss } from '../coordination/claims/held.ts'
import { caller } from '../coordination/who/caller.ts'
import {
  type Coordination,
  isUnwritable,
  openCoordination,
  openCoordinationToRead,
  projectHaid,
} from '../coordination/coordination.ts'
import { leaveSession } from '../coordination/who/enrol.ts'
import { rootOf, slug } from '../coordination/who/haid.ts'
import { publish, takeIn } from '../coordination/frame.ts'
import { KnownScopes } from '../coordination/claims/known-scopes.ts'
import { placeOf } from '../coordination/who/place.ts'
import { ageMsOfRef, processRef } from '../coordination/who/process-ref.ts'
import { readMachine } from '../coordination/moment.ts'
import { roomOptions } from '../coordination/room-options.ts'
import { storePath } from '../coordination/store-path.ts'
import { HeimdallError } from '../errors.ts'
import { label } from '../fence.ts'
import { fleetDoor } from '../fleet/door.ts'
import { MCP_BODY_CHARS_MAX } from '../limits.ts'
import { type Env, findProject, findProjectIfThere, type Project } from '../paths.ts'
import { readStat } from '../processes.ts'
import { type ClientIdentity, identify, type IdentifyOptions, isOfRun, ownIdentity } from './client-identity.ts'
import { LedgerNews } from './ledger-news.ts'

interface DeskOptions {
  readonly cwd: string
  readonly env: Env
  readonly clock: Clock
  readonly pid: number
  /** One line for the person who reads the host's log. */
  readonly note: (line: string) => void
}

/** The server starts without touching the disk: a host starts every server it knows, and asks few of them. */
type Origin = Pick<IdentifyOptions, 'process' | 'startedBy' | 'startedByAgeMs' | 'place'>

export class Desk {
  readonly clock: Clock
  readonly randomBytes = randomBytes
  readonly scopes = new KnownScopes()
  readonly #options: DeskOptions
  readonly #owned = new Map<string, ClientIdentity>()
  readonly #news = new LedgerNews()
  #where: Omit<Origin, 'startedByAgeMs'> | undefined
  #room: Promise<Coordination> | undefined
  /** While the store cannot be written. */
  #reading: Coordination | undefined
  #identified: Promise<unknown> = Promise.resolve()
  #following: AbortController | undefined
  /** Of the store's file when it was opened. */
  #inode: number | undefined

  constructor(options: DeskOptions) {
    this.#options = options
    this.clock = options.clock
  }

  /** Found again for each call until it is open, so that a folder that becomes a repository later is no reason to restart. */
  get project(): Project {
    return findProject(this.#options.cwd, this.#options.env)
  }

  get planning(): Planning {
    return openPlanning(this.project, this.clock, this.#options.note)
  }

  get env(): Env {
    return this.#options.env
  }

  /** What tools read is what their caller was identified in. */
  room(): Promise<Coordination> {
    if (this.#reading !== undefined) return Promise.resolve(this.#reading)
    this.#room ??= this.#open()
    return this.#room
  }

  /** After a change: the files that people and other machines read. The change is safe without them, and the next one writes them. */
  async publish(haid: string): Promise<void> {
    await publish(this.#options, await this.room(), () => haid)
  }

  async #open(): Promise<Coordination> {
    try {
      const room = openCoordination(await roomOptions({ ...this.#options, fleet: fleetDoor }))
      this.#inode = inodeOf(room)
      // For as long as the server runs, or its store is open: what it answers is as new as the fleet.
      this.#following = new AbortController()
      void room.store.link(this.#following.signal)
      return room
    } catch (error) {
      // The next call tries again: a locked or unreadable store may be neither by then.
      this.#room = undefined
      throw error
    }
  }

  /**
   * Who a call is attributed to: the client of this connection, or the label that the call asks for. One at a time:
   * calls that come together would each make an identity.
   */
  identity(client: string, label: string | undefined): Promise<ClientIdentity> {
    const identified = this.#identified.then(() => this.#identify(client, label))
    // Whoever asked hears of a failure; the next one tries for itself.
    this.#identified = identified.catch(() => undefined)
    return identified
  }

  async #identify(client: string, label: string | undefined): Promise<ClientIdentity> {
    const { env } = this.#options
    this.#reading?.store.close()
    this.#reading = undefined
    const room = await this.#currentRoom()
    if (this.#news.isDue(room.project, room.clock.wallMs())) await takeIn(this.#options, room)
    return identify(room, { env, client, label, ...this.#origin(), owned: this.#owned })
  }

  /** The identity behind another HAID, if the caller has or had it. */
  async ownIdentity(client: string, haid: string): Promise<ClientIdentity | undefined> {
    const { env } = this.#options
    return ownIdentity(
      await this.room(),
      { env, client, label: undefined, ...this.#origin(), owned: this.#owned },
      haid,
    )
  }

  /** Claims that were taken from the caller and that it was not told of. */
  async lossOf(actor: AgentActor, isReadOnly: boolean): Promise<string | undefined> {
    const room = await this.room()
    const text = isReadOnly ? room.store.read((rows) => lossText(rows, actor.haid)) : await tellLoss(room, actor)
    return text === undefined ? undefined : label(text, MCP_BODY_CHARS_MAX)
  }

  /** Whom the answer to a call names that could not be identified: the connection's own identity, or the one that it would have. */
  attributed(client: string, error: HeimdallError): string | undefined {
    const [own] = this.#owned.values()
    if (own !== undefined) return own.haid
    const { haid: revoked } = error.details ?? {}
    if (error.code === 'AGENT_REVOKED' && typeof revoked === 'string') return revoked
    const project = findProjectIfThere(this.#options.cwd, this.env)
    if (project === undefined) return undefined
    return `${rootOf(projectHaid(project, this.env, readMachine()))}/${slug(client) || 'client'}`
  }

  /** For what only reads: where nothing can be written, nobody is registered and nothing beats, and the answer is what is known. */
  async identityToRead(
    client: string,
    label: string | undefined,
  ): Promise<Pick<ClientIdentity, 'haid' | 'agentId' | 'actor'>> {
    try {
      return await this.identity(client, label)
    } catch (error) {
      if (!isUnwritable(error)) throw error
      const room = await this.#roomToRead(error)
      const { env } = this.#options
      const found = caller(room, { env, place: this.#origin().place })
      const haid = isOfRun(found) ? found.haid : `${rootOf(room.rootHaid)}/${slug(label ?? client) || 'client'}`
      return { haid, agentId: found.agent?.agentId ?? haid, actor: { kind: 'agent', haid, secret: null } }
    }
  }

  /** The next call tries to open it for writing again. */
  async #roomToRead(error: HeimdallError): Promise<Coordination> {
    const opened = await this.#room
    if (opened !== undefined) return opened
    const room = openCoordinationToRead(await roomOptions(this.#options))
    if (room === undefined) throw error
    this.#reading?.store.close()
    this.#reading = room
    return room
  }

  /** A store that was removed or replaced is left behind: whatever is granted in it, nobody else would ever see. */
  async #currentRoom(): Promise<Coordination> {
    const room = await this.room()
    if (inodeOf(room) === this.#inode) return room
    this.#options.note('the store was removed or replaced; a new one is opened')
    this.#room = undefined
    this.#owned.clear()
    this.#following?.abort()
    room.store.close()
    return await this.room()
  }

  /** Looked up once, on the first call: where this server runs does not change. */
  #origin(): Origin {
    const { pid } = this.#options
    const parent = readStat(pid)?.ppid
    this.#where ??= {
      process: processRef(pid) ?? `unknown ${pid} 0`,
      startedBy: parent === undefined ? undefined : processRef(parent),
      place: placeOf(pid),
    }
    const { startedBy } = this.#where
    return { ...this.#where, startedByAgeMs: startedBy === undefined ? undefined : ageMsOfRef(startedBy) }
  }

  /** Says that the identities of this connection are over, so that nobody waits for them. Their claims stay for whoever takes them up. */
  async close(): Promise<void> {
    this.#following?.abort()
    this.#reading?.store.close()
    const room = await this.#room
    if (room === undefined) return
    this.#room = undefined
    try {
      for (const { actor, isOwn } of this.#owned.values()) if (isOwn) await leaveSession(room, actor)
      await publish(this.#options, room)
    } catch (error) {
      // A store that is gone or busy, or an identity that was revoked: then the end of this process has to do.
      if (!(error instanceof HeimdallError)) throw error
      this.#options.note(`the end of this session is not on record: ${error.message}`)
    } finally {
      room.store.close()
    }
  }
}

function inodeOf({ project }: Coordination): number | undefined {
  return statSync(storePath(project), { throwIfNoEntry: false })?.ino
}
