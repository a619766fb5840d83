// The client library against a real session: joining again by offset, snapshots, confirmations, refusals, state events.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connect, type SessionEvent } from '../../src/client/index.ts'
import { hm } from '../hm/hm.ts'

const SHELL = ['bash', '--norc', '--noprofile', '-i']

test('a client that was cut off again and again, and joins at its offset, has every byte once', async () => {
  const home = hm()
  const go = join(home.home, 'go')
  await home.session('count', ['sh', '-c', `until [ -e ${go} ]; do sleep 0.02; done; seq 1 60000; sleep 1000`])
  let offset = 0
  let text = ''
  const all = Array.from({ length: 60_000 }, (_, i) => `${i + 1}\r\n`).join('')
  for (let round = 0; offset < all.length; round += 1) {
    const session = await connect({ socketPath: home.socket('count') })
    if (round === 0) writeFileSync(go, '')
    let taken = 0
    for await (const event of session.subscribe({ from: offset, gaps: true })) {
      if (event.type === 'gap') throw new Error(`${event.droppedBytes} bytes were dropped`)
      if (event.type !== 'output') continue
      expect(event.offset).toBe(offset)
      text += event.bytes.toString('latin1')
      offset += event.bytes.length
      taken += 1
      // Cut off in the middle of the stream, a little later each time.
      if (taken > round * 2 || offset >= all.length) break
    }
    session.close()
  }
  expect(text).toBe(all)
})

test('a snapshot is followed by exactly what came after it', async () => {
  const home = hm()
  await home.session('snap', SHELL)
  const typist = await connect({ socketPath: home.socket('snap') })
  await typist.send('echo first-$((1+1))', { keys: ['enter'] })
  const viewer = await connect({ socketPath: home.socket('snap') })
  const events = viewer.subscribe({ from: 'snapshot', readOnly: true })
  const { value: snapshot } = await events.next()
  expect(snapshot).toMatchObject({ type: 'snapshot', isLast: true, size: { cols: 220, rows: 50 } })
  await typist.send('echo second-$((2+1))', { keys: ['enter'] })
  let seen = ''
  let next = (snapshot as Extract<SessionEvent, { type: 'snapshot' }>).offset
  for await (const event of events) {
    if (event.type !== 'output') continue
    expect(event.offset).toBe(next)
    next += event.bytes.length
    seen += event.bytes.toString()
    if (seen.includes('second-3')) break
  }
  // Drawn or streamed, never both and never neither.
  const drawn = (snapshot as { bytes: Buffer }).bytes.toString()
  expect((drawn + seen).split('first-2')).toHaveLength(2)
  for (const session of [typist, viewer]) session.close()
})

test('input is confirmed byte by byte; a read-only client is refused; a change of state is told', async () => {
  const home = hm()
  await home.session('ack', SHELL, ['--idle-threshold-ms', '200'])
  const session = await connect({ socketPath: home.socket('ack') })
  const events = session.subscribe({ from: 'live', acks: true, events: true })
  await session.input('echo x')
  await session.input('y\r')
  const seen = { acked: 0, states: new Set<string>() }
  for await (const event of events) {
    if (event.type === 'ack') seen.acked = event.writtenBytes
    if (event.type === 'state') seen.states.add(event.state.state)
    if (seen.acked === 8 && seen.states.has('idle')) break
  }
  expect(seen.acked).toBe(8)
  session.close()

  const viewer = await connect({ socketPath: home.socket('ack') })
  const refusals = viewer.subscribe({ from: 'live', readOnly: true })
  await viewer.input('rm -rf /\r')
  for await (const event of refusals) {
    if (event.type !== 'error') continue
    expect(event.code).toBe('SESSION_READ_ONLY')
    break
  }
  viewer.close()
})
