// Reading changes nothing: every reading command of the command table, next to a lost run of another project, ends, closes, releases and starts nothing.
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { allCommands } from '../../src/cli/nouns.ts'
import { procFile, waitForDeath } from '../support/programs.ts'
import { EMPTY_REPOSITORY } from '../support/repository.ts'
import type { Json } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { isClosedOnce, isOurs, spine, type Spine } from './spine.ts'

const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`
const RUN = '%run'

/** Every command that only reads, with arguments that make it look at the lost run. */
const READS: Readonly<Record<string, readonly string[]>> = {
  'heimdall status': [],
  'heimdall next': [],
  'heimdall top': [],
  'heimdall ls': [],
  'heimdall attach': ['amber-otter'],
  'heimdall logs': ['amber-otter'],
  'hm wait': ['amber-otter', '--timeout', '1s'],
  'hm status': ['amber-otter'],
  'hm peek': ['amber-otter'],
  'heimdall symbol get': [],
  'heimdall symbol list': [],
  'heimdall fact get': ['x'],
  'heimdall fact list': [],
  'heimdall capsule show': ['x'],
  'heimdall capsule list': [],
  'heimdall capsule deps': ['x'],
  'heimdall protocol log': [],
  'heimdall message validate': [],
  'heimdall message schema': [],
  'heimdall tokens report': [],
  'heimdall tokens delta': [],
  'heimdall claim check': ['src/api'],
  'heimdall claim list': [],
  'heimdall claim history': [],
  'heimdall-claim show': [],
  'heimdall agent list': [],
  'heimdall agent show': ['amber-otter'],
  'heimdall whoami': [],
  'heimdall note list': [],
  'bb agent list': [],
  'bb agent show': ['--agent', 'amber-otter'],
  'bb agent status': ['--agent', 'amber-otter'],
  'bb agent inbox': ['--agent', 'amber-otter'],
  'heimdall-haid current': [],
  'heimdall-haid check': ['amber-otter'],
  'heimdall-haid list': [],
  'heimdall-haid get': ['amber-otter'],
  'heimdall-haid trailer': ['amber-otter'],
  'heimdall why': ['amber-otter'],
  'heimdall task list': [],
  'heimdall task show': ['T-1'],
  'heimdall task explain': ['T-1'],
  'heimdall task diff': ['T-1'],
  'heimdall peers list': [],
  'heimdall diff': ['amber-otter'],
  'heimdall worktree list': [],
  'heimdall fleet status': [],
  'heimdall fleet doctor': [],
  'heimdall policy lint': [],
  'heimdall policy compile': ['policy.yaml'],
  'heimdall policy explain': ['policy.yaml'],
  'heimdall policy test': ['policy.yaml'],
  'heimdall policy diff': ['policy.yaml', 'policy.yaml'],
  'heimdall policy replay': ['policy.yaml'],
  'heimdall approve': [],
  'sub approvals list': [],
  'heimdall mcp pins list': [],
  'heimdall mcp pins show': ['server'],
  'heimdall mcp secrets list': [],
  'heimdall hosts': [],
  'heimdall runs list': [],
  'heimdall runs show': [RUN],
  'heimdall cost': [],
  'heimdall events': [],
  'heimdall events show': ['01J'],
  'heimdall events tail': [],
  'heimdall events export': [],
  'heimdall help': [],
  'heimdall doctor': [],
  'heimdall config list': [],
  'heimdall config get': ['classifier'],
  'heimdall trust list': [],
  'heimdall completion': ['bash'],
  'heimdall man': [],
  'heimdall hash': [],
  'heimdall version': [],
}

/** Further names and flags of reading commands that go another way through the code. */
const ALSO: readonly (readonly [bin: string, ...words: string[]])[] = [
  ['hm', 'ls'],
  ['hm', 'ls', '--all'],
  ['heimdall', 'ls', '--all'],
  ['heimdall', 'status', '--quiet'],
  ['heimdall', 'why', 'src/api'],
  ['heimdall', 'why', RUN],
  ['heimdall', 'doctor', '--security'],
  ['heimdall', 'clean'],
  ['sub', 'doctor'],
]

/** Every command that writes, starts something, or takes part in a run or a host. */
const WRITES =
  /^(?:heimdall (?:run|snooze|up|open|demo|send|kill|clean|watch|merge|init|uninstall|hook|deny|trust|trust remove|config set|protocol init|protocol demo|brief build|gate to-message)|hm (?:run|detach|rename|report|pipe|record|export)|heimdall symbol (?:set|remove|import)|heimdall fact (?:set|remove)|heimdall capsule (?:write|hydrate)|heimdall-task-result done|heimdall tokens (?:log|baseline)|heimdall claim(?: release| takeover| wait| renew| reap)?|heimdall-claim heartbeat|heimdall agent (?:add|end|revoke|reinstate)|heimdall note (?:send|read|ack)|bb-init|bb agent (?:register|heartbeat|reserve|release|send|read|ack)|heimdall-haid (?:spawn|register|heartbeat|revoke|reinstate)|heimdall task (?:add|cancel|retry|answer|start|done|merge|pr|discard|reply)|heimdall worker (?:start|announce|drain|serve)|heimdall peers check|heimdall guard (?:install|uninstall|run)|heimdall worktree remove|heimdall fleet (?:create|join|leave|invite|expel|remove|export|import|link)|heimdall policy init|sub approvals (?:allow|deny)|heimdall mcp (?:import|restore|shim|pins approve|pins remove|secrets add|secrets remove)|heimdall runs (?:prune|reindex)|sub run)$/

test('the tables above hold every command, each in one of them', async () => {
  const names = (await allCommands()).map(({ spec }) => spec.names[0])
  expect(names.filter((name) => Object.hasOwn(READS, name) === WRITES.test(name))).toEqual([])
  expect(Object.keys(READS).filter((name) => !names.includes(name))).toEqual([])
})

/**
 * What a reader may write: the run index, which is made from the records; the memory that SQLite shares among readers; and
 * the log of the briefing commands, which by seed 000 has a line for each of them.
 */
const BY_READERS = /(?:runs\.db(?:-wal|-shm|\.lock)?|\.db-shm|protocol\.log)$/

/** Each file with its content; of a store what is in it. */
function filesOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || BY_READERS.test(path) || path.endsWith('.db-wal')) continue
    found[path] = path.endsWith('.db') ? rowsOf(path) : createHash('sha256').update(readFileSync(path)).digest('hex')
  }
  return found
}

function rowsOf(path: string): string {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all() as {
      name: string
    }[]
    return JSON.stringify(
      tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]),
      (_, value) => (typeof value === 'bigint' ? String(value) : (value as unknown)),
    )
  } finally {
    db.close()
  }
}

/** Whatever belongs to this home: its pid with its command line. */
const processesNow = (project: Spine): string[] =>
  project.processes().map((pid) => `${pid} ${procFile(pid, 'cmdline').replaceAll('\0', ' ')}`)

interface State {
  readonly processes: readonly string[]
  readonly files: Readonly<Record<string, string>>
}

const stateOf = (project: Spine): State => ({
  processes: processesNow(project),
  files: { ...filesOf(project.home), ...filesOf(project.root) },
})

/** Which files, and whether processes, are other than before. */
function differences(before: State, after: State): string[] {
  const paths = new Set([...Object.keys(before.files), ...Object.keys(after.files)])
  const files = [...paths].filter((path) => before.files[path] !== after.files[path])
  return JSON.stringify(before.processes) === JSON.stringify(after.processes) ? files : ['processes', ...files]
}

/** A run whose command does not care that its supervisor and the watcher were killed, and holds a claim. */
async function lostRun(project: Spine): Promise<{ run: string; child: number }> {
  const script = `trap '' HUP TERM; heimdall claim src/api --task T-1 >/dev/null; echo ready; while :; do sleep 1000; done`
  const { run_id: run, pid } = await project.detached('amber-otter', ['sh', '-c', script], [], { env: { PATH } })
  await until('the claim', async () => (await project.run('hm', ['logs', 'amber-otter'])).stdout.includes('ready'))
  const ours = [await project.watcher(), ...project.processes().filter((one) => isOurs(one))]
  for (const one of ours) process.kill(one, 'SIGKILL')
  await Promise.all(ours.map((one) => waitForDeath(one)))
  return { run: String(run), child: Number(pid) }
}

test('no reading command ends, closes, releases or starts anything, in the project of a lost run or in another', async () => {
  const project = spine()
  const other = join(project.home, 'other')
  cpSync(EMPTY_REPOSITORY, join(other, '.git'), { recursive: true })
  project.write('policy.yaml', 'version: 1\n')
  const { run, child } = await lostRun(project)
  const lines = [...Object.entries(READS).map(([name, args]) => [...name.split(' '), ...args]), ...ALSO]
  const changed: string[] = []
  let before = stateOf(project)
  for (const cwd of [project.root, other])
    for (const line of lines) {
      const [bin = '', ...words] = line.map((word) => (word === RUN ? run : word))
      await project.run(bin, words, { cwd, stdin: '' })
      const after = stateOf(project)
      const found = differences(before, after)
      before = after
      if (found.length > 0) changed.push(`${line.join(' ')}: ${found.join(', ')}`)
    }
  expect(changed).toEqual([])
  // Readers say how it stands.
  const { agents } = (await project.json(['ls'])) as { agents: Json[] }
  expect(agents).toMatchObject([{ agent_id: 'amber-otter', state: 'lost' }])
  expect((await project.run('hm', ['ls'])).stdout).toContain(`lost, still running ${child}`)
  expect((await project.run('heimdall', ['status'])).stdout).toMatch(/lost, still running: process \d+/)
  process.kill(-child, 'SIGKILL')
  await waitForDeath(child)
  expect((await project.run('hm', ['status', 'amber-otter'])).stdout).toContain('nothing of it runs')
  expect((await project.run('heimdall', ['status'])).stdout).toContain('its supervisor was killed')
  expect(project.sheets()).toHaveLength(1)
  // What settles it.
  expect((await project.run('heimdall', ['kill', 'amber-otter'])).code).toBe(0)
  expect(project.sheets()).toEqual([])
  expect(isClosedOnce(project.events(run))).toBe(true)
  expect(await project.claims()).toEqual([])
})

test('doctor says which runs are lost, and only with --fix ends what is left and closes them', async () => {
  const project = spine()
  const { run, child } = await lostRun(project)
  const found = async (...flags: string[]): Promise<Json | undefined> =>
    ((await project.json(['doctor', ...flags]))['checks'] as Json[]).find(({ check }) => check === 'runs')
  expect(await found()).toMatchObject({ state: 'warn', found: expect.stringContaining(run) as string })
  expect(execFileSync('ps', ['-o', 'pid=', '-p', String(child)], { encoding: 'utf8' }).trim()).toBe(String(child))
  expect(await found('--fix')).toMatchObject({ state: 'ok', fixed: true })
  expect(project.processes()).toEqual([])
  expect(isClosedOnce(project.events(run))).toBe(true)
  expect(await project.claims()).toEqual([])
})
