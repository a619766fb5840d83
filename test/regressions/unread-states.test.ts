// States for a client that does not read must not pile up: it gets those that were under way, and then the newest.
import { expect, test } from 'vitest'
import { encodeResize } from '../../src/wire/encode.ts'
import type { StateEvent } from '../../src/wire/payloads.ts'
import { type Client, start } from '../supervisor/support/session.ts'

const CHANGES = 20_000

const states = (client: Client): StateEvent[] =>
  client.frames
    .filter(({ name }) => name === 'state')
    .map(({ payload }) => JSON.parse(payload.toString('utf8')) as StateEvent)

test('a client that wakes up late is told the newest state, not each one that it has missed', async () => {
  const session = await start(['cat'])
  const sleeper = await session.connect()
  sleeper.subscribe({ events: true })
  await sleeper.frame('state')
  sleeper.socket.pause()
  const other = await session.connect()
  other.socket.write(
    Buffer.concat(Array.from({ length: CHANGES }, (_, n) => encodeResize({ cols: 80 + (n % 2), rows: 24 }))),
  )
  other.socket.write(encodeResize({ cols: 99, rows: 33 }))
  expect(await other.info()).toMatchObject({ cols: 99, rows: 33 })

  sleeper.socket.resume()
  await sleeper.waitFor('the newest state', (client) => states(client).some(({ cols }) => cols === 99))
  expect(states(sleeper).at(-1)).toMatchObject({ cols: 99, rows: 33 })
  expect(states(sleeper).length).toBeLessThan(CHANGES / 4)
  sleeper.send('kill')
  await sleeper.exit()
  expect(states(sleeper).at(-1)).toMatchObject({ state: 'dead' })
})
