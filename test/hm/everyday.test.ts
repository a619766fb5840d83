// What people type into hm in their first week, coming from tmux or containers.
import { chmodSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launcher, runProgram } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { needs } from '../support/needs.ts'
import { hm } from './hm.ts'

// First tries: a missing --, help as a command, similar names.
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
  await home.ended('short')
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

// Start errors, output into a closed pipe, and keys sent alone.
test('a file that is not executable, and a folder, are called what they are', async () => {
  const home = hm()
  const refusal = async (...command: string[]): Promise<[number | null, string]> => {
    const { code, stderr } = await home.run(['run', '--detach', '--', ...command])
    return [code, stderr]
  }
  writeFileSync(join(home.home, 'my-script'), 'echo hello\n', { mode: 0o644 })
  mkdirSync(join(home.home, 'folder'))
  expect(await refusal('./my-script')).toEqual([
    127,
    expect.stringMatching(/cannot run "\.\/my-script": it is not executable\nhint: chmod/),
  ])
  expect(await refusal('./folder')).toEqual([127, expect.stringMatching(/cannot run "\.\/folder": it is a folder/)])
  expect(await refusal('./nothing')).toEqual([127, expect.stringMatching(/cannot run "\.\/nothing": no such program/)])
  // Found by name: what PATH has, or nothing.
  const { code, stderr } = await home.run(['run', '--detach', '--', 'my-script'], {
    env: { PATH: `${home.home}:/bin:/usr/bin` },
  })
  expect([code, stderr]).toEqual([127, expect.stringContaining('it is not executable') as string])
  chmodSync(join(home.home, 'my-script'), 0o755)
  expect((await home.run(['run', '--detach', '--', './my-script'])).code).toBe(0)
})

test('run into a reader that goes away ends with the code of the command', async () => {
  const home = hm()
  const [node, bin] = launcher('hm')
  // The reader is gone before the second line is written: the command waits until it sees that.
  const gone = join(home.home, 'gone')
  const command = `echo one; while [ ! -e ${gone} ]; do sleep 0.05; done; echo two; echo three; exit 7`
  const line = `{ "$1" "$2" run --id x -- sh -c "$3"; echo code $? >&2; } | { head -1; touch ${gone}; }`
  const { stdout, stderr } = await runProgram(['sh', '-c', line, 'sh', node, bin, command], {
    env: home.env,
    cwd: home.home,
  })
  expect([stdout, stderr]).toEqual(['one\r\n', expect.stringContaining('code 7') as string])
})

test('run whose reader has gone says that the session goes on, and how to end it', async () => {
  const home = hm()
  const [node, bin] = launcher('hm')
  const said = join(home.home, 'said')
  const line = `{ "$1" "$2" run --id x -- sh -c "$3" 2> ${said}; echo code $? >&2; } | head -1`
  const ended = runProgram(['sh', '-c', line, 'sh', node, bin, 'while echo one; do sleep 0.05; done'], {
    env: home.env,
    cwd: home.home,
  })
  await until('the word', () => existsSync(said) && readFileSync(said, 'utf8').includes('\n'))
  expect(readFileSync(said, 'utf8')).toMatch(
    /^\[the reader of the output has gone; session x goes on .*: hm kill x ends it\]\n$/,
  )
  expect((await home.run(['kill', 'x'])).code).toBe(0)
  expect((await ended).stderr).toMatch(/code 1\d\d/)
  expect(readFileSync(said, 'utf8').match(/\n/g)).toHaveLength(1)
})

test('a key alone is a key alone: no empty paste before it', async () => {
  const home = hm()
  const program =
    'stty raw -echo; printf "\\033[?2004h"; echo ready; dd bs=1 count=2 2>/dev/null | od -An -tx1; sleep 1000'
  await home.session('x', ['sh', '-c', program])
  await until('the mode', async () => {
    const { modes } = await home.json(['status', 'x'])
    return (modes as Record<string, boolean>)['bracketed_paste'] === true
  })
  await home.run(['send', 'x', '--key', 'tab'])
  await home.run(['send', 'x', '--key', 'tab'])
  await until('two bytes', async () => (await home.run(['logs', 'x'])).stdout.includes(' 09 09'))
  expect(await home.json(['send', 'x', '--key', 'tab'])).toMatchObject({ written_bytes: 1, bracketed: false })
})

// Strings that scripts of this field look for (supervisor origin §2).
test('ls --all heads ended sessions as what they are', async () => {
  const home = hm()
  await home.session('dead', ['sh', '-c', 'exit 4'])
  await home.ended('dead')
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
  await home.ended('old')
  const past = new Date(Date.now() - 48 * 3_600_000)
  for (const ending of ['log', 'exit.json', 'kept']) utimesSync(join(home.dir, `old.${ending}`), past, past)
  expect((await home.run(['clean'])).stdout).toContain(`would remove ${join(home.dir, 'old.log')}`)
  expect((await home.run(['clean', '--force'])).stdout).toMatch(/^Cleaned 1 log file\(s\), 2 other file\(s\):/)
})

test.each([
  ['hm', [['ls'], ['status', 'x'], ['clean'], ['attach'], ['run', '--', 'true']]],
  ['heimdall', [['ls'], ['logs', 'x'], ['clean'], ['attach'], ['run', '--', 'true']]],
])('a folder of sessions that %s cannot read is one clear line and exit 8', async (bin, commands) => {
  const home = hm(bin)
  const file = join(home.home, 'file')
  writeFileSync(file, '')
  for (const command of commands) {
    const [verb = '', ...rest] = command
    const { code, stderr } = await home.run([verb, '--socket-dir', file, ...rest])
    // Not 3, which says that what was named does not exist.
    expect([command, code, stderr.split('\n').length]).toEqual([command, 8, 3])
    expect(stderr).toMatch(/^error: cannot use .*file.*: ENOTDIR[^\n]*\nhint: a folder belongs where there is a file/)
  }
})

test('nor is the folder of another user', async () => {
  needs('root')
  const home = hm()
  await home.session('x', ['sleep', '1000'])
  const [node, bin] = launcher('hm')
  const script = `require('node:child_process').spawnSync(process.argv[1], process.argv.slice(2), { uid: 65534, gid: 65534, stdio: 'inherit', env: { HOME: '/', PATH: process.env.PATH } })`
  for (const command of [['ls'], ['status', 'x'], ['clean']]) {
    const { stderr } = await runProgram([node, '-e', script, node, bin, ...command, '--socket-dir', home.dir])
    expect(stderr).toMatch(/^error: cannot use .*EACCES[^\n]*\nhint: check its owner and permissions\n$/)
  }
})

// `send --wait-for idle` waits for the end of the turn, not for a new title within it.
test('a turn that begins with a title is waited for to its end', async () => {
  const home = hm()
  const over = join(home.home, 'over')
  const turn = `i=0; printf '\\033]0;working\\007'; until [ -e ${over} ]; do i=$((i+1)); printf '\\rframe %d ' $i; sleep 0.1; done; printf '\\r\\nturn over\\r\\n'`
  await home.session(
    'turn',
    ['sh', '-c', `read x; ${turn}; read y`],
    ['--classifier', 'claude', '--idle-threshold-ms', '1000'],
  )
  await home.run(['wait', 'turn', '--for', 'idle'])
  let hasReturned = false
  const sending = home.start(['send', 'turn', 'go', '--enter', '--wait-for', 'idle', '--json'])
  void sending.ended.then(() => {
    hasReturned = true
  })
  await until('the turn to be under way', async () => (await home.run(['logs', 'turn'])).stdout.includes('frame 20'))
  expect(hasReturned).toBe(false)
  writeFileSync(over, '')
  const { code, stdout } = await sending.ended
  expect({ code, data: JSON.parse(stdout).data }).toMatchObject({ code: 0, data: { state: 'idle' } })
  expect((await home.run(['logs', 'turn'])).stdout).toContain('turn over')
})

test('piped input of hm run is printed once', async () => {
  const { stdout } = await hm().run(['run', '--', 'cat'], { stdin: 'one\ntwo\n' })
  expect(stdout.replaceAll('\r', '')).toBe('one\ntwo\n')
})
