// A disk that is really full: what does not fit is reported, what was acknowledged stays, and all goes on once there is room.
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { fixture, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'

/** A memory disk of 1 MiB in a mount namespace of its own; needs no root where user namespaces are allowed. */
const onSmallDisk = (folder: string): [string, ...string[]] => [
  'unshare',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  'mount -t tmpfs -o size=1m,mode=700 none "$0" && exec "$@"',
  folder,
  ...fixture('storage-filler'),
  folder,
]

/** A limit on the size of each file; the signal that comes with it is ignored, as Node does not handle it. */
const withFileLimit = (folder: string): [string, ...string[]] => [
  'sh',
  '-c',
  'trap "" XFSZ; ulimit -f 200; exec "$@"',
  'sh',
  ...fixture('storage-filler'),
  folder,
]

const canMount = spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0

test.each<[string, (folder: string) => [string, ...string[]], boolean]>([
  ['a limit on file size', withFileLimit, false],
  // Where mounting is not allowed the limit stands in; the faults of faults.test.ts cover the way back there.
  ['a small disk', canMount ? onSmallDisk : withFileLimit, canMount],
])('%s', async (_, command, isDisk) => {
  const { stdout, stderr } = await runProgram(command(temporaryFolder()))
  expect(stderr).toBe('')
  const report = JSON.parse(stdout) as Record<string, unknown>
  expect(report).toMatchObject({
    append: 'STORE_FULL',
    acknowledgedLinesMissing: 0,
    foreignLines: 0,
    replace: 'STORE_FULL',
    contentAfterFailedReplace: 'old',
    filesAfterFailedReplace: ['state'],
    transaction: 'STORE_FULL',
    databaseProblems: [],
  })
  expect(report['acknowledgedLines']).toBeGreaterThan(1)
  expect(report['databaseRows']).toBe(report['acknowledgedRows'])
  if (isDisk) expect(report).toMatchObject({ appendAgain: 'ok', replaceAgain: 'ok', transactionAgain: 'ok' })
})
