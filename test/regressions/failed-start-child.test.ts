// A start that fails after its child is there must end the child, also one that ignores the hang-up.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { prepareSession } from '../../src/sessions/prepare.ts'
import { resolveOptions } from '../../src/wire/session-options.ts'
import { runSession } from '../../src/supervisor/run.ts'
import { listSessions } from '../../src/sessions/session-files.ts'
import { isRunning } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'

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
