// Who is calling, and how is that proved. Every door asks here: commands, MCP server, guard.
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import type { Env } from '../../paths.ts'
import { isRunning, livenessIn } from './alive.ts'
import type { Coordination } from '../coordination.ts'
import { type AgentActor, changeAsOther, findAgent, isSecretOf, speaksFor, unknownAgent, unproven } from '../change.ts'
import { invalidHaid, readHaid, rootOf } from './haid.ts'
import { haidHere } from './former-names.ts'
import { registerHaid } from './registration.ts'
import { keysOf, readKey } from './key-files.ts'
import { type Place, placeOf } from './place.ts'
import { revokedAbove, revokedError } from './revoked.ts'
import type { Agent, Reader } from '../store.ts'
import { agentMadeFor, enrolTree, haidOfTree, hostRole, sessionRole } from './tree-identity.ts'
import { NAME_VARIABLES, SECRET_VARIABLE, SESSION_VARIABLE, TRACKER_VARIABLE } from './variables.ts'

export interface CallOrigin {
  readonly env: Env
  /** Where the call comes from; nothing where processes cannot be read. */
  readonly place: Place | undefined
  /** `--agent` and the like. */
  readonly named?: string | undefined
  /** The same for one that is named by what it is here: below whatever this machine is called by now. */
  readonly role?: string | undefined
}

/** `secret`: of the agent's session. `process`: a descendant of the process that may speak for it. `key`: the file that only its owner can read. */
export type Proof = 'secret' | 'process' | 'key' | 'none'

export interface Caller {
  /** What it is taken as: a session, a host that runs by itself, a terminal that was set apart, the name it gave, or what everybody starts as. */
  readonly as: 'session' | 'host' | 'terminal' | 'name' | 'everybody'
  readonly haid: string
  /** Nothing for one that is not registered yet; acting registers it. */
  readonly agent: Agent | undefined
  readonly proof: Proof
  /** What made us think so, in words. */
  readonly because: string
  readonly secret: string | null
  /** Why it may change nothing, and under whose name that is recorded (nobody's, where nothing is proved). */
  readonly refused?: { readonly error: HeimdallError; readonly by: string | null; readonly to: string | null }
}

let place: Place | undefined

/** Of this very process, for a door that lives as long as one call: where it runs does not change. */
export function askingHere(env: Env, named?: string): CallOrigin {
  place ??= placeOf()
  return { env, place, named }
}

/** May run as often as one likes: it reads. */
export function caller(room: Coordination, asking: CallOrigin): Caller {
  return room.store.read((rows) => new Resolution(room, rows, asking).caller())
}

/** Who a caller would be in a repository where nobody has acted yet. */
export function haidBeforeAny(rootHaid: string, asking: CallOrigin): string {
  const { session, host } = asking.place ?? {}
  const named = labelsOf((role) => `${rootOf(rootHaid)}/${role}`, asking).find((label) => readHaid(label) !== undefined)
  const role = session !== undefined ? sessionRole(session.id) : host === undefined ? undefined : hostRole(host)
  return named ?? (role === undefined ? rootHaid : `${rootOf(rootHaid)}/${role}`)
}

/** The caller as the one who acts: registered if it is new, refused on record if it is not who it says. */
export async function actAs(room: Coordination, asking: CallOrigin, found: Caller): Promise<AgentActor> {
  if (found.refused !== undefined) {
    // A name that nobody has is a mistake, not an attempt.
    if (found.refused.to !== null) await recordRefusal(room, found.refused.error, found.refused)
    throw found.refused.error
  }
  const { place } = asking
  const actor: AgentActor = { kind: 'agent', haid: found.haid, secret: found.secret, tree: place?.tree }
  if (found.agent === undefined) return (await enrolCaller(room, place, found)) ?? actor
  // A session that was started for this agent holds it from the first act on.
  if (found.proof === 'key' && place?.session !== undefined)
    await changeAsOther(room, { kind: 'system' }, ({ rows }) => {
      const agent = rows.agent(found.haid)
      // Asked again here: since the first look it may have been taken up elsewhere, with another secret.
      if (agent === undefined || found.secret === null || !isSecretOf(agent, found.secret)) return
      if (isHeldElsewhere(room, rows, agent, place)) return
      rows.putAgent({ ...agent, runtime: { ...agent.runtime, tree: place.tree } })
    })
  return actor
}

async function enrolCaller(
  room: Coordination,
  place: Place | undefined,
  { haid, proof }: Caller,
): Promise<AgentActor | undefined> {
  if (proof === 'process' && place !== undefined) {
    const role = place.session === undefined ? hostRole(place.host ?? '') : sessionRole(place.session.id)
    const agent = await changeAsOther(room, { kind: 'system' }, (change) => enrolTree(room, change, place.tree, role))
    return { kind: 'agent', haid: agent.haid, secret: null, tree: place.tree }
  }
  const tree = place?.session === undefined ? undefined : place.tree
  const made = await registerHaid(room, haid, { tree }, keysOf(room))
  // Somebody else was faster: then the key is there by now.
  const secret = made?.secret ?? readKey(room.project, haid, secretHashOf(room, haid)) ?? null
  return { kind: 'agent', haid, secret, tree: place?.tree }
}

function secretHashOf(room: Coordination, haid: string): string | null {
  return room.store.read((rows) => rows.agent(haid)?.runtime.secretHash) ?? null
}

/** The name that an attempt of this caller is recorded under; nobody's where nothing is proved. */
export function nameToRecord({ agent, haid, proof, refused, as }: Caller): string | null {
  if (refused !== undefined) return refused.by
  if (proof === 'none' || as === 'everybody') return null
  return agent?.agentId ?? haid
}

/** An attempt that was refused, under the name of whoever made it. */
export async function recordRefusal(
  room: Coordination,
  error: HeimdallError,
  { by, to }: { readonly by: string | null; readonly to: string | null },
): Promise<void> {
  await changeAsOther(room, { kind: 'system' }, (change) =>
    change.record({
      type: 'REFUSED',
      actor: by,
      actorKind: by === null ? 'system' : 'agent',
      to,
      payload: { code: error.code, detail: error.message },
    }),
  )
}

interface Own {
  readonly haid: string
  readonly agent: Agent | undefined
}

/** One question, step by step. */
class Resolution {
  readonly #room: Coordination
  readonly #rows: Reader
  readonly #asking: CallOrigin
  readonly #place: Place | undefined
  /** What the variables say: the strongest first. */
  readonly #labels: readonly string[]
  /** Whom the call itself names. */
  readonly #asked: string | undefined

  constructor(room: Coordination, rows: Reader, asking: CallOrigin) {
    this.#room = room
    this.#rows = rows
    this.#asking = asking
    this.#place = asking.place
    this.#labels = labelsOf((role) => haidHere(room, rows, role), asking)
    this.#asked = asking.named ?? (asking.role === undefined ? undefined : haidHere(room, rows, asking.role))
  }

  /** Whoever it is: not one that is revoked, nor another name of one. */
  caller(): Caller {
    const found = this.#found()
    if (found.refused !== undefined) return found
    const revoked = (found.agent?.revokedMs ?? null) !== null ? found.agent : revokedAbove(this.#rows, this.#place)
    if (revoked === undefined) return found
    return { ...found, refused: { error: revokedError(revoked), by: revoked.agentId, to: revoked.agentId } }
  }

  #found(): Caller {
    const secret = textOf(this.#asking.env, SECRET_VARIABLE)
    const asked = this.#asked ?? this.#labels[0]
    if (secret !== undefined) return this.#bySecret(secret, asked)
    return asked === undefined ? this.#unnamed() : this.#named(asked)
  }

  /** Nobody is named: the session, the tree that was set apart, or what everybody of this human and machine starts as. */
  #unnamed(): Caller {
    const session = this.#ofSession()
    if (session !== undefined) return session
    const { tree, host } = this.#place ?? {}
    const made = tree === undefined ? undefined : agentMadeFor(this.#room, this.#rows, tree)
    const because = host === undefined ? 'this process tree has a name of its own' : `${host} runs it`
    if (made !== undefined) return this.#byProcess(host === undefined ? 'terminal' : 'host', made, because)
    // Hooks, shims, the ledger server and commits of one host session all descend from the host: they are one agent.
    if (tree !== undefined && host !== undefined) {
      const haid = haidOfTree(this.#room, this.#rows, tree, hostRole(host))
      return { as: 'host', haid, agent: undefined, proof: 'process', because, secret: null }
    }
    const haid = haidHere(this.#room, this.#rows)
    return this.#byKey('everybody', haid, 'no session and no variable says otherwise')
  }

  /** Who the session is that the caller runs in: the agent that it was started for, or itself. */
  #ofSession(): Caller | undefined {
    const { session, tree } = this.#place ?? {}
    if (session === undefined || tree === undefined) return undefined
    const startedFor = session.startedFor === undefined ? undefined : findAgent(this.#rows, session.startedFor)
    const because = `session ${printable(session.id)}`
    if (startedFor !== undefined && speaksFor(startedFor, tree)) return this.#byProcess('session', startedFor, because)
    if (startedFor !== undefined) return this.#byKey('session', startedFor.haid, `${because} was started for it`)
    const made = agentMadeFor(this.#room, this.#rows, tree)
    if (made !== undefined) return this.#byProcess('session', made, because)
    const haid = haidOfTree(this.#room, this.#rows, tree, sessionRole(session.id))
    return { as: 'session', haid, agent: undefined, proof: 'process', because, secret: null }
  }

  #named(asked: string): Caller {
    const target = findAgent(this.#rows, asked)
    if (target !== undefined && this.#place !== undefined && speaksFor(target, this.#place.tree))
      return this.#byProcess('name', target, 'it was registered here')
    const session = this.#ofSession()
    // It is nobody until the other lets go, whatever it is called.
    if (session?.refused !== undefined) return session
    const own = session ?? this.#labelled()
    const isOwn = target !== undefined && own !== undefined && own.haid === target.haid
    if (own !== undefined && !isOwn && (target !== undefined || this.#asked !== undefined))
      return this.#borrowed(own, asked, target)
    if (session !== undefined && isOwn) return session
    const contrary = this.#labels.find((label) => this.#asked === undefined && !this.#isSame(label, asked))
    if (contrary !== undefined) return this.#contradictory(asked, contrary)
    if (target === undefined && !asked.startsWith('haid:')) return this.#nobody(asked, unknownAgent(asked, this.#rows))
    const because = this.#asked === undefined ? 'a variable says so' : 'it was named'
    return this.#byKey('name', target?.haid ?? asked, because)
  }

  #labelled(): Own | undefined {
    const [label] = this.#labels
    if (label === undefined) return undefined
    const agent = findAgent(this.#rows, label)
    return { haid: agent?.haid ?? label, agent }
  }

  #isSame(one: string, other: string): boolean {
    return one === other || (findAgent(this.#rows, one)?.haid ?? one) === (findAgent(this.#rows, other)?.haid ?? other)
  }

  #bySecret(secret: string, asked: string | undefined): Caller {
    const target = asked === undefined ? undefined : findAgent(this.#rows, asked)
    if (target !== undefined && isSecretOf(target, secret))
      return {
        as: 'name',
        haid: target.haid,
        agent: target,
        proof: 'secret',
        because: `${SECRET_VARIABLE} is its secret`,
        secret,
      }
    const own = this.#labels.map((label) => findAgent(this.#rows, label)).find((one) => one && isSecretOf(one, secret))
    if (own !== undefined && asked !== undefined) return this.#borrowed({ haid: own.haid, agent: own }, asked, target)
    const name = asked ?? 'anybody'
    const error =
      target === undefined && asked !== undefined
        ? unknownAgent(asked, this.#rows)
        : target === undefined
          ? new HeimdallError('IDENTITY_UNPROVEN', `${SECRET_VARIABLE} is set, and nothing says whose it is`, {
              hint: `set ${NAME_VARIABLES[0]} as well, or unset both`,
            })
          : unproven(target)
    return this.#nobody(name, error, target)
  }

  /** Has a name of its own and says another's. */
  #borrowed(own: Own, asked: string, target: Agent | undefined): Caller {
    const name = own.agent?.agentId ?? own.haid
    const error = new HeimdallError('IDENTITY_BORROWED', `${name} may not act as ${target?.agentId ?? asked}`, {
      hint: `leave the name away and act as ${name}, or prove the other with ${SECRET_VARIABLE}; heimdall whoami explains`,
    })
    return this.#refuse(own.haid, own.agent, error, this.#provenName(own), target)
  }

  #contradictory(asked: string, contrary: string): Caller {
    const error = new HeimdallError(
      'IDENTITY_BORROWED',
      `the environment names ${printable(asked)} and ${printable(contrary)}, and proves neither`,
      { hint: `set one of ${NAME_VARIABLES.join(', ')}, or give all of them the same agent` },
    )
    const target = findAgent(this.#rows, asked)
    return this.#refuse(target?.haid ?? asked, target, error, null, target)
  }

  #nobody(name: string, error: HeimdallError, target?: Agent): Caller {
    const session = this.#ofSession()
    const by = session?.refused === undefined ? (session?.agent?.agentId ?? null) : session.refused.by
    return this.#refuse(target?.haid ?? name, undefined, error, by, target)
  }

  /** A session that was started for an agent which another holds is not that agent; it may have a name by itself. */
  #nameMadeHere(): string | null {
    const { session, tree } = this.#place ?? {}
    if (session === undefined || tree === undefined) return null
    return agentMadeFor(this.#room, this.#rows, tree)?.agentId ?? null
  }

  #refuse(haid: string, agent: Agent | undefined, error: HeimdallError, by: string | null, to?: Agent): Caller {
    const refused = { error, by, to: to?.agentId ?? null }
    return { as: 'name', haid, agent, proof: 'none', because: error.message, secret: null, refused }
  }

  /** The name to record an attempt under: that of the session, or of an agent that the caller could act as. */
  #provenName(own: Own): string | null {
    if (own.agent === undefined) return readHaid(own.haid) === undefined ? null : own.haid
    if (this.#place?.session !== undefined || textOf(this.#asking.env, SECRET_VARIABLE) !== undefined)
      return own.agent.agentId
    return this.#byKey('name', own.agent.haid, '').proof === 'none' ? null : own.agent.agentId
  }

  #byProcess(as: Caller['as'], agent: Agent, because: string): Caller {
    return { as, haid: agent.haid, agent, proof: 'process', because, secret: null }
  }

  /** From the key file, as scripts do: never for one that a live session or connection holds. */
  #byKey(as: Caller['as'], haid: string, because: string): Caller {
    const agent = this.#rows.agent(haid)
    if (agent === undefined && readHaid(haid) === undefined) return this.#nobody(haid, invalidHaid(haid))
    if (agent === undefined) return { as, haid, agent, proof: 'key', because, secret: null }
    if (isHeldElsewhere(this.#room, this.#rows, agent, this.#place)) {
      const error = new HeimdallError(
        'IDENTITY_HELD',
        `${agent.agentId} is held by a session or connection that runs`,
        {
          hint: 'act under your own name, or ask the session that holds it',
        },
      )
      return this.#refuse(haid, agent, error, this.#nameMadeHere(), agent)
    }
    try {
      const secret = readKey(this.#room.project, haid, agent.runtime.secretHash) ?? null
      // A file of the name proves nothing: it may be an earlier session's, or made up.
      const isProof = secret !== null && isSecretOf(agent, secret)
      return { as, haid, agent, proof: isProof ? 'key' : 'none', because, secret }
    } catch (error) {
      if (!(error instanceof HeimdallError) || error.code !== 'IDENTITY_UNPROVEN') throw error
      return this.#refuse(haid, agent, error, null, agent)
    }
  }
}

/** Held by a process that is not above the caller. Where nothing can be proved of it, its beats decide. */
function isHeldElsewhere(room: Coordination, rows: Reader, agent: Agent, place: Place | undefined): boolean {
  const { runtime } = agent
  if (place !== undefined && speaksFor(agent, place.tree)) return false
  if (isRunning(room, agent)) return true
  const process = runtime.process ?? runtime.tree
  return (
    process !== null && room.fateOf(process) === 'unknown' && livenessIn(room, rows, agent, room.now()) !== 'evicted'
  )
}

function labelsOf(haidOf: (role: string) => string, { env, place }: CallOrigin): string[] {
  const names = NAME_VARIABLES.flatMap((name) => textOf(env, name) ?? [])
  if (names.length > 0) return names
  const tracker = textOf(env, TRACKER_VARIABLE)
  if (tracker !== undefined) return [tracker]
  // A session that processes do not show is a name like any other: whoever is elsewhere may say it as well.
  const session = place?.session === undefined ? textOf(env, SESSION_VARIABLE) : undefined
  return session === undefined ? [] : [haidOf(sessionRole(session))]
}

function textOf(env: Env, name: string): string | undefined {
  const value = env[name]
  return value === '' ? undefined : value
}
