// The files of sessions: who holds an id, what is stale, what is refused, and what is left for those who come later.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { HeimdallError } from '../../src/errors.ts'
import { bootId } from '../../src/boot-id.ts'
import { readStat } from '../../src/processes.ts'
import { takeId } from '../../src/sessions/hold-id.ts'
import { findSession, listSessions, readHolder } from '../../src/sessions/session-files.ts'
import { encodeHolder, type Holder, parseHolder } from '../../src/wire/pid-file.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { settle } from '../../src/sessions/settle.ts'
import { eachSource } from '../support/process-sources.ts'
import { isRunning, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { needs } from '../support/needs.ts'
import { sh, start, type TestSession } from './support/session.ts'

function sessionsFolder(): string {
  const dir = join(temporaryFolder(), 's')
  mkdirSync(dir, { mode: 0o700 })
  return dir
}

eachSource(() => {
  test('the pid file has supervisor and child in its first two lines, as in the field, and more behind', async () => {
    const session = await start(['cat'])
    const lines = readFileSync(sessionPaths(session.dir, 't').pid, 'utf8').split('\n')
    expect(lines.slice(0, 2)).toEqual([String(session.supervisor_pid), String(session.pid)])
    expect(readHolder(session.dir, 't')).toMatchObject({
      childStart: readStat(session.pid)?.startTicks,
      supervisorStart: readStat(session.supervisor_pid)?.startTicks,
      boot: bootId(),
    })
    expect(parseHolder('12\n13\n')).toMatchObject({ supervisorPid: 12, childPid: 13, boot: undefined })
    for (const garbage of ['', '\n', 'x\ny\n', '0\n0\n', '-1\n2\n', '\0\0\0'])
      expect(parseHolder(garbage)).toBeUndefined()
  })

  const stale: Holder = {
    supervisorPid: process.pid,
    childPid: process.pid,
    supervisorStart: 1,
    childStart: 1,
    boot: bootId(),
    key: undefined,
    startedAtMs: 0,
    protocol: undefined,
    command: undefined,
    cwd: undefined,
  }

  test.each([
    ['a pid that now belongs to another process', encodeHolder(stale)],
    [
      'a pid of before the last boot',
      encodeHolder({ ...stale, supervisorStart: readStat(process.pid)?.startTicks, boot: 'earlier' }),
    ],
    ['an empty file', ''],
    ['garbage', 'not a pid\n'],
    ['a pid that is gone', '4194304\n4194304\n'],
  ])('a stale pid file is recognised: %s', async (_name, text) => {
    const dir = sessionsFolder()
    const paths = sessionPaths(dir, 't')
    writeFileSync(paths.pid, text)
    writeFileSync(paths.socket, '')
    const { key } = await takeId(dir, 't', process.pid, systemClock)
    expect(readHolder(dir, 't')).toMatchObject({ supervisorPid: process.pid, key })
    expect(existsSync(paths.socket)).toBe(false)
  })

  test('children of a process that has got the number of an old session’s child are left alone', async () => {
    const dir = sessionsFolder()
    const stranger = startProgram(['sh', '-c', 'sleep 1000 & echo $!; wait'])
    const below = Number(await stranger.waitForLine(/^\d+$/))
    writeFileSync(sessionPaths(dir, 't').pid, encodeHolder({ ...stale, childPid: stranger.pid }))
    expect(await settle(dir, 't', { by: 'a test' })).toBe('settled')
    expect([stranger.pid, below].filter(isRunning)).toEqual([stranger.pid, below])
  })

  test('a pid file of another program with a live pid is respected', async () => {
    const dir = sessionsFolder()
    writeFileSync(sessionPaths(dir, 't').pid, `${process.pid}\n${process.pid}\n`)
    await expect(start(['cat'], { socketDir: dir })).rejects.toMatchObject({ code: 'SESSION_ID_IN_USE' })
  })

  test('listing changes nothing and knows running, lost and ended sessions', async () => {
    const dir = sessionsFolder()
    expect(listSessions(join(dir, 'absent'))).toEqual([])
    const [running, ended, lost] = await Promise.all([
      start(['cat'], { socketDir: dir, id: 'running' }),
      start(sh('exit 2'), { socketDir: dir, id: 'ended' }),
      start(['cat'], { socketDir: dir, id: 'lost' }),
    ])
    process.kill(lost.supervisor_pid, 'SIGKILL')
    await Promise.all([lost.gone(), ended.gone()])
    const list = (): string[] => listSessions(dir).map(({ id, state }) => `${id} ${state}`)
    expect(list()).toEqual(['ended ended', 'lost lost', 'running running'])
    expect(existsSync(sessionPaths(dir, 'lost').pid)).toBe(true)
    expect(await settle(dir, 'lost', { by: 'a test' })).toBe('settled')
    expect(await settle(dir, 'running', { by: 'a test' })).toBe('alive')
    expect(await settle(dir, 'never-was', { by: 'a test' })).toBe('nothing')
    expect(findSession(dir, 'lost')).toMatchObject({ state: 'ended', exit: { reason: 'lost', exit_code: 137 } })
    expect((await (await running.connect()).status()).alive).toBe(true)
  })
})

test('many starts with one id: one wins, the others are told who holds it; also over what a killed one has left', async () => {
  const dir = sessionsFolder()
  for (let round = 0; round < scaled(1, 60); round += 1) {
    const attempts = await Promise.allSettled(
      Array.from({ length: scaled(4, 12) }, () => start(['sleep', '1000'], { socketDir: dir })),
    )
    const won = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []))
    const [winner] = won as [TestSession]
    expect(won.length).toBe(1)
    for (const attempt of attempts) {
      if (attempt.status === 'fulfilled') continue
      const error = attempt.reason as HeimdallError
      expect([error.code, error.entry.seedExit]).toEqual(['SESSION_ID_IN_USE', 1])
      expect(error.message).toContain(`supervisor ${winner.supervisor_pid}`)
    }
    await expect(start(['cat'], { socketDir: dir })).rejects.toThrow(
      new RegExp(`supervisor ${winner.supervisor_pid}, child ${winner.pid}, since .*Z, running sleep 1000`),
    )
    expect((await (await winner.connect()).status()).alive).toBe(true)
    process.kill(winner.supervisor_pid, 'SIGKILL')
    await winner.gone()
  }
  // The first over what is left has the id again.
  expect((await start(['cat'], { socketDir: dir })).id).toBe('t')
})

test('an id is free again as soon as its session has ended, though that still answers', async () => {
  const first = await start(sh('exit 4'))
  const client = await first.connect()
  client.subscribe()
  await client.exit()
  const second = await start(['cat'], { socketDir: first.dir })
  expect(second.supervisor_pid).not.toBe(first.supervisor_pid)
  expect(findSession(first.dir, 't')).toMatchObject({ state: 'running', exit: undefined })
})

test('a path that is too long, a program that is not there, a folder that is not there: clear errors, nothing left behind', async () => {
  const long = join(temporaryFolder(), 'x'.repeat(90))
  await expect(start(['cat'], { socketDir: long })).rejects.toMatchObject({ code: 'SESSION_PATH_TOO_LONG' })
  const dir = sessionsFolder()
  const missing = await start(['no-such-program'], { socketDir: dir }).catch((error: HeimdallError) => error)
  expect(missing).toMatchObject({ code: 'SESSION_COMMAND_NOT_FOUND', entry: { exit: 127 } })
  await expect(start(['./no'], { socketDir: dir })).rejects.toMatchObject({ code: 'SESSION_COMMAND_NOT_FOUND' })
  await expect(start(['cat'], { socketDir: dir, cwd: '/no/such' })).rejects.toMatchObject({
    code: 'SESSION_OPTIONS_INVALID',
  })
  expect(listSessions(dir)).toEqual([])
})

test('the child sees the session id, what was added, and the terminal; not the supervisor', async () => {
  const session = await start(sh('env; tty; pwd; exit 0'), {
    env: [{ name: 'ADDED', value: 'x=y z' }],
    environment: { COLUMNS: '7', KEPT: 'kept' },
    cwd: '/usr',
  })
  const client = await session.connect()
  client.subscribe()
  await client.exit()
  const out = client.output()
  for (const line of ['HEIMDALL_SESSION_ID=t', 'ADDED=x=y z', 'KEPT=kept', 'TERM=xterm-256color', '/usr', 'PWD=/usr'])
    expect(out.split('\r\n')).toContain(line)
  expect(out).toMatch(/\/dev\/pts\/\d+/)
  expect(out).not.toMatch(/HEIMDALL_SUPERVISOR|^COLUMNS=/m)
})

test('another user cannot connect, and a folder of another user is refused', async () => {
  needs('root')
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  const dir = join(folder, 's')
  const session = await start(['cat'], { socketDir: dir })
  const script = `require('net').connect(${JSON.stringify(session.socket)}).on('error', e => console.log(e.code)).on('connect', () => console.log('in'))`
  // In a folder and with settings that the other user can read.
  const options = { uid: 65_534, cwd: '/', env: { PATH: process.env['PATH'] }, encoding: 'utf8' } as const
  expect(execFileSync(process.execPath, ['-e', script], options).trim()).toBe('EACCES')
  const foreign = join(folder, 'foreign')
  mkdirSync(foreign, { mode: 0o700 })
  execFileSync('chown', ['65534', foreign])
  await expect(start(['cat'], { socketDir: foreign })).rejects.toThrow(/belongs to user 65534/)
})
