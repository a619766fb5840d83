// Words that scripts of the field look for, and lists that say what they list; supervisor-origin §2.
import { writeFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { waitForNoFile } from '../support/wait.ts'
import { launcher, runProgram } from '../support/programs.ts'

test('ls --all heads ended sessions as what they are', async () => {
  const home = hm()
  await home.session('dead', ['sh', '-c', 'exit 4'])
  await waitForNoFile(home.socket('dead'))
  expect((await home.run(['ls', '--all'])).stdout).toMatch(
    /^No active sessions\nEnded sessions:\n {2}dead +dead .*exit 4/,
  )
  await home.session('living', ['sleep', '1000'])
  expect((await home.run(['ls', '--all'])).stdout).toMatch(
    /^Active sessions:\n {2}living .*sleep 1000\nEnded sessions:\n {2}dead +dead .*exit 4/,
  )
})

test('already running; would remove; Cleaned N log file(s)', async () => {
  const home = hm()
  await home.session('living', ['sleep', '1000'])
  expect((await home.run(['run', '--id', 'living', '--detach', '--', 'true'])).stderr).toContain('already running')
  await home.session('old', ['true'])
  await waitForNoFile(home.socket('old'))
  const past = new Date(Date.now() - 48 * 3_600_000)
  for (const ending of ['log', 'exit.json', 'kept']) utimesSync(join(home.dir, `old.${ending}`), past, past)
  expect((await home.run(['clean'])).stdout).toContain(`would remove ${join(home.dir, 'old.log')}`)
  expect((await home.run(['clean', '--force'])).stdout).toMatch(/^Cleaned 1 log file\(s\), 2 other file\(s\):/)
})

test.each(['hm', 'heimdall'])('a folder of sessions that %s cannot read is one clear line and exit 8', async (bin) => {
  const home = hm(bin)
  const file = join(home.home, 'file')
  writeFileSync(file, '')
  for (const command of [['ls'], ['status', 'x'], ['clean'], ['attach'], ['run', '--', 'true']]) {
    const [verb = '', ...rest] = command
    const { code, stderr } = await home.run([verb, '--socket-dir', file, ...rest])
    // Not 3, which says that what was named does not exist.
    expect([command, code, stderr.split('\n').length]).toEqual([command, 8, 3])
    expect(stderr).toMatch(/^error: cannot use .*file.*: ENOTDIR[^\n]*\nhint: a folder belongs where there is a file/)
  }
})

test.runIf(process.getuid?.() === 0)('nor is the folder of another user', async () => {
  const home = hm()
  await home.session('x', ['sleep', '1000'])
  const [node, bin] = launcher('hm')
  const script = `require('node:child_process').spawnSync(process.argv[1], process.argv.slice(2), { uid: 65534, gid: 65534, stdio: 'inherit', env: { HOME: '/', PATH: process.env.PATH } })`
  for (const command of [['ls'], ['status', 'x'], ['clean']]) {
    const { stderr } = await runProgram([node, '-e', script, node, bin, ...command, '--socket-dir', home.dir])
    expect(stderr).toMatch(/^error: cannot use .*EACCES[^\n]*\nhint: check its owner and permissions\n$/)
  }
})
