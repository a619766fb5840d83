// The client library against a socket that speaks frames: answers, the iterator, back-pressure, and every way to lose a session.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connect, type SessionEvent } from '../../src/client/index.ts'
import { openConnection } from '../../src/client/connection.ts'
import { SESSION_ANSWER_MS } from '../../src/limits.ts'
import {
  encodeAck,
  encodeExit,
  encodeFrame,
  encodeGap,
  encodeReplayEnd,
  encodeSnapshot,
  encodeStatusResp,
} from '../../src/wire/encode.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'
import { infoWith, scriptedSession } from './scripted-session.ts'

const output = (text: string): Buffer => encodeFrame('output', Buffer.from(text))

test('status and info are answered in the order they were asked', async () => {
  let pid = 0
  const session = await scriptedSession(({ name }) => {
    if (name === 'status') return encodeStatusResp({ pid: (pid += 1), idleMs: 5, alive: true, state: 4, stateMs: 6 })
    return name === 'info' ? infoWith({ title: 'vim' }) : undefined
  })
  const connection = await connect({ socketPath: session.socketPath })
  const [first, info, second] = await Promise.all([connection.status(), connection.info(), connection.status()])
  expect(first).toEqual({ pid: 1, idleMs: 5, alive: true, state: 'active', stateMs: 6 })
  expect(second.pid).toBe(2)
  expect(info.title).toBe('vim')
  connection.close()
  await expect(connection.status()).rejects.toMatchObject({ code: 'SESSION_LOST' })
})

test('a session that does not take who asks keeps no connection open', async () => {
  const session = await scriptedSession()
  writeFileSync(session.socketPath.replace(/\.sock$/, '.pid'), '')
  const clock = fakeClock()
  const refused = expect(connect({ socketPath: session.socketPath }, { clock })).rejects.toMatchObject({
    code: 'SESSION_SILENT',
  })
  await session.frame('status')
  clock.advance(SESSION_ANSWER_MS)
  await refused
  await until('the connection to be closed', () => session.socket().destroyed)
})

test('a plain subscription is an empty frame (seed 001, subscriber mode) and ends after EXIT', async () => {
  const session = await scriptedSession(({ name }) =>
    name === 'subscribe' ? Buffer.concat([output('a'), output('b'), encodeExit(7)]) : undefined,
  )
  const connection = await connect({ socketPath: session.socketPath })
  const events: SessionEvent[] = []
  for await (const event of connection.subscribe()) events.push(event)
  expect((await session.frame('subscribe')).payload).toHaveLength(0)
  expect(events).toEqual([
    { type: 'output', bytes: Buffer.from('a'), offset: undefined },
    { type: 'output', bytes: Buffer.from('b'), offset: undefined },
    { type: 'exit', code: 7 },
  ])
  expect(() => connection.subscribe()).toThrow(/subscribed already/)
})

test('events carry the offset as soon as the session has told it', async () => {
  const script = Buffer.concat([
    ...encodeSnapshot({ offset: 100, size: { cols: 8, rows: 2 }, isWhole: true, bytes: Buffer.from('S') }),
    output('abc'),
    encodeGap({ droppedBytes: 7, nextOffset: 110 }),
    output('de'),
    encodeReplayEnd(112),
    encodeAck(3),
    encodeFrame('error', Buffer.from('{"code":"X","message":"no"}')),
    encodeExit(0),
  ])
  const session = await scriptedSession(({ name }) => (name === 'subscribe' ? script : undefined))
  const connection = await connect({ socketPath: session.socketPath })
  const events: SessionEvent[] = []
  for await (const event of connection.subscribe({ from: 'snapshot', gaps: true })) events.push(event)
  expect(JSON.parse((await session.frame('subscribe')).payload.toString())).toEqual({ from: 'snapshot', gaps: true })
  expect(events.map((event) => [event.type, 'offset' in event ? event.offset : undefined])).toEqual([
    ['snapshot', 100],
    ['output', 100],
    ['gap', undefined],
    ['output', 110],
    ['replay-end', 112],
    ['ack', undefined],
    ['error', undefined],
    ['exit', undefined],
  ])
})

test('a consumer that does not take events stops the socket, and loses nothing when it goes on', async () => {
  const session = await scriptedSession()
  const connection = await connect({ socketPath: session.socketPath })
  const events = connection.subscribe()
  await session.frame('subscribe')
  const chunk = encodeFrame('output', Buffer.alloc(64 << 10, 'x'))
  const socket = session.socket()
  const rounds = 160
  for (let i = 0; i < rounds; i += 1) socket.write(chunk)
  socket.write(encodeExit(0))
  // 10 MiB were written; the client's bound and the kernel's buffers hold far less, so most must still wait here.
  await until('the socket to be full', () => socket.writableLength > 0 && socket.writableNeedDrain)
  expect(socket.writableLength).toBeGreaterThan(4 << 20)
  let bytes = 0
  for await (const event of events) if (event.type === 'output') bytes += event.bytes.length
  expect(bytes).toBe(rounds * (64 << 10))
})

test('a connection that breaks off before EXIT throws after everything that had arrived', async () => {
  const session = await scriptedSession()
  const connection = await connect({ socketPath: session.socketPath })
  const events = connection.subscribe()
  await session.frame('subscribe')
  session.socket().end(output('last words'))
  expect((await events.next()).value).toMatchObject({ type: 'output' })
  await expect(events.next()).rejects.toMatchObject({ code: 'SESSION_LOST' })
  await expect(connection.input('x')).rejects.toMatchObject({ code: 'SESSION_LOST' })
})

test('leaving the loop early leaves the connection usable', async () => {
  const session = await scriptedSession(({ name }) =>
    name === 'subscribe'
      ? Buffer.concat(Array.from({ length: 40 }, () => encodeFrame('output', Buffer.alloc(64 << 10))))
      : encodeStatusResp({ pid: 1, idleMs: 0, alive: true, state: 0, stateMs: 0 }),
  )
  const connection = await connect({ socketPath: session.socketPath })
  for await (const _ of connection.subscribe()) break
  expect((await connection.status()).pid).toBe(1)
})

test('no socket, a dead socket, a wrong mode byte and a silent session each have their code', async () => {
  const nowhere = join(temporaryFolder(), 'no.sock')
  await expect(openConnection(nowhere)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })

  const text = await scriptedSession(undefined, Buffer.from([1]))
  await expect(openConnection(text.socketPath).then((c) => c.status())).rejects.toMatchObject({
    code: 'WIRE_MODE_UNKNOWN',
  })

  const clock = fakeClock()
  const mute = await scriptedSession(undefined, Buffer.alloc(0))
  const opening = openConnection(mute.socketPath, { clock })
  const refusal = expect(opening).rejects.toMatchObject({ code: 'SESSION_SILENT' })
  await clock.advanceAsync(5_000)
  await refusal

  const deaf = await scriptedSession()
  const connection = await openConnection(deaf.socketPath, { clock })
  const asking = expect(connection.status()).rejects.toMatchObject({ code: 'SESSION_SILENT' })
  await clock.advanceAsync(5_000)
  await asking
})

test('a frame over the cap loses the connection, with the reason', async () => {
  const session = await scriptedSession(() => Buffer.from('81ffffffff', 'hex'))
  const connection = await connect({ socketPath: session.socketPath })
  await expect(connection.status()).rejects.toMatchObject({ code: 'WIRE_FRAME_TOO_LARGE' })
})

test('ids are checked before they become a path', async () => {
  for (const id of ['../x', 'a/b', '', '.hidden', 'a\u0000', 'x'.repeat(65)])
    await expect(connect({ id, socketDir: '/tmp' })).rejects.toMatchObject({ code: 'ID_INVALID' })
})

test('a size that no terminal has is refused here', async () => {
  const session = await scriptedSession()
  const connection = await connect({ socketPath: session.socketPath })
  for (const size of [
    { cols: 0, rows: 1 },
    { cols: 1.5, rows: 1 },
    { cols: 1, rows: 70_000 },
  ])
    await expect(connection.resize(size)).rejects.toMatchObject({ code: 'SESSION_SIZE_INVALID' })
})

test('input of several megabytes goes out in frames within the cap', async () => {
  const session = await scriptedSession()
  const connection = await connect({ socketPath: session.socketPath })
  await connection.input(Buffer.alloc((2 << 20) + 1))
  await session.frame('input', 3)
  expect(session.received.map(({ payload }) => payload.length)).toEqual([1 << 20, 1 << 20, 1])
})
