// A disk that is really full: what does not fit is reported, what was acknowledged stays, and all goes on once there is room.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runOnDisk } from '../support/full-disk.ts'
import { fixture, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { needs } from '../support/needs.ts'

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

test.each<[string, (folder: string) => [string, ...string[]], boolean]>([
  ['a limit on file size', withFileLimit, false],
  ['a small disk', onSmallDisk, true],
])('%s', async (_, command, isDisk) => {
  if (isDisk) needs('right to mount')
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

// On a full disk the hub ends, doctor reports it, and errors name the file.
describe('errors on a full disk', () => {
  test('a hub that cannot say where it listens ends', async () => {
    const { home, env } = temporaryProject()
    expect(await runOnDisk('full', home, ['up', '--port', '0'], { env })).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(/^error: no space left to write .*hub\.json\n/),
    })
  })

  interface Row {
    readonly check: string
    readonly state: string
    readonly found: string
  }

  test('doctor sees that a disk is full, whichever it is', async () => {
    const project = temporaryProject()
    const { root, home, env } = project
    await project.run('heimdall', ['agent', 'add', 'amber-otter', '--role', 'x'])
    const failed = async (folder: string): Promise<Record<string, string>> => {
      const { code, stdout } = await runOnDisk('full', folder, ['doctor', '--json'], { cwd: root, env })
      expect(code).toBe(1)
      const { checks } = (JSON.parse(stdout) as { data: { checks: Row[] } }).data
      return Object.fromEntries(checks.flatMap(({ check, state, found }) => (state === 'fail' ? [[check, found]] : [])))
    }
    expect(await failed(root)).toEqual({ coordination: expect.stringContaining('full: no space left to write') })
    expect(await failed(home)).toMatchObject({ 'state folder': expect.stringContaining('no space left to write') })
  })

  test('a demo with no room names what it could not write', async () => {
    const { home, env } = temporaryProject()
    expect(await runOnDisk('full', home, ['demo', '--fast', '--no-hub'], { env })).toMatchObject({
      code: 8,
      stderr: expect.stringMatching(/^error: no space left to write \S*\/home\/\S+\/tally\/PLAN\.md\n/),
    })
  })

  test.each([
    ['full', 8, /^error: no space left to write first\.yaml\nhint: free some space/],
    ['read-only', 8, /^error: cannot use first\.yaml: EROFS.*\nhint: its file system is mounted read-only/],
  ] as const)('policy init on a disk that is %s says what to do', async (kind, code, words) => {
    const { root, env } = temporaryProject()
    const args = ['policy', 'init', '--from', 'careful', '--out', 'first.yaml']
    expect(await runOnDisk(kind, root, args, { env })).toMatchObject({ code, stderr: expect.stringMatching(words) })
  })

  test('a read-only disk is not taken for a matter of permissions', async () => {
    const { root, home, env } = temporaryProject()
    for (const [folder, args] of [
      [root, ['claim', 'src']],
      [home, ['run', '--', 'true']],
    ] as const) {
      const { code, stderr } = await runOnDisk('read-only', folder, args, { cwd: root, env })
      expect([code, stderr]).toEqual([8, expect.stringContaining('hint: its file system is mounted read-only')])
    }
  })
})

// A full disk at standard output is one error line.
test('output that nobody can keep is one line on stderr, and no success', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  const full = openSync('/dev/full', 'w')
  try {
    for (const words of [
      ['--version'],
      ['--help'],
      ['claim', 'check', 'src'],
      ['agent', 'list'],
      ['agent', 'list', '--json'],
      ['watch', '--json'],
    ]) {
      const [node, ...args] = [...launcher('heimdall'), ...words] as [string, ...string[]]
      const { status, stderr } = spawnSync(node, args, {
        cwd: project.root,
        env: { PATH: process.env['PATH'], ...project.env },
        encoding: 'utf8',
        stdio: ['ignore', full, 'pipe'],
      })
      const line = /^error: standard output cannot be written to: ENOSPC[^\n]*\n$/
      expect([words, status, stderr]).toEqual([words, 8, expect.stringMatching(line)])
    }
  } finally {
    closeSync(full)
  }
})
