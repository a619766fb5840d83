// What fails while a session is put together must not leave a child behind that nobody knows of.
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { resolveOptions } from '../../src/wire/session-options.ts'
import { openPty } from '../../src/supervisor/pty.ts'
import { TerminalCover } from '../../src/known-secrets/terminal-cover.ts'
import { Session } from '../../src/supervisor/session.ts'
import { type Holder, parseHolder } from '../../src/wire/pid-file.ts'
import { SessionName } from '../../src/supervisor/session-name.ts'
import { descendants } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'

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
      listenAt: () => Promise.resolve(),
      onEnd: () => undefined,
    })
  expect(make).toThrow('no emulator')
  expect(children()).toEqual([])
})
