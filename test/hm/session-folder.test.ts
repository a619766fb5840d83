// The folder of sessions: lost, planted, unreadable and foreign files in it.
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { rolldown } from 'rolldown'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { isListening } from '../../src/sessions/listening.ts'
import { listSessions } from '../../src/sessions/session-files.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { start } from '../supervisor/support/session.ts'
import { isRunning, startProgram, waitForDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { until, waitForSocket } from '../support/wait.ts'
import { hm, type Hm } from './hm.ts'

// A session whose pid file or socket was removed or overwritten is listed, can be killed, and keeps its name.
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

// Two first sessions on a new machine may create the folder at the same time.
const ROUNDS = 200

/** Both begin each round at the same moment. */
const MAKER = `
const { workerData: { module, base, shared }, parentPort } = require('node:worker_threads')
import(module).then(({ ensureSessionDir }) => {
  const begun = new Int32Array(shared)
  const failures = []
  for (let round = 0; round < ${ROUNDS}; round += 1) {
    Atomics.add(begun, 0, 1)
    while (Atomics.load(begun, 0) < 2 * (round + 1));
    try {
      ensureSessionDir(base + '/' + round + '/sessions', process.getuid())
    } catch (error) {
      failures.push(String(error))
    }
  }
  parentPort.postMessage(failures)
})`

test('whoever starts at the same moment finds the folder that the other has made', async () => {
  const base = temporaryFolder()
  const module = join(base, 'session-dir.mjs')
  const build = await rolldown({ input: 'src/sessions/session-dir.ts', platform: 'node' })
  await build.write({ file: module, format: 'esm' })
  await build.close()
  const shared = new SharedArrayBuffer(4)
  const made = [1, 2].map(
    () =>
      new Promise((resolve, reject) => {
        const maker = new Worker(MAKER, { eval: true, workerData: { module, base, shared } })
        maker.once('message', resolve)
        maker.once('error', reject)
      }),
  )
  expect(await Promise.all(made)).toEqual([[], []])
})

// Every command checks who owns the folder before it trusts a pid file in it.
const COMMANDS: readonly (readonly string[])[] = [
  ['ls'],
  ['ls', '--all'],
  ['status', 'x'],
  ['wait', 'x', '--for', 'exit', '--timeout', '1s'],
  ['send', 'x', 'text'],
  ['peek', 'x'],
  ['logs', 'x'],
  ['attach', 'x'],
  ['attach'],
  ['rename', 'x', 'y'],
  ['record', 'x', 'out.cast'],
  ['kill', 'x', '--wait'],
  ['clean'],
  ['clean', '--force'],
]

/** A process of ours that no session has started. */
function bystander(): number {
  const { pid } = startProgram(['sleep', '600'])
  onTestFinished(() => {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL')
  })
  return pid
}

/** The pid file of a session that never was: its supervisor is gone, and its child is `pid`. */
function forge(dir: string, pid: number): void {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  const lines = [4_000_000, pid, 'supervisor_start 1', `child_start ${start}`, `boot ${boot}`, 'key 999-1-1']
  writeFileSync(join(dir, 'x.pid'), [...lines, 'command ["sleep","401"]', 'cwd "/"', ''].join('\n'))
}

async function answers(home: Hm, dir: string, commands = COMMANDS): Promise<string[]> {
  return await Promise.all(
    commands.map(async (words) => {
      const [name = '', ...rest] = words
      const { code, stdout, stderr } = await home.run([name, '--json', '--socket-dir', dir, ...rest])
      return `${words.join(' ')}: ${code} ${/SESSION_DIR_UNSAFE/.exec(stdout + stderr)?.[0] ?? stdout + stderr}`
    }),
  )
}

const refusals = COMMANDS.map((words) => `${words.join(' ')}: 4 SESSION_DIR_UNSAFE`)

const isRoot = process.getuid?.() === 0

test.each([
  ['that anyone may write to', (dir: string) => chmodSync(dir, 0o777), true],
  ['that a group may write to', (dir: string) => chmodSync(dir, 0o770), true],
  ['of another user', (dir: string) => chownSync(dir, 65_534, 65_534), isRoot],
])('a folder %s is refused by every command, and nobody is ended', async (_what, open, isPossible) => {
  if (!isPossible) return
  const home = hm()
  const dir = join(home.home, 'theirs')
  mkdirSync(dir, { mode: 0o700 })
  const pid = bystander()
  forge(dir, pid)
  open(dir)
  expect(await answers(home, dir)).toEqual(refusals)
  expect(isRunning(pid)).toBe(true)
})

test('a link to a folder is refused as well', async () => {
  const home = hm()
  const dir = join(home.home, 'real')
  mkdirSync(dir, { mode: 0o700 })
  symlinkSync(dir, join(home.home, 'link'))
  expect(await answers(home, join(home.home, 'link'), [['ls'], ['kill', 'x']])).toEqual([
    'ls: 4 SESSION_DIR_UNSAFE',
    'kill x: 4 SESSION_DIR_UNSAFE',
  ])
})

test('the client library minds whose folder it is, when it is told an id', async () => {
  const home = hm()
  await home.session('x', ['cat'])
  chmodSync(home.dir, 0o722)
  const refused = connect({ id: 'x', socketDir: home.dir })
  await expect(refused).rejects.toMatchObject({ code: 'SESSION_DIR_UNSAFE' })
  chmodSync(home.dir, 0o700)
  const connection = await connect({ id: 'x', socketDir: home.dir })
  expect(await connection.status()).toMatchObject({ alive: true })
  connection.close()
})

test('a folder of ours that others can only read is read', async () => {
  const home = hm()
  await home.session('x', ['cat'])
  chmodSync(home.dir, 0o755)
  expect(await home.json(['status', 'x'])).toMatchObject({ id: 'x', alive: true })
})

test.each([[['kill', 'x', '--wait']], [['clean', '--force']]])(
  'in our own folder too, %j ends nobody who is not of the session',
  async (words) => {
    const home = hm()
    const dir = join(home.home, 'ours')
    mkdirSync(dir, { mode: 0o700 })
    const pid = bystander()
    forge(dir, pid)
    const { code } = await home.run([...words, '--socket-dir', dir])
    expect(code).toBe(0)
    expect(isRunning(pid)).toBe(true)
  },
)

// A folder in place of a session file stops neither `hm clean` nor a start.
function withFolders(...names: string[]): Hm {
  const home = hm()
  mkdirSync(home.dir, { recursive: true, mode: 0o700 })
  for (const name of names) mkdirSync(join(home.dir, name))
  return home
}

const CLEAN = ['clean', '--force', '--older-than', '0s']

test('clean removes what is there to remove, and leaves folders whatever their name', async () => {
  const folders = ['a.sock', 'b.exit.json', 'c.log', 'd.pid', 'e.kept']
  const home = withFolders(...folders)
  for (const name of ['a.log', 'z.log', 'z.kept']) writeFileSync(join(home.dir, name), '')
  const { code, stderr, stdout } = await home.run(CLEAN)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('Cleaned 1 log file(s), 1 other file(s)')
  expect(readdirSync(home.dir).sort()).toEqual(['a.log', ...folders].sort())
})

test('one lost session that cannot be settled keeps no other from it', async () => {
  const home = withFolders('a.sock')
  for (const id of ['a', 'b']) writeFileSync(join(home.dir, `${id}.pid`), '999999999\n0\nsupervisor_start 1\n')
  const { code, stderr } = await home.run(CLEAN)
  expect(stderr).toContain(`error: cannot use ${join(home.dir, 'a.sock')}: it is a folder\nhint: `)
  expect(code).toBe(8)
  expect(existsSync(join(home.dir, 'b.pid'))).toBe(false)
})

test.each(['x.sock', 'x.exit.json', 'x.kept'])(
  'a start over a folder %s is refused and leaves nothing behind',
  async (name) => {
    const home = withFolders(name)
    const { code, stderr } = await home.run(['run', '--id', 'x', '--detach', '--', 'sleep', '1000'])
    expect([code, stderr]).toEqual([
      8,
      expect.stringContaining(`cannot use ${join(home.dir, name)}: it is a folder`) as string,
    ])
    expect(readdirSync(home.dir).filter((other) => other !== name && !other.endsWith('.lock'))).toEqual([])
  },
)

// One unreadable session does not hide the others.
test('what is in the place of a record or of a pid file is listed as unreadable, and the rest as ever', async () => {
  const session = await start(['cat'])
  mkdirSync(sessionPaths(session.dir, 't').exit)
  mkdirSync(sessionPaths(session.dir, 'folder').exit)
  mkdirSync(sessionPaths(session.dir, 'holder').pid)
  symlinkSync('/etc/passwd', sessionPaths(session.dir, 'link').exit)
  writeFileSync(sessionPaths(session.dir, 'stray').socket, '')
  expect(listSessions(session.dir).map(({ id, state }) => `${id} ${state}`)).toEqual([
    'folder unreadable',
    'holder unreadable',
    'link unreadable',
    'stray lost',
    't running',
  ])
  const { code, stdout } = await hm().run(['ls', '--all', '--json', '--socket-dir', session.dir])
  const { data } = JSON.parse(stdout) as { data: { sessions: { id: string; alive: boolean }[] } }
  expect(code).toBe(0)
  expect(data.sessions.map(({ id, alive }) => [id, alive])).toContainEqual(['t', true])
  expect(data.sessions).toHaveLength(5)
  rmdirSync(sessionPaths(session.dir, 't').exit)
})
