// Which process is at the other end of a connection on this machine, by what the kernel says of it: a command that asks for a link cannot pretend to be another.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isErrno } from '../../errors.ts'
import { HUB_PEERS_MAX } from '../../limits.ts'

/** The two ends of a connection. */
interface Ports {
  readonly theirs: number
  readonly ours: number
}

/** Nothing where the system does not tell, or the process is not ours to look at. */
export function peerProcess(ports: Ports): number | undefined {
  const inode = inodeOf(ports)
  return inode === undefined ? undefined : heldBy(pids(), inode)?.pid
}

/** A process, and the number under which it has the connection. */
interface Holder {
  readonly pid: number
  readonly link: string
  readonly name: string
}

/**
 * The same for connections that ask often. A look at everything that is open on the machine is taken once for each of
 * them, and begins with whoever has asked before; after that one look tells whether that process still holds it.
 */
export class Peers {
  readonly #holders = new WeakMap<object, Holder>()
  readonly #before = new Set<number>()

  of(connection: object, ports: Ports): number | undefined {
    const known = this.#holders.get(connection)
    if (known !== undefined && ifThere(() => readlinkSync(known.link)) === known.name) return known.pid
    const inode = inodeOf(ports)
    const holder = inode === undefined ? undefined : (heldBy([...this.#before], inode) ?? heldBy(pids(), inode))
    if (holder === undefined) return undefined
    this.#holders.set(connection, holder)
    this.#before.delete(holder.pid)
    this.#before.add(holder.pid)
    const [oldest] = this.#before
    if (oldest !== undefined && this.#before.size > HUB_PEERS_MAX) this.#before.delete(oldest)
    return holder.pid
  }
}

function heldBy(pids: readonly number[], inode: string): Holder | undefined {
  const name = `socket:[${inode}]`
  for (const pid of pids)
    for (const fd of ifThere(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
      const link = `/proc/${pid}/fd/${fd}`
      if (ifThere(() => readlinkSync(link)) === name) return { pid, link, name }
    }
  return undefined
}

/** Whether a peer can be told here at all. */
export const canTellPeers = (): boolean => ifThere(() => readFileSync('/proc/self/net/tcp')) !== undefined

function inodeOf({ theirs, ours }: Ports): string | undefined {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')
  for (const table of ['tcp', 'tcp6']) {
    for (const line of ifThere(() => readFileSync(`/proc/self/net/${table}`, 'latin1'))?.split('\n') ?? []) {
      const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/\s+/)
      if (local.endsWith(`:${hex(theirs)}`) && remote.endsWith(`:${hex(ours)}`)) return inode
    }
  }
  return undefined
}

function pids(): number[] {
  return (ifThere(() => readdirSync('/proc')) ?? []).filter((name) => /^\d+$/.test(name)).map(Number)
}

/** Nothing for what is gone meanwhile, or another user's. */
function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR')) return undefined
    throw error
  }
}
