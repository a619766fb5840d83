// Which process is at the other end of a connection on this machine, by what the kernel says of it: a hook is answered for the host that calls, and for no other.
import { readdirSync, readlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { farEnd } from '../../connection-owner.ts'
import { isErrno } from '../../errors.ts'
import { HUB_PEERS_MAX } from '../../limits.ts'

/** A process, and the number under which it has the connection. */
interface Holder {
  readonly pid: number
  readonly link: string
  readonly name: string
}

/**
 * Undefined where the system does not tell, or the process is another user's. A look at everything that is open on the machine is taken once for each of
 * them, and begins with whoever has asked before; after that one look tells whether that process still holds it.
 */
export class Peers {
  readonly #holders = new WeakMap<Socket, Holder>()
  readonly #before = new Set<number>()

  of(connection: Socket): number | undefined {
    const known = this.#holders.get(connection)
    if (known !== undefined && ifThere(() => readlinkSync(known.link)) === known.name) return known.pid
    const inode = farEnd(connection)?.inode
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
