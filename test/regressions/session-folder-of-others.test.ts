// Only `run` looked at whose the folder of sessions is: any other command believed a pid file that somebody else had put there,
// and `kill` or `clean --force` ended a process that it named.
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { type Hm, hm } from '../hm/hm.ts'
import { isRunning, startProgram } from '../support/programs.ts'

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
