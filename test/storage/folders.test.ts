// Home, state and working folders that are missing, open to others, or cannot be used.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { diskError } from '../../src/storage/faults.ts'
import { hm } from '../hm/hm.ts'
import { spine } from '../spine/spine.ts'
import { runLauncher } from '../support/in-process.ts'
import { type Ending, fixture, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { runsDir } from '../support/shim-client.ts'

// Folders and files are private with umask 0 too.
test('what we make below a home is for its user alone, whatever the umask says', async () => {
  const project = spine()
  const commands = [
    [...launcher('heimdall'), 'mcp', 'shim', '--server-name=x', '--', ...fixture('shim-upstream')],
    [...launcher('heimdall'), 'run', '--agent', 'amber-otter', '--', 'true'],
    [...launcher('heimdall'), 'runs', 'reindex'],
    [...launcher('hm'), 'run', '--id', 'zz', '--', 'true'],
    // What a session has only while it lives.
    [...launcher('hm'), 'run', '--id', 'stays', '--detach', '--', 'sleep', '1000'],
  ]
  const script = `umask 0; ${commands.map((words) => `${words.join(' ')} </dev/null`).join('; ')}`
  execFileSync('/bin/sh', ['-c', script], {
    cwd: project.root,
    env: { ...project.env, PATH: process.env['PATH'] },
    stdio: 'ignore',
  })
  const local = join(project.home, '.local')
  const made = [local, ...readdirSync(local, { recursive: true }).map((name) => join(local, String(name)))]
  expect(made.length).toBeGreaterThan(10)
  expect(made.map((path) => basename(path))).toEqual(expect.arrayContaining(['stays.pid', 'stays.sock']))
  // The others are gone a moment after whoever waited for them, and their files with them.
  const open = made.flatMap((path) => {
    const seen = statSync(path, { throwIfNoEntry: false })
    return seen === undefined ? [] : [{ path, mode: (seen.mode & 0o777).toString(8) }]
  })
  expect(open.filter(({ mode }) => !mode.endsWith('00'))).toEqual([])
})

// An unusable HOME is one error line.
const REFUSED = /^(?:warning: .*\n)*error: cannot (?:use|read) .*\nhint: .*\n$/

test.each([['approve'], ['mcp pins list'], ['demo --no-hub'], ['init claude --yes'], ['ls'], ['runs reindex']])(
  'a home that is a file: heimdall %s',
  async (words) => {
    const { root } = temporaryProject()
    const HOME = join(temporaryFolder(), 'file')
    writeFileSync(HOME, '')
    const command = [...launcher('heimdall'), ...words.split(' ')] as const
    const { code, stdout, stderr } = await runProgram(command, {
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', HOME },
    })
    expect([code, stdout, stderr]).toEqual([8, '', expect.stringMatching(REFUSED)])
  },
)

test('a folder that cannot be made although the one above is there is told in the same way', () => {
  let caught: unknown
  try {
    mkdirSync('/proc/1/x')
  } catch (error) {
    caught = diskError('/proc/1/x', error)
  }
  expect(caught).toMatchObject({ code: 'STORE_UNREADABLE', hint: 'check its owner and permissions' })
})

// A HOME on /proc must not be retried for ever.
test.runIf(existsSync('/proc/self'))('a start says that there is no place for its folder', async () => {
  const project = temporaryProject()
  const env = { HOME: '/proc/1', XDG_DATA_HOME: '/proc/1/share' }
  const { code, stderr } = await project.run('hm', ['run', '--detach', '--', 'true'], { env })
  expect(stderr).toMatch(/^error: \/proc\/1 takes no folders, and \/proc\/1\/\S+ cannot be made\nhint: .*\n$/)
  expect(code).not.toBe(0)
})

// A state folder that another user owns or can write to is refused.
const isRoot = process.getuid?.() === 0
const stateOf = (home: string): string => dirname(runsDir(home))

function stateFolder(): string {
  const home = temporaryFolder()
  mkdirSync(runsDir(home), { recursive: true, mode: 0o700 })
  for (const dir of ['secrets', 'imports', 'trusted']) mkdirSync(join(stateOf(home), dir), { mode: 0o700 })
  chmodSync(stateOf(home), 0o700)
  return home
}

const heimdall = async (home: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  await runLauncher('heimdall', [...words], { env: { HOME: home, ...env }, cwd: home })

/** A shim that ends by itself: `true` is no server, and its input is empty. */
const SHIM = ['mcp', 'shim', '--server-name=s', '--', 'true']

const DOORS: readonly (readonly string[])[] = [
  SHIM,
  ['run', '--agent', 'ana', '--', 'true'],
  ['runs', 'list'],
  ['runs', 'prune'],
  ['events', '--limit', '5'],
  ['approve'],
  ['mcp', 'secrets', 'list'],
]

async function refusals(home: string, doors = DOORS): Promise<string[]> {
  const answers: string[] = []
  for (const words of doors) {
    const { code, stdout, stderr } = await heimdall(home, words)
    answers.push(
      `${words[0]} ${words[1]}: ${code} ${/belongs to user|can be \w+ by others|is a symbolic link/.exec(stdout + stderr)?.[0]}`,
    )
  }
  return answers
}

const refused = (why: string, doors = DOORS): string[] => doors.map((words) => `${words[0]} ${words[1]}: 4 ${why}`)

test.each([
  ['that anyone may write to', (dir: string) => chmodSync(dir, 0o777), 'can be written by others', true],
  ['of another user', (dir: string) => chownSync(dir, 65_534, 65_534), 'belongs to user', isRoot],
])('a state folder %s is refused by every door, and by doctor', async (_what, open, why, isPossible) => {
  if (!isPossible) return
  const home = stateFolder()
  open(stateOf(home))
  const found = await refusals(home)
  // Whoever writes asks for more.
  expect(found.map((line) => line.replace('entered', 'written'))).toEqual(refused(why))
  expect((await heimdall(home, ['doctor'])).stdout).toMatch(
    /fail {2}state folder: .*(can be entered by others|belongs to user)/,
  )
})

test('a folder of ours that others can only read goes on, and doctor names it and closes it', async () => {
  const home = stateFolder()
  chmodSync(stateOf(home), 0o755)
  expect((await heimdall(home, ['runs', 'list'])).code).toBe(0)
  expect((await heimdall(home, ['doctor'])).stdout).toMatch(/fail {2}state folder: .*can be entered by others/)
  await heimdall(home, ['doctor', '--fix'])
  expect(statSync(stateOf(home)).mode & 0o777).toBe(0o700)
})

test.each([
  ['runs', [['runs', 'list'], SHIM]],
  ['secrets', [['mcp', 'secrets', 'list']]],
])('of the folders below, %s is looked at as well', async (name, doors) => {
  const home = stateFolder()
  chmodSync(join(stateOf(home), name), 0o777)
  const found = await refusals(home, doors)
  expect(found.map((line) => line.replace('entered', 'written'))).toEqual(refused('can be written by others', doors))
})

test('a run that somebody else has prepared is not taken part in', async () => {
  const home = stateFolder()
  const dir = join(runsDir(home), 'w')
  mkdirSync(dir)
  chmodSync(dir, 0o777)
  writeFileSync(join(dir, 'events.jsonl'), '')
  const { code, stderr } = await heimdall(home, SHIM, { SUB_RUN_ID: 'w' })
  expect({ code, says: stderr.includes('can be written by others') }).toEqual({ code: 4, says: true })
  chmodSync(dir, 0o700)
  chmodSync(join(dir, 'events.jsonl'), 0o666)
  expect((await heimdall(home, SHIM, { SUB_RUN_ID: 'w' })).code).toBe(4)
  expect(readFileSync(join(dir, 'events.jsonl'), 'utf8')).toBe('')
})

test('a record with a second name is not written to', async () => {
  const home = stateFolder()
  const precious = join(home, 'precious')
  writeFileSync(precious, 'precious\n')
  mkdirSync(join(runsDir(home), 'w'), { mode: 0o700 })
  linkSync(precious, join(runsDir(home), 'w', 'events.jsonl'))
  const { stderr } = await heimdall(home, SHIM, { SUB_RUN_ID: 'w' })
  expect(stderr).toContain('one of 2 names of the same file')
  expect(readFileSync(precious, 'utf8')).toBe('precious\n')
})

test('a link in place of the folder of members is not followed', async () => {
  const home = stateFolder()
  await heimdall(home, SHIM, { SUB_RUN_ID: 'w' })
  const members = join(runsDir(home), 'w', 'members')
  expect(existsSync(members)).toBe(true)
  renameSync(members, join(home, 'elsewhere'))
  symlinkSync(join(home, 'elsewhere'), members)
  const { code, stderr } = await heimdall(home, SHIM, { SUB_RUN_ID: 'w' })
  expect({ code, says: stderr.includes('is a symbolic link') }).toEqual({ code: 4, says: true })
})

// A removed working folder: commands that need none work, the others say so.
interface Nowhere {
  readonly home: string
  readonly run: (...command: readonly string[]) => Promise<Ending>
  readonly session: ReturnType<typeof hm>
}

/** Runs launchers from a shell whose folder is gone. */
function nowhere(): Nowhere {
  const session = hm()
  return {
    session,
    home: session.home,
    run: (bin = '', ...args) => {
      const folder = temporaryFolder()
      const script = `rmdir ${folder}; exec "$@"`
      const command = ['/bin/sh', '-c', script, 'sh', ...launcher(bin), ...args] as const
      return runProgram([...command], { cwd: folder, env: { ...session.env } })
    },
  }
}

test('what needs no folder works: help, lists, sessions by id, settings, absolute paths', async () => {
  const { run, session, home } = nowhere()
  await session.session('box', ['sh', '-c', 'echo here; read line; exit 3'])
  const works: [string, ...string[]][] = [
    ['heimdall', '--help'],
    ['hm', '--version'],
    ['hm', 'run', '--help'],
    ['hm', 'ls'],
    ['hm', 'status', 'box'],
    ['hm', 'logs', 'box'],
    ['hm', 'peek', 'box'],
    ['hm', 'send', 'box', 'x', '--enter'],
    ['heimdall', 'config', 'list'],
    ['heimdall', 'trust', 'list'],
    ['hm', 'run', '--id', 'other', '--detach', '--workdir', home, '--', 'true'],
    ['hm', 'clean'],
  ]
  for (const words of works) {
    const { code, stderr } = await run(...words)
    expect([words, code, stderr]).toEqual([words, 0, ''])
  }
  await session.session('late', ['sh', '-c', 'read line; exit 7'])
  // The end of our input is not the end of the session.
  expect((await run('hm', 'attach', 'late')).code).toBe(0)
})

test('what needs a folder says so in a line, with a stable code', async () => {
  const { run } = nowhere()
  const needs: [string, ...string[]][] = [
    ['hm', 'run', '--', 'true'],
    ['hm', 'ls', '--socket-dir', 'here'],
    ['heimdall', 'claim', 'list'],
    ['heimdall', 'claim', 'check', 'src'],
    ['heimdall', 'symbol', 'get', 'x'],
    ['heimdall', 'guard', 'run', 'pre-commit'],
    ['heimdall', 'trust'],
    ['heimdall-claim', 'check', 'src'],
  ]
  for (const words of needs) {
    const { code, stderr } = await run(...words)
    expect([words, code, stderr]).toEqual([
      words,
      expect.any(Number),
      expect.stringMatching(/^(error: )?the working folder no longer exists\n/),
    ])
    expect([words, stderr.trimEnd().split('\n').length, code === 0]).toEqual([words, 2, false])
  }
  const { stdout } = await run('heimdall', 'claim', 'list', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'FOLDER_GONE' } })
  const server = await run('heimdall-ledger-mcp')
  expect([server.code, server.stderr]).toEqual([
    3,
    expect.stringMatching(/^error: the working folder no longer exists\nhint: .*--project DIR\n$/),
  ])
})

test('a folder that is none is named, before anything is started', async () => {
  const root = temporaryFolder()
  const up = await runLauncher('heimdall', ['up', '--port', '0', 'nowhere'], {
    cwd: root,
    env: { HOME: root },
  })
  expect([up.code, up.stderr]).toEqual([3, expect.stringMatching(/^error: no folder "nowhere"\nhint: .*\n$/)])
})
