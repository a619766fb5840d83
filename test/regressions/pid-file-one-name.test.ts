// A starter read a pid file while another was linking it, and ended with "is one of 2 names of the same file"; locks and drafts of pid files stayed.
import { existsSync, mkdirSync, readdirSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { HeimdallError } from '../../src/errors.ts'
import { withFileLock } from '../../src/storage/file-lock.ts'
import { takeId } from '../../src/sessions/hold-id.ts'
import { hm } from '../hm/hm.ts'
import { startProgram, waitForDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { waitForNoFile } from '../support/wait.ts'
import { sh, start } from '../supervisor/support/session.ts'

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

test('of many starts under one id all but one are told that it is taken, and nothing else', async () => {
  const dir = join(temporaryFolder(), 's')
  for (let round = 0; round < scaled(2, 60); round += 1) {
    const attempts = await Promise.allSettled(
      Array.from({ length: 4 }, () => start(['sleep', '1000'], { socketDir: dir })),
    )
    const refused = attempts.flatMap((one) => (one.status === 'rejected' ? [(one.reason as HeimdallError).code] : []))
    const won = attempts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect([won.length, refused]).toEqual([1, ['SESSION_ID_IN_USE', 'SESSION_ID_IN_USE', 'SESSION_ID_IN_USE']])
    for (const { supervisor_pid: pid } of won) {
      process.kill(pid, 'SIGKILL')
      await waitForDeath(pid)
    }
  }
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
  await waitForNoFile(home.socket('x'))
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
