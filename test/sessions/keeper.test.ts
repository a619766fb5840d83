// Who looks after a session hears of activity, state and end, from another process, and holds up nobody, however slow.
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { type Keeping, keepSession } from '../../src/sessions/keeper.ts'
import type { ExitRecord } from '../../src/wire/exit-record.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { LineCheck, linesOf, writer } from '../supervisor/support/lines.ts'
import { sh, start, type TestSession } from '../supervisor/support/session.ts'
import { until } from '../support/wait.ts'

interface Heard {
  activity: number
  states: string[]
  ends: (ExitRecord | undefined)[]
}

function keep(session: TestSession, more: Partial<Keeping> = {}): { heard: Heard; kept: Promise<void> } {
  const heard: Heard = { activity: 0, states: [], ends: [] }
  const keeping: Keeping = {
    onActivity: () => {
      heard.activity += 1
    },
    onState: ({ state, id }) => void heard.states.push(`${id} ${state}`),
    onEnd: (record) => void heard.ends.push(record),
    ...more,
  }
  return { heard, kept: keepSession({ dir: session.dir, id: session.id }, keeping, systemClock) }
}

test('a keeper hears of output and of input, of each change of state, and once of the end, which is on record', async () => {
  const session = await start(sh('stty -echo; read a; echo answer; read b; exit 5'))
  const { heard, kept } = keep(session)
  await until('the first state', () => heard.states.length > 0)
  const client = await session.connect()
  const typed = async (): Promise<void> => {
    const before = heard.activity
    // Of what follows within the second nothing is said.
    await until('activity', async () => {
      client.type(' ')
      await client.status()
      return heard.activity > before
    })
  }
  await typed()
  await typed()
  client.type('\n')
  await until('the answer to be noticed', () => heard.states.some((state) => state === 't active'))
  client.type('\n')
  await kept
  expect(heard.ends).toMatchObject([{ id: 't', exit_code: 5, reason: 'exit' }])
  expect(heard.states.at(-1)).toBe('t dead')
})

test('a keeper that is busy with a database holds up neither the program nor those who watch, and hears of the end when it is done', async () => {
  const bytes = 12 << 20
  const [program = '', ...args] = writer(bytes, 3)
  // However slowly this test itself reads, nothing is dropped for it.
  const stallMs = 60_000
  const session = await start(['sh', '-c', 'read go; exec "$@"', 'sh', program, ...args], { stallMs })
  let isFree = (): void => undefined
  const busy = new Promise<void>((resolve) => {
    isFree = resolve
  })
  let calls = 0
  const { heard, kept } = keep(session, {
    onActivity: async () => {
      calls += 1
      await busy
    },
  })
  await until('the keeper to be there', () => heard.states.length > 0)
  const client = await session.connect()
  const check = new LineCheck()
  client.onOutput = (part) => check.push(part)
  client.subscribe({ gaps: true })
  client.type('\n')
  await until('the keeper to be busy', () => calls === 1)
  expect(await client.exit()).toBe(3)
  expect([check.isComplete, check.lines, client.gaps()]).toEqual([true, linesOf(bytes), []])
  expect([calls, heard.ends]).toEqual([1, []])
  isFree()
  await kept
  expect(heard.ends).toMatchObject([{ exit_code: 3 }])
})

test('a session that is renamed is kept under its new id, also when its socket was removed meanwhile', async () => {
  const session = await start(sh('read a; exit 6'))
  const { heard, kept } = keep(session)
  await until('the keeper to be there', () => heard.states.length > 0)
  const client = await session.connect()
  client.send('rename', Buffer.from('other'))
  await until('the new id', () => heard.states.some((state) => state.startsWith('other ')))
  rmSync(sessionPaths(session.dir, 'other').socket)
  client.type('\n')
  await kept
  expect(heard.ends).toMatchObject([{ id: 'other', exit_code: 6 }])
})

test('of a killed supervisor the keeper hears once nothing of the session runs any more', async () => {
  const session = await start(sh('trap "" HUP; echo up; read a; exit 0'))
  const client = await session.connect()
  client.subscribe()
  await client.waitForOutput('up')
  const { heard, kept } = keep(session)
  await until('the keeper to be there', () => heard.states.length > 0)
  process.kill(session.supervisor_pid, 'SIGKILL')
  // Without a terminal its read ends, and so does it.
  await kept
  expect(heard.ends).toMatchObject([{ id: 't', reason: 'lost', ended_by: null, swept: 0 }])
})

test('what a keeper’s own work throws ends the keeping, and the session goes on', async () => {
  const session = await start(['cat'])
  const { kept } = keep(session, { onState: () => Promise.reject(new Error('no database')) })
  await expect(kept).rejects.toThrow('no database')
  expect((await (await session.connect()).status()).alive).toBe(true)
})
