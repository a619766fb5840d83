// A session from outside, on its socket: what seed 001 promises to any client.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXIT_LINGER_MS } from '../../src/limits.ts'
import { readExitRecord } from '../../src/sessions/session-files.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { STATES } from '../../src/wire/frames.ts'
import { encodeResize } from '../../src/wire/encode.ts'
import { temporaryFolder } from '../support/project.ts'
import { sh, start } from './support/session.ts'

test('seed 001 connection handshake: one mode byte, before anything is asked', async () => {
  const session = await start(['cat'])
  const client = await session.connect()
  const first = await new Promise<Buffer>((resolve) => client.socket.once('data', resolve))
  expect(first.toString('hex')).toBe('00')
})

test('seed 001 subscriber mode: replay, live output, input while subscribed, exit code last', async () => {
  const session = await start(sh('echo before; read line; echo "got $line"; exit 3'))
  const early = await session.connect()
  early.subscribe()
  await early.waitForOutput('before\r\n')
  const late = await session.connect()
  late.subscribe()
  await late.waitForOutput('before\r\n')
  late.type('hello\n')
  expect(await Promise.all([early.exit(), late.exit()])).toEqual([3, 3])
  expect(early.output()).toBe('before\r\nhello\r\ngot hello\r\n')
  expect(late.output()).toBe(early.output())
})

test('seed 001 status payload: pid, alive, state and exact times without anyone polling', async () => {
  const session = await start(sh('sleep 1000'), {
    classifier: { name: 'simple', idleThresholdMs: 200, debounceMs: 50 },
  })
  const client = await session.connect()
  const status = await client.status()
  expect(status).toMatchObject({ pid: session.pid, alive: true, state: STATES.idle })
  expect(status.stateMs).toBe(status.idleMs)
})

test('seed 001 resize: applies at once and reaches the child', async () => {
  const session = await start(sh('trap "stty size" WINCH; echo ready; while :; do read x; done'))
  const client = await session.connect()
  client.subscribe()
  await client.waitForOutput('ready')
  client.socket.write(encodeResize({ cols: 91, rows: 33 }))
  await client.waitForOutput('33 91')
})

test('seed 001 kill: SIGTERM to the process group', async () => {
  const session = await start(sh('sleep 1000'))
  const client = await session.connect()
  client.subscribe()
  client.send('kill')
  expect(await client.exit()).toBe(143)
  expect(readExitRecord(session.dir, 't')).toMatchObject({ exit_code: 143, signal: 15, reason: 'kill' })
})

test('after the end the socket still answers: dead status, replay and EXIT; then only the record is left', async () => {
  // A process that stays behind and ignores all but SIGKILL keeps the ended session here until the test lets it go.
  const folder = temporaryFolder()
  const session = await start(
    sh('trap "" TERM HUP; sleep 1000 >/dev/null 2>&1 & echo $! > left; echo last words; exit 7'),
    { cwd: folder, graceMs: 600_000 },
  )
  const first = await session.connect()
  first.subscribe()
  expect(await first.exit()).toBe(7)
  const after = await session.connect()
  expect(await after.status()).toMatchObject({ alive: false, state: STATES.dead, pid: session.pid })
  after.subscribe()
  expect(await after.exit()).toBe(7)
  expect(after.output()).toBe('last words\r\n')
  process.kill(Number(readFileSync(join(folder, 'left'), 'utf8')), 'SIGKILL')
  await session.gone()
  const paths = sessionPaths(session.dir, 't')
  expect([existsSync(paths.socket), existsSync(paths.pid), existsSync(paths.exit)]).toEqual([false, false, true])
  expect(readExitRecord(session.dir, 't')).toMatchObject({
    exit_code: 7,
    signal: null,
    reason: 'exit',
    output_bytes: 12,
    swept: 1,
  })
})

test('a session whose child has ended does not go away before the time that late clients are given', async () => {
  const session = await start(sh('read go'))
  const client = await session.connect()
  const startedMs = performance.now()
  client.type('\n')
  await session.gone()
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(EXIT_LINGER_MS)
})

test('folder 0700, socket, pid file, log and record 0600', async () => {
  const session = await start(['cat'])
  const paths = sessionPaths(session.dir, 't')
  const modes = [session.dir, paths.socket, paths.pid, paths.log].map((path) => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o700, 0o600, 0o600, 0o600])
})
