// Ended and orphaned sessions: their output, their record, and their name.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { HeimdallError } from '../../src/errors.ts'
import { readStat } from '../../src/processes.ts'
import { takeId } from '../../src/sessions/hold-id.ts'
import { findSession, readExitRecord, readHolder } from '../../src/sessions/session-files.ts'
import { settle } from '../../src/sessions/settle.ts'
import { withFileLock } from '../../src/storage/file-lock.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { sh, start } from '../supervisor/support/session.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { eachSource } from '../support/process-sources.ts'
import { isRunning, startProgram, waitForDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { until, waitForFile } from '../support/wait.ts'
import { hm, type Hm } from './hm.ts'

const lines = (text: string): string[] => text.split(/\r?\n/).filter((line) => line !== '')

// `hm logs` and `hm peek` show the output of a session that has ended.
test('a session that ended within milliseconds still says what it said, every time', async () => {
  const home = hm()
  for (let n = 0; n < scaled(3, 100); n += 1) {
    await home.session('x', ['sh', '-c', `echo build failed ${n}; exit 1`])
    await home.ended('x')
    const [logs, peek] = await Promise.all([home.run(['logs', 'x']), home.run(['peek', 'x'])])
    expect([logs.code, lines(logs.stdout)]).toEqual([0, [`build failed ${n}`]])
    expect([peek.code, lines(peek.stdout)]).toEqual([0, [`build failed ${n}`]])
    for (const { stderr } of [logs, peek]) expect(stderr).toMatch(/session x has ended with exit code 1 at 20/)
  }
})

test('logs, peek, export and status answer after the end, in JSON as well', async () => {
  const home = hm()
  await home.session('x', ['sh', '-c', 'printf "\\033]0;my title\\007one\\ntwo\\nthree\\n"; exit 3'])
  await home.ended('x')
  const records = lines((await home.run(['logs', 'x', '--json'])).stdout).map((line) => JSON.parse(line) as unknown)
  expect(records).toMatchObject([
    { type: 'output', offset: 0 },
    { type: 'exit', code: 3 },
  ])
  expect(lines((await home.run(['logs', 'x', '--tail', '2', '-f'])).stdout)).toEqual(['two', 'three'])
  expect((await home.run(['logs', 'x', '--raw'])).stdout).toBe('\u001b]0;my title\u0007one\r\ntwo\r\nthree\r\n')
  expect(await home.json(['peek', 'x'])).toMatchObject({ cols: 220, rows: 50, ended: true, whole: true })
  expect(await home.json(['status', 'x'])).toMatchObject({ alive: false, exit_code: 3, title: 'my title', cols: 220 })
  const { cast } = await home.json(['export', 'x'])
  const [header, event] = lines(cast as string).map((line) => JSON.parse(line) as unknown)
  expect(header).toMatchObject({
    version: 2,
    width: 220,
    height: 50,
    command: expect.stringMatching(/^sh -c/) as string,
  })
  expect(event).toEqual([0, 'o', expect.stringContaining('one\r\ntwo')])
  for (const name of readdirSync(home.dir)) expect(statSync(join(home.dir, name)).mode & 0o777, name).toBe(0o600)
})

test('the last screen is the one that was there, also when more was said than is kept', async () => {
  const home = hm()
  const go = join(home.home, 'go')
  const draw = 'printf "\\033[2J\\033[5;10Hhere\\033[7;3H\\033[1mbold\\033[0m"'
  await home.session('x', ['sh', '-c', `seq 1 30000; ${draw}; while [ ! -e ${go} ]; do sleep 0.05; done; exit 2`])
  const seen = await until('the drawing', async () => {
    const screen = await home.json(['peek', 'x'])
    return (screen['lines'] as string[])[6]?.includes('bold') === true && screen
  })
  const said = (await home.run(['logs', 'x', '--raw'])).stdout
  writeFileSync(go, '')
  await home.ended('x')
  expect(await home.json(['peek', 'x'])).toEqual({ ...seen, ended: true })
  expect((await home.run(['logs', 'x', '--raw'])).stdout).toBe(said)
  expect(said.length).toBeLessThanOrEqual(65_536)
})

test('of a supervisor that was killed, all but the last second is left', async () => {
  const home = hm()
  await home.session('x', ['sh', '-c', 'trap "" HUP; echo before; while :; do sleep 0.1; done'])
  await waitForFile(join(home.dir, 'x.kept'), (text) => text.includes('before'))
  const { supervisorPid = 0 } = readHolder(home.dir, 'x') ?? {}
  process.kill(supervisorPid, 'SIGKILL')
  await waitForDeath(supervisorPid)
  const running = await home.run(['logs', 'x'])
  expect([lines(running.stdout), running.stderr]).toEqual([['before'], expect.stringContaining('lost its supervisor')])
  expect(lines((await home.run(['peek', 'x'])).stdout)).toEqual(['before'])
  await home.run(['kill', 'x'])
  expect((await home.run(['logs', 'x'])).stderr).toContain('has ended with exit code 137')
})

test('it goes with clean, with the next session of the id, and with its age; without scrollback nothing is kept', async () => {
  const home = hm()
  const kept = (id: string): string => join(home.dir, `${id}.kept`)
  for (const id of ['old', 'again', 'aged']) await home.session(id, ['echo', 'said'])
  for (const id of ['old', 'again', 'aged']) await home.ended(id)
  const past = new Date(Date.now() - 31 * 86_400_000)
  utimesSync(kept('aged'), past, past)

  await home.session('again', ['sleep', '1000'])
  expect(existsSync(kept('again'))).toBe(false)

  await home.session('silent', ['sh', '-c', 'echo said'], ['--scrollback-bytes', '0'])
  await home.ended('silent')
  expect([existsSync(kept('silent')), existsSync(kept('aged')), existsSync(kept('old'))]).toEqual([false, false, true])
  expect((await home.run(['logs', 'silent'])).code).toBe(1)

  const yesterday = new Date(Date.now() - 25 * 3_600_000)
  utimesSync(kept('old'), yesterday, yesterday)
  expect((await home.run(['clean', '--force'])).stdout).toContain('old.kept')
  expect([existsSync(kept('old')), (await home.run(['logs', 'old'])).code]).toEqual([false, 1])
})

test('a renamed session says it under its new id', async () => {
  const home = hm()
  const go = join(home.home, 'go')
  await home.session('before', ['sh', '-c', `echo said; while [ ! -e ${go} ]; do sleep 0.05; done`])
  await waitForFile(join(home.dir, 'before.kept'))
  await home.run(['rename', 'before', 'after'])
  writeFileSync(go, '')
  await home.ended('after')
  expect(lines((await home.run(['logs', 'after'])).stdout)).toEqual(['said'])
  expect(readdirSync(home.dir).filter((name) => name.startsWith('before.k'))).toEqual([])
  expect(readFileSync(join(home.dir, 'after.kept'), 'utf8')).toContain('said')
})

test('what cannot be removed of an earlier session changes nothing for this one', async () => {
  const home = hm()
  mkdirSync(join(home.dir, 'past.kept', 'no file'), { recursive: true, mode: 0o700 })
  writeFileSync(join(home.dir, 'aged.kept'), '')
  for (const name of ['past.kept', 'aged.kept']) utimesSync(join(home.dir, name), 1, 1)
  expect((await home.run(['run', '--inline', '--id', 'x', '--', 'sh', '-c', 'exit 7'])).code).toBe(7)
  expect(readdirSync(home.dir).filter((name) => /^(past|aged)/.test(name))).toEqual(['past.kept'])
})

// A child that survives SIGKILL of its supervisor is listed; only kill ends it.
const ENDLESS = 'while :; do sleep 0.1; done'
const USER = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim()

/** A session whose supervisor was killed and whose child goes on. */
async function lose(home: Hm, id: string, script = ENDLESS): Promise<number> {
  const up = join(home.home, `${id}-up`)
  await home.session(id, ['sh', '-c', `trap "" HUP; touch ${up}; ${script}`])
  await waitForFile(up)
  const holder = readHolder(home.dir, id)
  process.kill(holder?.supervisorPid ?? 0, 'SIGKILL')
  await waitForDeath(holder?.supervisorPid ?? 0)
  return holder?.childPid ?? 0
}

const QUERIES: readonly { readonly words: readonly string[]; readonly code: number }[] = [
  { words: ['wait', 'x', '--timeout', '300ms'], code: 6 },
  { words: ['wait', 'x', '--for', 'idle'], code: 1 },
  { words: ['peek', 'x'], code: 1 },
  { words: ['attach', 'x'], code: 1 },
  { words: ['send', 'x', 'text'], code: 1 },
  { words: ['record', 'x', 'out.cast'], code: 1 },
  { words: ['clean'], code: 0 },
  { words: ['ls', '--all'], code: 0 },
]

eachSource((source) => {
  test('queries see it and end nothing; kill ends it, and the record says who ended what', async () => {
    const home = hm()
    const child = await lose(home, 'x')
    expect((await home.run(['ls'])).stdout).toMatch(
      /^Active sessions:\n {2}x +lost, still running +.*sh -c trap "" HUP/,
    )
    expect(await home.json(['ls'])).toMatchObject({
      sessions: [{ id: 'x', alive: true, state: 'lost', pid: child, exit_code: null }],
    })
    expect(await home.json(['status', 'x'])).toMatchObject({ alive: true, state: 'lost', pid: child, exit_code: null })
    const { stdout } = await home.run(['status', 'x'])
    expect(stdout).toMatch(new RegExp(`still running: .*\\b${child} sh -c trap`))
    // All of them find it in the same way: where each look starts a program, one is enough.
    const queries = source === 'proc' ? QUERIES : QUERIES.slice(0, 1)
    const answers = await Promise.all(queries.map(async ({ words }) => ({ words, code: (await home.run(words)).code })))
    expect(answers).toEqual(queries)
    expect((await home.run(['send', 'x', 'y'])).stderr).toMatch(/supervisor of session x was killed; still running/)
    expect([isRunning(child), existsSync(join(home.dir, 'x.pid'))]).toEqual([true, true])

    const killed = await home.run(['kill', 'x'])
    expect([killed.code, killed.stdout]).toEqual([
      0,
      expect.stringMatching(/had lost its supervisor; ended \d processes/),
    ])
    expect(isRunning(child)).toBe(false)
    expect(readExitRecord(home.dir, 'x')).toMatchObject({
      reason: 'lost',
      exit_code: 137,
      command: ['sh', '-c', expect.stringContaining('trap') as string],
      ended_by: expect.stringMatching(new RegExp(`^hm kill by ${USER} \\(process \\d+\\)$`)) as string,
      swept_processes: expect.arrayContaining([expect.stringMatching(new RegExp(`^${child} sh -c trap`))]) as string[],
    })
    expect((await home.run(['ls'])).stdout).toBe('No active sessions\n')
  })
})

test('wait sees the end of what was left, and writes nothing; kill puts it on record', async () => {
  const home = hm()
  const go = join(home.home, 'go')
  await lose(home, 'x', `while [ ! -e ${go} ]; do sleep 0.05; done`)
  const waiting = home.start(['wait', 'x', '--json'])
  await until('the wait to look', () => existsSync(`/proc/${waiting.pid}`))
  execFileSync('touch', [go])
  const { code, stdout } = await waiting.ended
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { data: { exit_code: 137 } }])
  expect(readExitRecord(home.dir, 'x')).toBeUndefined()
  expect((await home.run(['kill', 'x'])).code).toBe(0)
  expect(readExitRecord(home.dir, 'x')).toMatchObject({ reason: 'lost', exit_code: 137, swept: 0, ended_by: null })
})

test('clean says what it would end, and ends it with --force', async () => {
  const home = hm()
  const child = await lose(home, 'x')
  // The list is in the order of process ids, which start over: the child is not always its first.
  expect((await home.run(['clean'])).stdout).toMatch(
    new RegExp(`would end session x, lost, still running: .*\\b${child} sh -c`),
  )
  expect(isRunning(child)).toBe(true)
  const { stdout } = await home.run(['clean', '--force'])
  expect(stdout).toMatch(new RegExp(`ended session x, lost, still running: .*\\b${child} sh -c`))
  expect(isRunning(child)).toBe(false)
  expect(readExitRecord(home.dir, 'x')).toMatchObject({ ended_by: expect.stringContaining('hm clean by') as string })
})

test('a start under the id ends what was left of it, and the log says so', async () => {
  const home = hm()
  const child = await lose(home, 'x')
  await home.session('x', ['sleep', '1000'])
  expect(isRunning(child)).toBe(false)
  expect(readFileSync(join(home.dir, 'x.log'), 'utf8')).toMatch(
    new RegExp(`lost, and what was left ended by a start of session x .*[:;] ${child} sh -c trap`),
  )
})

test('kill ends a session whose supervisor is stopped', async () => {
  const home = hm()
  await home.session('x', ['sleep', '1000'])
  const { supervisorPid = 0, childPid = 0 } = readHolder(home.dir, 'x') ?? {}
  process.kill(supervisorPid, 'SIGSTOP')
  await until('the supervisor to be stopped', () => readStat(supervisorPid)?.isStopped)
  const { code, stdout, stderr } = await home.run(['kill', 'x', '--wait'])
  expect([code, stdout]).toEqual([0, 'Session x ended with exit code 143\n'])
  expect(stderr).toContain('was stopped')
  expect([supervisorPid, childPid].filter(isRunning)).toEqual([])
  expect(readExitRecord(home.dir, 'x')).toMatchObject({
    reason: 'kill',
    ended_by: expect.stringMatching(`^hm kill by ${USER} `) as string,
  })
})

// A pid file that is being linked is not an error; locks and temporary pid files are removed.
/** Looks at the file as fast as it can, and says at the end of its input how many names it had at most. */
const WATCH = `
const { statSync } = require('node:fs')
let most = 0
let hasSaid = false
const look = () => {
  for (let i = 0; i < 2000; i += 1) most = Math.max(most, statSync(process.argv[1], { throwIfNoEntry: false })?.nlink ?? 0)
  if (most > 0 && !hasSaid) console.log('seen')
  hasSaid = most > 0
  setImmediate(look)
}
process.stdin.on('data', () => {}).on('end', () => { console.log('most ' + most); process.exit() })
console.log('watching')
look()`

test('an id is taken without its pid file ever having two names', async () => {
  const dir = join(temporaryFolder(), 's')
  mkdirSync(dir, { mode: 0o700 })
  const watcher = startProgram([process.execPath, '-e', WATCH, join(dir, 't.pid')])
  await watcher.waitForLine('watching')
  // On a busy machine it may not get to look while the file is there: once it has.
  await takeId(dir, 't', process.pid, systemClock)
  await watcher.waitForLine('seen')
  unlinkSync(join(dir, 't.pid'))
  for (let round = 0; round < scaled(300, 10_000); round += 1) {
    await takeId(dir, 't', process.pid, systemClock)
    unlinkSync(join(dir, 't.pid'))
  }
  watcher.child.stdin?.end()
  expect(await watcher.waitForLine(/^most/)).toBe('most 1')
})

test('a session leaves its record, its log and what it said, and nothing else', async () => {
  const session = await start(sh('echo said; exit 3'))
  await session.gone()
  expect(readdirSync(session.dir).sort()).toEqual(['t.exit.json', 't.kept', 't.log'])
})

test('what is settled leaves no lock; one that somebody holds stays, and excludes', async () => {
  const home = hm()
  await home.session('x', ['sleep', '1000'])
  const pid = Number((await home.json(['status', 'x']))['supervisor_pid'])
  process.kill(pid, 'SIGKILL')
  await waitForDeath(pid)
  expect((await home.run(['kill', 'x'])).code).toBe(0)
  expect(await home.json(['status', 'x'])).toMatchObject({ reason: 'lost' })
  expect(readdirSync(home.dir).filter((name) => name.endsWith('.lock'))).toEqual([])

  const path = join(home.dir, 'y.pid')
  await withFileLock(path, async () => {
    const past = new Date(Date.now() - 48 * 3_600_000)
    utimesSync(`${path}.lock`, past, past)
    await home.run(['clean', '--force'])
    expect(existsSync(`${path}.lock`)).toBe(true)
  })
})

test('clean takes locks and drafts that killed starts have left', async () => {
  const home = hm()
  await home.session('x', ['true'])
  await home.ended('x')
  const past = new Date(Date.now() - 48 * 3_600_000)
  const names = ['x.pid.lock', 'gone.pid.lock', '.gone.4194304.pid', '.x.kept']
  for (const name of [...names, `.starting.${process.pid}.pid`]) {
    writeFileSync(join(home.dir, name), '')
    utimesSync(join(home.dir, name), past, past)
  }
  await home.run(['clean', '--force'])
  expect(readdirSync(home.dir).filter((name) => names.includes(name))).toEqual([])
  expect(statSync(join(home.dir, `.starting.${process.pid}.pid`)).size).toBe(0)
})

// Settling a lost session does not remove the files of a new session with the same id.
test('a start beside the settling of its id keeps its pid file and its socket', async () => {
  const folder = temporaryFolder()
  const socketDir = join(folder, 's')
  mkdirSync(socketDir, { mode: 0o700 })
  const up = join(folder, 'up')
  const lost = await start(sh(`trap "" HUP TERM; : > ${up}; while :; do sleep 1000; done`), { socketDir })
  await waitForFile(up)
  process.kill(lost.supervisor_pid, 'SIGKILL')
  await waitForDeath(lost.supervisor_pid)

  const clock = fakeClock()
  const settling = settle(socketDir, 't', { by: 'a test', clock })
  await until('the settling to wait for the tree', () => clock.pending() > 0)
  const isExclusive = await isLocked(sessionPaths(socketDir, 't').pid)
  const starting = start(['cat'], { socketDir })
  // A start that is not kept out comes through in the middle of the settling.
  if (!isExclusive) await starting
  let isSettled = false
  void settling.then(() => (isSettled = true))
  await until('the tree to be ended, and settled', async () => {
    await clock.advanceAsync(100)
    return isSettled && !isRunning(lost.pid)
  })

  const session = await starting
  expect(findSession(socketDir, 't')).toMatchObject({
    state: 'running',
    exit: undefined,
    holder: { supervisorPid: session.supervisor_pid, childPid: session.pid },
  })
  expect((await (await session.connect()).status()).alive).toBe(true)
})

async function isLocked(path: string): Promise<boolean> {
  try {
    await withFileLock(path, () => undefined, { waitMs: 0 })
    return false
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'STORE_BUSY') return true
    throw error
  }
}
