// Who tasks are sent to and who may send: peers of the user's settings, and those that run on this machine for the same repository.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { PeerEntry } from '../config.ts'
import type { Coordination } from '../coordination/coordination.ts'
import { ORCHESTRATOR_SETTING, orchestratorSign } from '../coordination/dispatched.ts'
import { membershipOf } from '../coordination/membership.ts'
import { sinceMs } from '../coordination/moment.ts'
import { fateOf, pidOf, type ProcessRef, processRef } from '../coordination/who/process-ref.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import { isId } from '../ids.ts'
import { ORCHESTRATOR_LEASE_MS, PEER_TOKEN_BYTES_MAX } from '../limits.ts'
import { type Env, type Project, stateFolder } from '../paths.ts'
import { firstCommits } from '../spine/worktrees/first-commits.ts'
import { gitIn } from '../spine/worktrees/git.ts'
import { readFileIfThere, removeIfThere } from '../storage/atomic-file.ts'
import { readJsonIfThere, writePrivate } from './json-file.ts'
import { hashText } from './short-hash.ts'

/** A peer, with what it shows us and we show it. */
export interface KnownPeer {
  readonly name: string
  readonly url: string
  readonly role: PeerEntry['role']
  /** Nothing where it cannot be read: then nobody is this peer. */
  readonly token: () => string | undefined
  readonly origin: 'settings' | 'local'
}

/** Of this repository, below the user's own state: nothing that arrives with a repository is in here. */
export const dispatchDir = (env: Env, project: Project): string =>
  join(stateFolder(env, 'dispatch'), hashText(project.coordinationDir).slice(0, 16))

/** Ids of a repository: its first commits, which every clone has, and one of the folder on this machine. */
export const repositoryIds = async (project: Project, env: Env): Promise<string[]> => [
  ...(project.gitCommonDir === undefined ? [] : await firstCommits(gitIn(project.root, env))),
  `dir:${hashText(project.coordinationDir).slice(0, 16)}`,
]

interface Address {
  readonly name: string
  readonly url: string
  readonly token: string
  /** Null where the system does not tell. */
  readonly process: ProcessRef | null
}

/** Whoever can read the address of a process is its user on its machine; no id of a peer is spelt like this. */
export const LOCAL = '@local'

export const newToken = (): string => randomBytes(32).toString('base64url')

const addressPath = (dir: string, role: PeerEntry['role'], name: string): string =>
  join(dir, `${role}s`, `${name}.json`)

interface Orchestrating {
  /** What the process is, for people. */
  readonly as: string
  readonly process: ProcessRef | null
}

const orchestratingPath = (dir: string): string => join(dir, 'orchestrator.json')

export function noteOrchestrating(dir: string, as: string): void {
  const own: Orchestrating = { as, process: processRef(process.pid) ?? null }
  writePrivate(orchestratingPath(dir), JSON.stringify(own))
}

export const endOrchestrating = (dir: string): boolean => removeIfThere(orchestratingPath(dir))

/** What sends queued tasks to workers now, in a fleet perhaps on another machine; undefined where nothing does. */
export function orchestratedBy({ store, now }: Pick<Coordination, 'store' | 'now'>, dir: string): string | undefined {
  const own = readJsonIfThere(orchestratingPath(dir)) as Orchestrating | undefined
  if (own?.process !== undefined && own.process !== null && fateOf(own.process) !== 'gone')
    return `${own.as} (process ${pidOf(own.process)})`
  return store.read((rows) => {
    const held = rows.setting(ORCHESTRATOR_SETTING) ?? ''
    if (held === '' || membershipOf(rows) === undefined) return undefined
    const { holder, machine } = JSON.parse(held) as { holder: string; machine: string }
    const last = rows.lastSign(orchestratorSign(holder))
    return last !== undefined && sinceMs(last, now()) < ORCHESTRATOR_LEASE_MS ? `machine ${machine}` : undefined
  })
}

/** For the commands of this user on this machine: where it is, and what to show it. Only its owner can read it. */
export function publishAddress(dir: string, role: PeerEntry['role'], own: Omit<Address, 'process'>): void {
  const address: Address = { ...own, process: processRef(process.pid) ?? null }
  writePrivate(addressPath(dir, role, own.name), JSON.stringify(address))
}

export const withdrawAddress = (dir: string, role: PeerEntry['role'], name: string): boolean =>
  removeIfThere(addressPath(dir, role, name))

/** Without those whose process has ended: any program may have their port now. */
export function localPeers(dir: string, role: PeerEntry['role']): KnownPeer[] {
  return namesIn(join(dir, `${role}s`)).flatMap((name) => {
    const path = addressPath(dir, role, name)
    const address = isPrivate(path) ? (readJsonIfThere(path) as Address | undefined) : undefined
    if (address === undefined || (address.process !== null && fateOf(address.process) === 'gone')) return []
    return [{ name, url: address.url, role, token: () => address.token, origin: 'local' }]
  })
}

/** Peers of the settings and of this machine; read at each use, so that a worker that starts later is found. */
export interface KnownPeers {
  readonly dir: string
  readonly peers: (role: PeerEntry['role']) => readonly KnownPeer[]
}

export function knownPeers(env: Env, project: Project, entries: readonly PeerEntry[], cwd: string): KnownPeers {
  const dir = dispatchDir(env, project)
  const configured = {
    worker: settingsPeers(entries, 'worker', cwd),
    orchestrator: settingsPeers(entries, 'orchestrator', cwd),
  }
  return { dir, peers: (role) => [...configured[role], ...localPeers(dir, role)] }
}

/** Refuses what would be sent in the open, or to nobody. */
export function settingsPeers(entries: readonly PeerEntry[], role: PeerEntry['role'], cwd: string): KnownPeer[] {
  return entries
    .filter((entry) => entry.role === role)
    .map((entry) => {
      if (!isId(entry.name)) throw invalid(entry, 'invalid name')
      if (!isUrl(entry.url)) throw invalid(entry, 'the url is neither http nor https')
      const path = resolve(cwd, entry.token_file.replace(/^~(?=\/)/, homedir()))
      return { name: entry.name, url: entry.url, role, token: () => readToken(path), origin: 'settings' as const }
    })
}

const invalid = ({ name }: PeerEntry, problem: string): HeimdallError =>
  new HeimdallError('PEER_INVALID', `peer ${JSON.stringify(name)}: ${problem}`)

/** Nothing for a file that is not there; one that others can read is refused. */
export function readToken(path: string): string | undefined {
  if (!isPrivate(path)) return undefined
  const bytes = readFileIfThere(path)
  if (bytes === undefined || bytes.length > PEER_TOKEN_BYTES_MAX) return undefined
  const token = bytes.toString('utf8').trim()
  return token === '' ? undefined : token
}

function isPrivate(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return false
  if (!stats.isFile() || (stats.mode & 0o077) !== 0 || (process.getuid !== undefined && stats.uid !== process.getuid()))
    throw new HeimdallError('PEER_INVALID', `${path} is readable by other users, or owned by one`, {
      hint: `chmod 600 ${path}`,
    })
  return true
}

/** Which peer shows this token. Every one is compared, and each in full. */
export function whoShows(token: string, peers: readonly KnownPeer[]): string | undefined {
  let found: string | undefined
  for (const { name, token: of } of peers) {
    const known = of()
    if (known !== undefined && isSame(known, token)) found = name
  }
  return found
}

const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(hashText(one), 'hex'), Buffer.from(hashText(other), 'hex'))

function isUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .map((name) => name.slice(0, -'.json'.length))
      .sort()
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}
