// Failures inside a supervisor: a failed start, a full disk, a removed package, clients that do not read.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { TerminalCover } from '../../src/known-secrets/terminal-cover.ts'
import { prepareSession } from '../../src/sessions/prepare.ts'
import { listSessions, readExitRecord, readHolder } from '../../src/sessions/session-files.ts'
import { openPty } from '../../src/supervisor/pty.ts'
import { runSession } from '../../src/supervisor/run.ts'
import { Screen } from '../../src/supervisor/screen/screen.ts'
import { SessionName } from '../../src/supervisor/session-name.ts'
import { Session } from '../../src/supervisor/session.ts'
import { OutputLog } from '../../src/supervisor/streams/output-log.ts'
import { encodeResize } from '../../src/wire/encode.ts'
import { FRAMES } from '../../src/wire/frames.ts'
import { encodeHandover } from '../../src/wire/handover.ts'
import type { StateEvent } from '../../src/wire/payloads.ts'
import { type Holder, parseHolder } from '../../src/wire/pid-file.ts'
import { resolveOptions } from '../../src/wire/session-options.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { hm } from '../hm/hm.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { needs } from '../support/needs.ts'
import { descendants, isRunning, runProgram, startProgram, waitForDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { until, waitForSocket } from '../support/wait.ts'
import { LineCheck, linesOf, writer } from './support/lines.ts'
import { Client, LAUNCHER, sh, start, type TestSession } from './support/session.ts'

// A start that fails after fork ends its child, also one that ignores SIGHUP.
test('nothing is left of a session that could not say that it is ready', async () => {
  const folder = temporaryFolder()
  const socketDir = join(folder, 's')
  const up = join(folder, 'up')
  const command = ['sh', '-c', `trap "" HUP TERM; echo $$ > ${up}.new; mv ${up}.new ${up}; exec sleep 4321`]
  const options = resolveOptions({ id: 't', socketDir, command, cwd: '/', graceMs: 200 })
  const env = { PATH: process.env['PATH'] }
  const running = runSession(options, {
    env,
    holder: await prepareSession(options, { pid: process.pid, env, clock: systemClock }),
    screenWorker: resolve('dist/screen-worker.cjs'),
    onReady: () => {
      const still = new Int32Array(new SharedArrayBuffer(4))
      while (!existsSync(up)) Atomics.wait(still, 0, 0, 5)
      throw new Error('nobody reads this')
    },
  })
  await expect(running).rejects.toThrow('nobody reads this')
  expect(isRunning(Number(readFileSync(up, 'utf8')))).toBe(false)
  expect(listSessions(socketDir)).toEqual([])
})

// A failure while a session is being set up leaves no child.
describe('failed set-up', () => {
  const STUBBORN = ['sh', '-c', 'trap "" HUP TERM; while :; do sleep 1000; done']
  const start = { command: STUBBORN, cwd: '/', env: { PATH: process.env['PATH'] ?? '' }, cols: 80, rows: 24 }

  /** Children of this process that were not there before. */
  function newChildren(): () => number[] {
    const before = new Set(descendants(process.pid))
    return () => descendants(process.pid).filter((pid) => !before.has(pid))
  }

  test('a terminal that cannot be read ends the child that it was opened for', async () => {
    const children = newChildren()
    const told: number[] = []
    const open = (): unknown =>
      openPty(start, {
        room: () => {
          throw new Error('no room')
        },
        read: () => undefined,
        ended: (code) => told.push(code),
      })
    expect(open).toThrow('no room')
    await until('the child to be gone', () => children().length === 0)
    expect(told).toEqual([])
  })

  const HOLDER = parseHolder(`${process.pid}\n`) as Holder

  test('a session without a screen has no child either', () => {
    const children = newChildren()
    const options = resolveOptions({ id: 't', socketDir: temporaryFolder(), command: STUBBORN, cwd: '/' })
    const make = (): unknown =>
      new Session({
        options,
        env: start.env,
        key: 'k',
        clock: systemClock,
        log: { write: () => undefined, close: () => undefined },
        screen: () => {
          throw new Error('no emulator')
        },
        kept: () => {
          throw new Error('not reached')
        },
        recording: undefined,
        cover: new TerminalCover(),
        clients: () => new Set(),
        name: new SessionName(options.socketDir, options.id, HOLDER, systemClock),
        known: () => undefined,
        listenAt: () => Promise.resolve(),
        onEnd: () => undefined,
      })
    expect(make).toThrow('no emulator')
    expect(children()).toEqual([])
  })
})

// Clients are notified even if the exit record cannot be written.
describe('unwritable exit record', () => {
  async function waiting(logFile: string): Promise<[TestSession, Client]> {
    const session = await start(sh('read line; exit 5'), { logFile })
    const client = await session.connect()
    client.subscribe()
    return [session, client]
  }

  test.each([
    ['the folder of the session is gone', (dir: string) => rmSync(dir, { recursive: true })],
    ['a folder is in the place of the record', (dir: string) => mkdirSync(sessionPaths(dir, 't').exit)],
  ])('the session ends with EXIT and a line in its log when %s', async (_, spoil) => {
    const log = join(temporaryFolder(), 'log')
    const [session, client] = await waiting(log)
    spoil(session.dir)
    client.type('\n')
    expect(await client.exit()).toBe(5)
    await session.gone()
    rmSync(session.dir, { recursive: true, force: true })
    expect(readFileSync(log, 'utf8')).toMatch(/ error session no exit record: /)
  })
})

// A full disk ends a recording or a log, never the session.
describe('full disk', () => {
  const FILE_BLOCKS = 200
  const OUTPUT_BYTES = 1 << 20

  test('a recording that hits the limit of its file is cut at a whole line, and the session goes on to its end', async () => {
    const folder = temporaryFolder()
    const socketDir = join(folder, 's')
    const recordPath = join(folder, 'cast')
    const [program = '', ...args] = writer(OUTPUT_BYTES, 3)
    const command = ['sh', '-c', 'stty -echo; echo up; read go; exec "$@"', 'sh', program, ...args]
    // The signal that comes with the limit is ignored, as Node does not handle it.
    const limited = `trap "" XFSZ; ulimit -f ${FILE_BLOCKS}; exec "$@"`
    const supervisor = startProgram(['sh', '-c', limited, 'sh', process.execPath, LAUNCHER, 't'])
    const options = resolveOptions({ id: 't', socketDir, cwd: '/', command, recordPath })
    const holder = await prepareSession(options, { pid: supervisor.pid, env: process.env, clock: systemClock })
    supervisor.child.stdin?.end(encodeHandover({ options, holder }))
    const paths = sessionPaths(socketDir, 't')
    await waitForSocket(paths.socket)
    const client = await Client.connect(paths.socket)
    const check = new LineCheck()
    client.onOutput = (bytes) => check.push(bytes)
    client.subscribe()
    await client.waitForOutput('up')
    client.type('\n')
    expect(await client.exit()).toBe(3)
    expect([check.isComplete, check.lines]).toEqual([true, linesOf(OUTPUT_BYTES)])
    expect((await supervisor.ended).code).toBe(3)

    const lines = readFileSync(recordPath, 'utf8').split('\n')
    expect(lines.pop()).toBe('')
    expect(lines.length).toBeGreaterThan(1)
    expect(() => lines.map((line): unknown => JSON.parse(line))).not.toThrow()
    expect(readFileSync(paths.log, 'utf8').match(/ error recording stopped: /g)).toHaveLength(1)
  })

  test('a session whose log has no room starts, runs and ends as any other', async () => {
    const session = await start(sh('read line; exit 4'), { logFile: '/dev/full' })
    const client = await session.connect()
    client.subscribe()
    client.type('\n')
    expect(await client.exit()).toBe(4)
  })
})

// A session ends and writes its exit record after its package was replaced.
test('it goes on, is looked at and typed into by the newer one, and ends with its record', async () => {
  const home = hm()
  const old = temporaryFolder()
  for (const part of ['bin', 'dist', 'package.json']) cpSync(resolve(part), join(old, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(old, 'node_modules'))
  const command = ['sh', '-c', 'echo ready; read line; echo "got $line"; read line; exit 7']
  const started = await runProgram(
    [process.execPath, join(old, 'bin/hm'), 'run', '--id', 'x', '--detach', '--', ...command],
    { cwd: home.home, env: home.env },
  )
  expect(started).toMatchObject({ code: 0, stderr: '' })
  const shows = (text: string) =>
    until(`${text} on the screen`, async () => (await home.run(['peek', 'x'])).stdout.includes(text))
  await shows('ready')
  for (const part of ['bin', 'dist', 'package.json', 'node_modules']) rmSync(join(old, part), { recursive: true })
  const { supervisorPid = 0 } = readHolder(home.dir, 'x') ?? {}
  await home.run(['send', 'x', 'this', '--enter'])
  await shows('got this')
  await home.run(['send', 'x', 'that', '--enter'])
  await waitForDeath(supervisorPid)
  expect(readExitRecord(home.dir, 'x')).toMatchObject({ exit_code: 7, reason: 'exit' })
  expect((await home.run(['logs', 'x'])).stdout).toContain('got this')
})

// Our request frames start at 0x40: the seed's next free numbers 0x06 and 0x07 stay free.
describe('request frames', () => {
  test('seed 001: the numbers behind 0x05 are the seed’s, and unknown to a session', async () => {
    needs('python3')
    const added = Object.values(FRAMES).filter((frame) => frame.sender === 'client' && 'added' in frame)
    expect(added.every(({ tag }) => tag >= 0x40)).toBe(true)
    const session = await start(['sleep', '1000'])
    const script = `
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(30)
assert s.recv(1) == b'\\0'
for tag in range(0x06, 0x40): s.sendall(bytes([tag, 0, 0, 0, 2]) + b'{}')
s.sendall(bytes([3, 0, 0, 0, 0]))
print(s.recv(64)[0])`
    expect(execFileSync('python3', ['-c', script, session.socket], { encoding: 'utf8' }).trim()).toBe(String(0x82))
  })
})

// Resizes without output in between do not accumulate.
/** In the emulator's place: answers how many sizes it was sent, and how often it was told who answers. */
const COUNTER = `
const { parentPort } = require('node:worker_threads')
let sizes = 0
let turns = 0
parentPort.on('message', (message) => {
  if (message.is === 'size') sizes += 1
  if (message.is === 'answering') turns += 1
  if (message.is === 'look')
    parentPort.postMessage({ request: message.request, size: {}, modes: { sizes, turns }, drawing: new Uint8Array(0) })
})
`

function openScreen(): { screen: Screen; say: (text: string) => void } {
  const worker = join(temporaryFolder(), 'counter.cjs')
  writeFileSync(worker, COUNTER)
  const output = new OutputLog(1 << 20)
  const screen = new Screen({
    output,
    size: { cols: 80, rows: 24 },
    worker,
    clock: fakeClock(),
    log: { write: () => undefined, close: () => undefined },
    onQuestion: () => undefined,
    onAnswer: () => undefined,
  })
  onTestFinished(() => screen.close())
  const say = (text: string): void => {
    output.commit(output.room().write(text))
    screen.advance()
  }
  return { screen, say }
}

test('the emulator is told one size for each place in the output, however many there were', async () => {
  const { screen, say } = openScreen()
  for (const place of [1, 2, 3]) {
    for (let n = 0; n < 1_000; n += 1) screen.resize({ cols: 80 + (n % 2), rows: 24 })
    say('x')
    if (place === 2) expect((await screen.summary()).modes).toMatchObject({ sizes: 2 })
  }
  expect((await screen.summary()).modes).toMatchObject({ sizes: 3 })
})

test('a thousand who attach to a program that has written nothing leave one size and one word on who answers', async () => {
  const { screen, say } = openScreen()
  for (let n = 0; n < 1_000; n += 1) {
    screen.answering(false)
    screen.resize({ cols: 100, rows: 30 })
    screen.answering(true)
    screen.resize({ cols: 80, rows: 24 })
  }
  say('x')
  expect((await screen.summary()).modes).toEqual({ sizes: 1, turns: 1 })
})

// State frames for a client that does not read do not accumulate: it gets the newest.
describe('unread states', () => {
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
})
