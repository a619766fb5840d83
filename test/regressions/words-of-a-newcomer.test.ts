// What somebody types who comes from tmux or from containers, and has read `hm --help` at most.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { launcher, runProgram } from '../support/programs.ts'
import { waitForNoFile } from '../support/wait.ts'

test('a command without -- is answered with where it belongs, not with its first flag', async () => {
  const home = hm()
  expect(await home.run(['run', 'ls', '-la', '/tmp'])).toMatchObject({
    code: 2,
    stderr: 'error: unexpected argument "ls"\nhint: put the command after --: hm run -- ls -la /tmp\n',
  })
  expect((await home.run(['run', 'bash', '-c', "echo 'hi  there'"])).stderr).toContain(
    `put the command after --: hm run -- bash -c 'echo '\\''hi  there'\\'''\n`,
  )
  expect((await home.run(['run', 'foo', '--', 'true', 'a b'])).stderr).toBe(
    `error: unexpected argument "foo"\nhint: a name is given with --id: hm run --id foo -- true 'a b'\n`,
  )
  // A flag that stands before everything else is ours, and wrong.
  expect((await home.run(['run', '--detatch', 'ls'])).stderr).toContain('unknown flag "--detatch"')
})

test('hm help is hm --help, and hm help COMMAND is hm COMMAND --help', async () => {
  const home = hm()
  for (const command of [[], ['run'], ['attach']])
    expect(await home.run(['help', ...command])).toEqual(await home.run([...command, '--help']))
  expect((await home.run(['help', 'nonsense'])).stderr).toContain('unknown command: hm help nonsense')
  expect((await home.run(['help', 'exit-codes'])).stderr).toBe(
    'error: unknown command: hm help exit-codes\nhint: heimdall help exit-codes shows it\n',
  )
})

test.each([
  ['a', 'attach'],
  ['att', 'attach'],
  ['new-session', 'run'],
  ['kill-session', 'kill'],
  ['list-sessions', 'ls'],
  ['capture-pane', 'peek'],
  ['send-keys', 'send'],
])('hm %s offers hm %s', async (word, command) => {
  const { code, stderr } = await hm().run([word])
  expect([code, stderr]).toEqual([2, `error: unknown command: hm ${word}\nhint: did you mean hm ${command}?\n`])
})

test('run -d starts and returns; clean says why what has just ended is still there, and what removes it', async () => {
  const home = hm()
  expect((await home.run(['run', '-d', '--id', 'short', '--', 'true'])).code).toBe(0)
  await waitForNoFile(home.socket('short'))
  expect((await home.run(['clean', '--force'])).stdout).toMatch(
    /^Nothing to clean: \d files of ended sessions are younger than 1d00h; --older-than 0s takes them too\n$/,
  )
  expect((await home.run(['clean', '--force', '--older-than', '0s'])).stdout).toMatch(/^Cleaned 1 log file/)
  expect((await home.run(['ls', '--all'])).stdout).toBe('No active sessions\n')
})

test('an argument that is not UTF-8 is refused, not changed on the way; one that only looks so is passed on', async () => {
  const { env, home } = hm()
  const typed = (bytes: string): ReturnType<typeof runProgram> =>
    runProgram(['sh', '-c', `exec "$@" run -- printf %s "$(printf '${bytes}')"`, 'sh', ...launcher('hm')], {
      env,
      cwd: home,
    })
  const refused = await typed('caf\\351')
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is not UTF-8')])
  expect(await typed('caf\\303\\251 \\357\\277\\275')).toMatchObject({ code: 0, stdout: 'café \u{fffd}' })
})

test('a session of one letter is not offered for another', async () => {
  const home = hm()
  await home.session('a', ['sleep', '1000'])
  expect((await home.run(['status', 'b'])).stderr).toBe('error: No session found: b\nhint: hm ls lists the sessions\n')
})
