// Which user owns the other end of a TCP connection on this machine, from the kernel's connection tables in /proc/net.
import { readFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { endianness } from 'node:os'
import { isErrno } from './errors.ts'

interface TcpRow {
  readonly local: string
  readonly remote: string
  readonly state: string
  readonly uid: number
  readonly inode: string
}

const ESTABLISHED = '01'
const SYN_RECEIVED = '03'
const LISTEN = '0A'

/** Null when the kernel lists no owner for that end; undefined when this system has no such table. */
export function farEnd(socket: Socket): Pick<TcpRow, 'uid' | 'inode'> | null | undefined {
  // A row can be missing from a table that changes while it is read.
  return findFarEnd(socket) ?? findFarEnd(socket)
}

function findFarEnd(socket: Socket): TcpRow | null | undefined {
  const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = socket
  const address = unmapped(remoteAddress)
  const [theirs, ours] = [`${address} ${remotePort}`, `${unmapped(localAddress)} ${localPort}`]
  const rows: TcpRow[] = []
  let row: TcpRow | undefined
  let isTold = false
  // A dual-stack socket lists an IPv4 connection in the table of IPv6. The second is read only when needed: the kernel takes milliseconds for each.
  for (const table of address.includes(':') ? ['tcp6'] : ['tcp', 'tcp6']) {
    const more = rowsAtPort(table, remotePort)
    isTold ||= more !== undefined
    rows.push(...(more ?? []))
    row ??= more?.find(({ local, remote }) => local === theirs && remote === ours)
    if (row !== undefined && row.inode !== '0') return row
  }
  if (row === undefined) return isTold ? null : undefined
  // Without an inode the uid column may say root. A connection that waits to be accepted belongs to its listener; one that
  // its process has closed belongs to nobody.
  if (row.state !== ESTABLISHED && row.state !== SYN_RECEIVED) return null
  const listenerAt = (at: string): TcpRow | undefined =>
    rows.find(({ state, local }) => state === LISTEN && local === `${at} ${remotePort}`)
  return listenerAt(address) ?? listenerAt('0.0.0.0') ?? listenerAt('::') ?? null
}

/** Why a connection is not trusted with a credential; undefined when its other end belongs to our own user, or when the system does not tell. */
export function whyNotOurs(socket: Socket): string | undefined {
  const end = farEnd(socket)
  if (end === null) return 'has no known owner'
  return end === undefined || end.uid === process.geteuid?.() ? undefined : 'belongs to another user'
}

/** True for the loopback, and for the machine's own address: the kernel takes that for both ends. */
export function isOnThisMachine({ remoteAddress = '', localAddress }: Socket): boolean {
  return remoteAddress === localAddress || remoteAddress === '::1' || unmapped(remoteAddress).startsWith('127.')
}

/** Closes connections of other users before a byte of them is read. For servers on the loopback. */
export function refuseOtherUsers(server: Server, note: (line: string) => void): void {
  let isNoted = false
  server.prependListener('connection', (socket) => {
    const { localAddress, localPort } = socket
    const why = whyNotOurs(socket)
    if (why === undefined) return
    socket.destroy()
    // Once: another user could fill the log.
    if (!isNoted) note(`refused a connection to ${localAddress}:${localPort}: the client ${why}`)
    isNoted = true
  })
}

/** Undefined where there is no such table: Linux alone has them, a kernel without IPv6 has one, and a sandbox may hide both. */
function rowsAtPort(table: string, port: number): TcpRow[] | undefined {
  const column = `:${port.toString(16).toUpperCase().padStart(4, '0')} `
  try {
    const lines = readFileSync(`/proc/self/net/${table}`, 'latin1').split('\n')
    return lines
      .filter((line) => line.includes(column))
      .map((line) => {
        const [, local = '', remote = '', state = '', , , , uid = '', , inode = ''] = line.trim().split(/\s+/)
        return { local: endpointOf(local), remote: endpointOf(remote), state, uid: Number(uid), inode }
      })
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES', 'EPERM')) return undefined
    throw error
  }
}

/** `0100007F:1F90` as `127.0.0.1 8080`: the kernel prints addresses as 32-bit words in the byte order of the machine. */
function endpointOf(column: string): string {
  const [hex = '', port = ''] = column.split(':')
  const words = Buffer.from(hex, 'hex')
  const bytes = endianness() === 'LE' ? words.swap32() : words
  const isMapped = bytes.toString('hex').startsWith('00000000000000000000ffff')
  const groups = bytes.toString('hex').match(/.{4}/g)?.join(':')
  const address =
    bytes.length === 4 || isMapped
      ? bytes.subarray(-4).join('.')
      : new URL(`http://[${groups}]`).hostname.replace(/[[\]]/g, '')
  return `${address} ${Number.parseInt(port, 16)}`
}

/** An IPv4 address as a dual-stack socket has it, and an IPv6 address without its zone. */
const unmapped = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/, '').replace(/%.*$/, '')
