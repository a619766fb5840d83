// The commands of sessions, run as a person or a script runs them, against real sessions.
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readHolder } from '../../src/supervisor/session-files.ts'
import { isRunning, startProgram, waitForDeath } from '../support/programs.ts'
import { until, waitForFile, waitForNoFile } from '../support/wait.ts'
import { hm } from './hm.ts'

const SHELL = ['bash', '--norc', '--noprofile', '-i']

test('run passes the exit code through: of the command, of a signal, of a command that cannot run', async () => {
  const home = hm()
  const code = async (...args: string[]): Promise<number | null> => (await home.run(['run', ...args])).code
  expect(await code('--', 'sh', '-c', 'exit 7')).toBe(7)
  expect(await code('--detach', '--wait', '--', 'sh', '-c', 'exit 9')).toBe(9)
  expect(await code('--detach', '--wait', '--', 'sh', '-c', 'kill -SEGV $$')).toBe(139)
  expect(await code('--', 'no-such-program')).toBe(127)
  expect(await code()).toBe(2)
  expect(await code('--id', '../x', '--', 'true')).toBe(2)
  expect(existsSync(join(home.dir, '..', 'x.sock'))).toBe(false)
})

test('run without a terminal passes output through, all of it', async () => {
  const { stdout, code } = await hm().run(['run', '--', 'sh', '-c', 'seq 1 30000; echo end'])
  expect(code).toBe(0)
  const lines = stdout.split('\r\n')
  expect(lines.slice(0, 3)).toEqual(['1', '2', '3'])
  expect(lines.slice(-3)).toEqual(['30000', 'end', ''])
  expect(lines).toHaveLength(30_002)
})

test('run without a terminal hands on standard input and its end', async () => {
  const { stdout, code } = await hm().run(['run', '--', 'sh', '-c', 'read line; echo got-$line; cat >/dev/null'], {
    stdin: 'hello\n',
  })
  expect(stdout).toContain('got-hello')
  expect(code).toBe(0)
})

test('an id that is taken is refused with who holds it; without --id the next free name is taken', async () => {
  const home = hm()
  await home.session('sleep', ['sleep', '1000'])
  const { code, stderr } = await home.run(['run', '--id', 'sleep', '--detach', '--', 'sleep', '1000'])
  expect(code).toBe(1)
  expect(stderr).toContain(String(readHolder(home.dir, 'sleep')?.supervisorPid))
  expect((await home.json(['run', '--detach', '--', 'sleep', '1000']))['id']).toBe('sleep-2')
})

test('configuration and environment reach the child; the flag wins over the file', async () => {
  const home = hm()
  writeFileSync(
    join(home.home, 'heimdall.toml'),
    'session_env_var = "MY_ID"\nclassifier = "none"\nsocket_dir = "~/elsewhere"\n[[env]]\nname = "COLOUR"\nvalue = "blue"\n',
  )
  const { stdout } = await home.run(['run', '--id', 'conf', '--', 'sh', '-c', 'echo $MY_ID $COLOUR; pwd'])
  expect(stdout).toBe(`conf blue\r\n${home.home}\r\n`)
  expect(existsSync(join(home.home, 'elsewhere/conf.exit.json'))).toBe(true)
  const flagged = await home.run([
    'run',
    '--session-env-var',
    'OTHER',
    '--workdir',
    '/',
    '--',
    'sh',
    '-c',
    'echo $OTHER; pwd',
  ])
  expect(flagged.stdout).toBe('sh\r\n/\r\n')
})

test('status: the five lines of the field first; unknown sessions are exit 1 under hm, 3 under heimdall', async () => {
  const home = hm()
  await home.session('s', ['sleep', '1000'])
  const { stdout, code } = await home.run(['status', 's'])
  expect(code).toBe(0)
  const lines = stdout.split('\n')
  expect(lines[0]).toBe('session: s')
  expect(lines[1]).toMatch(/^pid: \d+$/)
  expect(lines[2]).toMatch(/^idle_ms: \d+$/)
  expect(lines[3]).toBe('alive: true')
  expect(lines[4]).toMatch(/^state: (idle|active) \(\d+ms\)$/)
  const unknown = await home.run(['status', 'nope'])
  expect(unknown.code).toBe(1)
  expect(unknown.stderr).toContain('No session found: nope')
  expect((await hm('heimdall').run(['status', 'nope'])).code).toBe(3)
  expect((await home.run(['status', 's', '--config', '/no/such/file'])).code).not.toBe(0)
  expect((await home.run(['status'])).code).toBe(2)
})

test('status and wait answer after the end, from the record', async () => {
  const home = hm()
  await home.session('gone', ['sh', '-c', 'exit 11'])
  await waitForNoFile(home.socket('gone'))
  expect(await home.json(['status', 'gone'])).toMatchObject({ alive: false, state: 'dead', exit_code: 11 })
  expect(await home.json(['wait', 'gone'])).toMatchObject({ exit_code: 11 })
  const attach = await home.run(['attach', 'gone'])
  expect([attach.code, attach.stderr]).toEqual([1, expect.stringContaining('exit code 11') as string])
})

test('ls never removes anything', async () => {
  const home = hm()
  expect((await home.run(['ls'])).stdout).toBe('No active sessions\n')
  await home.session('one', ['sleep', '1000'])
  await home.session('dead', ['sleep', '1000'])
  const holder = readHolder(home.dir, 'dead')
  process.kill(holder?.supervisorPid ?? 0, 'SIGKILL')
  await waitForDeath(holder?.supervisorPid ?? 0)
  const { stdout } = await home.run(['ls'])
  expect(stdout).toMatch(/^Active sessions:\n {2}one +(active|idle) .*sleep 1000\n$/)
  expect(existsSync(join(home.dir, 'dead.pid'))).toBe(true)
  const all = await home.json(['ls', '--all'])
  expect((all['sessions'] as { id: string; state: string }[]).map(({ id, state }) => [id, state])).toContainEqual([
    'dead',
    'lost',
  ])
  // The next command that asks for it settles it: nothing of its tree is left, and its end is on record.
  expect(await home.json(['status', 'dead'])).toMatchObject({ alive: false, reason: 'lost' })
  expect(isRunning(holder?.childPid ?? 0)).toBe(false)
})

test('a stopped session does not hang ls or status', async () => {
  const home = hm()
  await home.session('stopped', ['sleep', '1000'])
  const pid = readHolder(home.dir, 'stopped')?.supervisorPid ?? 0
  process.kill(pid, 'SIGSTOP')
  try {
    expect((await home.run(['ls'])).stdout).toMatch(/stopped +silent/)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
})

test('kill --wait ends an interactive bash, which ignores SIGTERM (supervisor-origin §8.3)', async () => {
  const home = hm()
  await home.session('bash', SHELL)
  const pid = (await home.json(['status', 'bash']))['pid'] as number
  const { stdout, code } = await home.run(['kill', 'bash', '--wait'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Session bash ended with exit code \d+\n$/)
  expect(isRunning(pid)).toBe(false)
})

test('kill without --wait returns at once, and the session ends (supervisor-origin §8.3)', async () => {
  const home = hm()
  await home.session('bash', SHELL)
  const pid = (await home.json(['status', 'bash']))['pid'] as number
  expect((await home.run(['kill', 'bash'])).stdout).toBe('Kill signal sent to session bash\n')
  await waitForDeath(pid)
  await waitForNoFile(home.socket('bash'))
  expect((await home.run(['kill', 'bash'])).stdout).toBe('Session bash had ended already\n')
})

test('ids that lead out of the folder are refused by every command (supervisor-origin §8.10)', async () => {
  const home = hm()
  for (const args of [['status'], ['attach'], ['kill'], ['logs'], ['peek'], ['wait'], ['send'], ['record'], ['export']])
    expect((await home.run([...args, '../../etc/x'])).code, args[0]).toBe(2)
})

test('send pastes, presses Enter as a key of its own, and waits', async () => {
  const home = hm()
  await home.session('shell', SHELL, ['--idle-threshold-ms', '300'])
  await home.run(['wait', 'shell', '--for', 'idle'])
  const sent = await home.json(['send', 'shell', 'echo one;\necho sum-$((4+5))', '--enter', '--wait-for', 'idle'])
  expect(sent).toMatchObject({ bracketed: true, reacted: true, state: 'idle' })
  const { stdout } = await home.run(['logs', 'shell'])
  expect(stdout).toMatch(/^one$/m)
  expect(stdout).toMatch(/^sum-9$/m)
})

test('send: text from stdin, keys by name, and nothing at all', async () => {
  const home = hm()
  await home.session('cat', ['sh', '-c', 'stty -icanon -echo; echo ready; od -An -c -w1'], [])
  await until('od to read', async () => (await home.run(['logs', 'cat'])).stdout.includes('ready'))
  await home.run(['send', 'cat', '-', '--key', 'escape', '--key', 'ctrl-a'], { stdin: 'ab\n' })
  await home.run(['send', 'cat', 'z', '--enter'])
  const seen = await until('the keys', async () => {
    const { stdout } = await home.run(['logs', 'cat'])
    return stdout.includes('z') && stdout
  })
  expect(seen.split('\n').map((line) => line.trim())).toEqual(expect.arrayContaining(['a', 'b', '033', '001', 'z']))
  expect((await home.run(['send', 'cat'])).code).toBe(2)
  expect((await home.run(['send', 'cat', '--key', 'nokey'])).code).toBe(2)
})

test('send says how much was taken when the program does not read', async () => {
  const home = hm()
  await home.session('deaf', ['sh', '-c', 'stty -icanon -echo; sleep 1000'])
  const { code, stderr } = await home.run(['send', 'deaf', '-', '--timeout', '1s'], { stdin: 'x'.repeat(200_000) })
  expect(code).toBe(1)
  expect(stderr).toMatch(/took \d+ of 200000 bytes/)
})

test('logs are sanitised unless --raw; --tail, --json and -f until the end', async () => {
  const home = hm()
  const go = join(home.home, 'go')
  const script = `printf 'a\\033]52;c;c2VjcmV0\\007b\\n\\033[31mred\\033[0m\\nlast\\n'; until [ -e ${go} ]; do sleep 0.02; done; echo more`
  await home.session('l', ['sh', '-c', script])
  await until('output', async () => (await home.run(['logs', 'l'])).stdout.includes('last'))
  expect((await home.run(['logs', 'l'])).stdout).toBe('ab\nred\nlast\n')
  expect((await home.run(['logs', 'l', '--raw'])).stdout).toContain('\u001b[31mred\u001b[0m\r\n')
  expect((await home.run(['logs', 'l', '--tail', '2'])).stdout).toBe('red\nlast\n')
  const following = home.start(['logs', 'l', '-f', '--json'])
  await following.waitForLine(/"output"/)
  writeFileSync(go, '')
  const { stdout, code } = await following.ended
  expect(code).toBe(0)
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; text?: string })
  expect(events.map(({ text }) => text ?? '').join('')).toBe('ab\nred\nlast\nmore\n')
  expect(events.at(-1)).toEqual({ type: 'exit', code: 0 })
})

test('logs into a reader that stops early ends without an error', async () => {
  const home = hm()
  await home.session('many', ['sh', '-c', 'seq 1 9000; sleep 1000'])
  const [node, bin] = [process.execPath, join(import.meta.dirname, '../../bin/hm')]
  const { stdout, stderr, code } = await startProgram(['sh', '-c', `"${node}" "${bin}" logs many | head -n 1`], {
    env: home.env,
  }).ended
  expect([stdout.trim(), stderr, code]).toEqual(['1', '', 0])
})

test('the supervisor’s log is not empty, also after the end (supervisor-origin §8.11)', async () => {
  const home = hm()
  await home.session('logged', ['true'])
  await waitForFile(join(home.dir, 'logged.exit.json'))
  const { stdout } = await home.run(['logs', 'logged', '--supervisor'])
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT.* info .*started/m)
})

test('a silent command is idle once it has been silent for the threshold, not active (supervisor-origin §8.11)', async () => {
  const home = hm()
  await home.session('quiet', ['sleep', '1000'], ['--classifier', 'claude', '--idle-threshold-ms', '200'])
  const waited = await home.json(['wait', 'quiet', '--for', 'idle', '--timeout', '30s'])
  expect(waited).toMatchObject({ state: 'idle' })
})

test('wait: for the exit with its code, a timeout is 6, an end that rules the condition out is told', async () => {
  const home = hm()
  await home.session('w', ['sh', '-c', 'read x; exit 4'])
  expect((await home.run(['wait', 'w', '--timeout', '50ms'])).code).toBe(6)
  const waiting = home.start(['wait', 'w', '--for', 'exit'])
  const hopeless = home.start(['wait', 'w', '--for', 'needs-input'])
  await until('both to have connected', async () => ((await home.json(['status', 'w']))['clients'] as number) >= 3)
  await home.run(['send', 'w', '', '--enter'])
  const { code, stdout } = await waiting.ended
  expect([code, stdout]).toEqual([0, 'Session w ended with exit code 4\n'])
  expect((await hopeless.ended).code).toBe(1)
})

test('clean shows what it would remove, removes with --force, and leaves the living alone', async () => {
  const home = hm()
  await home.session('old', ['true'])
  await home.session('living', ['sleep', '1000'])
  await waitForNoFile(home.socket('old'))
  const old = join(home.dir, 'old.log')
  const past = new Date(Date.now() - 48 * 3_600_000)
  utimesSync(old, past, past)
  utimesSync(join(home.dir, 'living.log'), past, past)
  const dry = await home.run(['clean'])
  expect(dry.stdout).toContain('Would remove 1 file:')
  expect(existsSync(old)).toBe(true)
  expect((await home.run(['clean', '--older-than', '3d'])).stdout).toBe('Nothing to clean\n')
  expect((await home.run(['clean', '--older-than', '7'])).code).toBe(2)
  expect(await home.json(['clean', '--force'])).toMatchObject({ removed: true, files: [{ path: old }] })
  expect(existsSync(old)).toBe(false)
  expect(existsSync(join(home.dir, 'living.log'))).toBe(true)
})

test('record and export make asciicast v2 that plays what was seen', async () => {
  const home = hm()
  await home.session('r', SHELL)
  const recorder = home.start(['record', 'r', 'r.cast'])
  const file = join(home.home, 'r.cast')
  await waitForFile(file, (text) => text.includes('\n'))
  await until(
    'the recorder to be subscribed',
    async () => ((await home.json(['status', 'r']))['clients'] as number) >= 2,
  )
  await home.run(['send', 'r', 'echo rec-$((40+2))', '--enter'])
  await waitForFile(file, (text) => text.includes('rec-42'))
  recorder.kill('SIGINT')
  const { code, stdout } = await recorder.ended
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^Recorded [\d.]+ s of session r to .*r\.cast\n$/) as string,
  ])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const [header, ...events] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  expect(header).toMatchObject({ version: 2, width: 220, height: 50, command: SHELL.join(' ') })
  expect((events as [number, string, string][]).map(([, kind, text]) => (kind === 'o' ? text : '')).join('')).toContain(
    'rec-42',
  )

  const exported = await home.run(['export', 'r', '--from', 'r.cast', '--idle-limit', '1ms'])
  const times = exported.stdout
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => (JSON.parse(line) as [number])[0])
  expect(times.length).toBe(events.length)
  expect(Math.max(...times)).toBeLessThanOrEqual(0.001 * times.length + 1e-6)
  const kept = await home.json(['export', 'r', 'kept.cast'])
  expect(kept).toMatchObject({ source: 'scrollback', file: join(home.home, 'kept.cast'), events: 1 })
  expect((await home.run(['export', 'r', '--from', 'none.cast'])).code).toBe(1)
})

test('run --record records from the first byte', async () => {
  const home = hm()
  await home.run(['run', '--id', 'x', '--record', 'x.cast', '--', 'sh', '-c', 'echo first; echo last'])
  const text = await waitForFile(join(home.home, 'x.cast'), (t) => t.includes('last'))
  expect(text.split('\n')[1]).toContain('first')
})

test('every command answers --json with the envelope, also when it fails', async () => {
  const home = hm()
  for (const args of [
    ['status'],
    ['kill'],
    ['peek'],
    ['wait'],
    ['logs'],
    ['attach'],
    ['send'],
    ['record'],
    ['export'],
  ]) {
    const { stdout, code } = await home.run([...args, 'nope', '--json'])
    expect(code, args[0]).toBe(1)
    expect(JSON.parse(stdout), args[0]).toMatchObject({
      ok: false,
      command: `hm ${args[0] ?? ''}`,
      error: { code: 'SESSION_NOT_FOUND' },
    })
  }
})
