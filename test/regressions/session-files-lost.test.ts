// A session whose pid file or socket was removed or overwritten was in no list, could not be ended, and had a second one started beside it.
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { isListening } from '../../src/sessions/listening.ts'
import { type Hm, hm } from '../hm/hm.ts'
import { isRunning, startProgram, waitForDeath } from '../support/programs.ts'
import { until, waitForSocket } from '../support/wait.ts'

async function session(home: Hm): Promise<number> {
  await home.session('x', ['cat'])
  const { supervisor_pid: pid } = (await home.json(['status', 'x'])) as { supervisor_pid: number }
  onTestFinished(() => {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL')
  })
  return pid
}

test.each([
  ['emptied', (path: string) => writeFileSync(path, '')],
  ['overwritten', (path: string) => writeFileSync(path, 'no pid\n')],
  ['removed', (path: string) => rmSync(path)],
  ['naming one who is gone', (path: string) => writeFileSync(path, '4000000\n4000001\n')],
])('with its pid file %s, a session is listed, keeps its id, and can be ended', async (_how, spoil) => {
  const home = hm()
  const pid = await session(home)
  spoil(join(home.dir, 'x.pid'))
  expect(await home.json(['ls'])).toMatchObject({ sessions: [{ id: 'x', alive: true, command: ['cat'] }] })
  const second = await home.run(['run', '--id', 'x', '--detach', '--', 'cat'])
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('session x is already running')])
  expect((await home.run(['clean', '--force'])).code).toBe(0)
  expect(isRunning(pid)).toBe(true)
  expect(await home.json(['kill', '--wait', 'x'])).toMatchObject({ id: 'x', ended: true })
  await waitForDeath(pid)
})

test('kill --wait sees off the session, and not whom its pid file names', async () => {
  const home = hm()
  const pid = await session(home)
  const other = startProgram(['sleep', '600'])
  writeFileSync(join(home.dir, 'x.pid'), `${other.pid}\n`)
  expect(await home.json(['kill', '--wait', 'x'])).toMatchObject({ id: 'x', ended: true })
  await waitForDeath(pid)
  expect(isRunning(other.pid)).toBe(true)
  process.kill(other.pid, 'SIGKILL')
})

test('a session whose socket was removed can be ended', async () => {
  const home = hm()
  const pid = await session(home)
  rmSync(home.socket('x'))
  expect(await home.json(['kill', '--wait', 'x'])).toMatchObject({ id: 'x', ended: true, exit_code: 143 })
  await waitForDeath(pid)
  await home.session('x', ['cat'])
})

test('a session whose socket and pid file were both removed puts them back, and is found, typed into and ended as before', async () => {
  const home = hm()
  const pid = await session(home)
  const before = readFileSync(join(home.dir, 'x.pid'), 'utf8')
  rmSync(home.socket('x'))
  rmSync(join(home.dir, 'x.pid'))
  await waitForSocket(home.socket('x'))
  expect(readFileSync(join(home.dir, 'x.pid'), 'utf8')).toBe(before)
  expect(statSync(home.socket('x')).mode & 0o777).toBe(0o600)
  expect(await home.json(['status', 'x'])).toMatchObject({ id: 'x', alive: true, supervisor_pid: pid })
  expect(await home.json(['rename', 'x', 'y'])).toMatchObject({ id: 'y' })
  expect(await home.json(['kill', '--wait', 'y'])).toMatchObject({ id: 'y', ended: true })
  await waitForDeath(pid)
  expect(readdirSync(home.dir).filter((name) => /\.(pid|sock|lock)$/.test(name))).toEqual([])
})

test('an id that went to another session meanwhile stays with that one, also when the first ends', async () => {
  const home = hm()
  const pid = await session(home)
  const first = await connect({ socketPath: home.socket('x') })
  rmSync(home.socket('x'))
  rmSync(join(home.dir, 'x.pid'))
  await until('somebody to take the id', async () => {
    // Either the first has put its files back, and is cut off again, or the id is free.
    rmSync(home.socket('x'), { force: true })
    rmSync(join(home.dir, 'x.pid'), { force: true })
    return (await home.run(['run', '--id', 'x', '--detach', '--', 'sleep', '1000'])).code === 0
  })
  const second = readFileSync(join(home.dir, 'x.pid'), 'utf8')
  await first.kill()
  await waitForDeath(pid)
  expect(readFileSync(join(home.dir, 'x.pid'), 'utf8')).toBe(second)
  await waitForSocket(home.socket('x'))
  expect(await home.json(['kill', '--wait', 'x'])).toMatchObject({ id: 'x', ended: true })
})

test('who has an exit record has ended, also while its supervisor is still there', async () => {
  const home = hm()
  const pid = await session(home)
  const record = { id: 'x', exit_code: 0, signal: null, reason: 'exit', pid: 1, supervisor_pid: pid, command: ['cat'] }
  const times = { started_at: '2026-01-01T00:00:00.000Z', ended_at: '2026-01-01T00:00:00.000Z' }
  writeFileSync(join(home.dir, 'x.exit.json'), JSON.stringify({ ...record, ...times }))
  // As at its end: it listens no more, and is not gone yet.
  rmSync(home.socket('x'))
  expect(await home.json(['ls'])).toEqual({ sessions: [] })
  expect(await home.json(['ls', '--all'])).toMatchObject({ sessions: [{ id: 'x', alive: false, exit_code: 0 }] })
  expect(await home.json(['status', 'x'])).toMatchObject({ id: 'x', alive: false, exit_code: 0 })
})

test('a socket that takes connections and greets nobody is that of a process on its way out', async () => {
  const home = hm()
  mkdirSync(home.dir, { recursive: true, mode: 0o700 })
  // A killed process takes them until the last of its threads has gone.
  const dying = createServer((socket) => socket.destroy()).listen(home.socket('x'))
  onTestFinished(() => void dying.close())
  await once(dying, 'listening')
  expect(await isListening(home.socket('x'))).toBe(false)
  const living = createServer((socket) => socket.write('\0')).listen(home.socket('y'))
  onTestFinished(() => void living.close())
  await once(living, 'listening')
  expect(await isListening(home.socket('y'))).toBe(true)
})
