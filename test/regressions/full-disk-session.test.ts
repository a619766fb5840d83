// A disk that takes no more ends a recording or a log, never the session that writes it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { prepareSession } from '../../src/sessions/prepare.ts'
import { encodeHandover } from '../../src/wire/handover.ts'
import { resolveOptions } from '../../src/wire/session-options.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { LineCheck, linesOf, writer } from '../supervisor/support/lines.ts'
import { Client, LAUNCHER, sh, start } from '../supervisor/support/session.ts'
import { startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { waitForSocket } from '../support/wait.ts'

const FILE_BLOCKS = 200
const OUTPUT_BYTES = 1 << 20

test('a recording that hits the limit of its file is cut at a whole line, and the session goes on to its end', async () => {
  const folder = temporaryFolder()
  const socketDir = join(folder, 's')
  const recordPath = join(folder, 'cast')
  const [program = '', ...args] = writer(OUTPUT_BYTES, 3)
  const command = ['sh', '-c', 'stty -echo; echo up; read go; exec "$@"', 'sh', program, ...args]
  // The signal that comes with the limit is ignored, as Node does not handle it.
  const limited = `trap "" XFSZ; ulimit -f ${FILE_BLOCKS}; exec "$@"`
  const supervisor = startProgram(['sh', '-c', limited, 'sh', process.execPath, LAUNCHER, 't'])
  const options = resolveOptions({ id: 't', socketDir, cwd: '/', command, recordPath })
  const holder = await prepareSession(options, { pid: supervisor.pid, env: process.env, clock: systemClock })
  supervisor.child.stdin?.end(encodeHandover({ options, holder }))
  const paths = sessionPaths(socketDir, 't')
  await waitForSocket(paths.socket)
  const client = await Client.connect(paths.socket)
  const check = new LineCheck()
  client.onOutput = (bytes) => check.push(bytes)
  client.subscribe()
  await client.waitForOutput('up')
  client.type('\n')
  expect(await client.exit()).toBe(3)
  expect([check.isComplete, check.lines]).toEqual([true, linesOf(OUTPUT_BYTES)])
  expect((await supervisor.ended).code).toBe(3)

  const lines = readFileSync(recordPath, 'utf8').split('\n')
  expect(lines.pop()).toBe('')
  expect(lines.length).toBeGreaterThan(1)
  expect(() => lines.map((line): unknown => JSON.parse(line))).not.toThrow()
  expect(readFileSync(paths.log, 'utf8').match(/ error recording stopped: /g)).toHaveLength(1)
})

test('a session whose log has no room starts, runs and ends as any other', async () => {
  const session = await start(sh('read line; exit 4'), { logFile: '/dev/full' })
  const client = await session.connect()
  client.subscribe()
  client.type('\n')
  expect(await client.exit()).toBe(4)
})
