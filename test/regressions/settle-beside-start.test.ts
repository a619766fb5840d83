// Settling a lost session while its id is taken again must not remove the files of the new session.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HeimdallError } from '../../src/errors.ts'
import { withFileLock } from '../../src/storage/file-lock.ts'
import { findSession } from '../../src/sessions/session-files.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { settle } from '../../src/sessions/settle.ts'
import { sh, start } from '../supervisor/support/session.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { isRunning, waitForDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { until, waitForFile } from '../support/wait.ts'

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
