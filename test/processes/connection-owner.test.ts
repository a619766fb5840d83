// The owner of the other end of a connection, as the kernel tells it.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { farEnd, isOnThisMachine, whyNotOurs } from '../../src/connection-owner.ts'
import { needs } from '../support/needs.ts'
import { OTHER_UID, otherUserListens, otherUserSendsAndLeaves } from '../support/other-user.ts'

async function connected(port: number, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect(port, host)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['::', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])('both ends of an own connection are ours: a listener on %s, a client to %s', async (listener, host) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, listener, resolve))
  onTestFinished(() => void server.close())
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const client = await connected((server.address() as AddressInfo).port, host)
  const [socket] = await accepted
  onTestFinished(() => void socket.destroy())
  for (const end of [client, socket]) {
    expect(farEnd(end)).toMatchObject({ uid: process.geteuid?.() })
    expect([whyNotOurs(end), isOnThisMachine(end)]).toEqual([undefined, true])
  }
})

test('a listener of another user is known before it accepts, and after', async () => {
  const squatter = await otherUserListens(0)
  squatter.program.kill('SIGSTOP')
  const waiting = await connected(squatter.port)
  expect(whyNotOurs(waiting)).toBe('belongs to another user')
  squatter.program.kill('SIGCONT')
  waiting.write('x')
  await once(waiting, 'data')
  expect(farEnd(waiting)).toMatchObject({ uid: OTHER_UID })
})

test('a client of another user that has left is not taken for root', async () => {
  const server = createServer({ allowHalfOpen: true })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const accepted = once(server, 'connection') as Promise<[Socket]>
  await otherUserSendsAndLeaves((server.address() as AddressInfo).port, 'run this')
  const [socket] = await accepted
  onTestFinished(() => void socket.destroy())
  expect(whyNotOurs(socket)).toBe('has no known owner')
})

test('root is another user, unless we are root', async () => {
  needs('root')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const socket = await connected((server.address() as AddressInfo).port)
  process.seteuid?.(OTHER_UID)
  try {
    expect(whyNotOurs(socket)).toBe('belongs to another user')
  } finally {
    process.seteuid?.(0)
  }
})
