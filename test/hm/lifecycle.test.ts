// Sessions begin, are listed, end and are cleaned up after, by the commands that a person or a script runs.
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandLine } from '../../src/processes.ts'
import { readHolder } from '../../src/sessions/session-files.ts'
import { isRunning, waitForDeath } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { hm } from './hm.ts'

/** Commands that take the id of a session. */
const WITH_ID = ['status', 'attach', 'kill', 'logs', 'peek', 'wait', 'send', 'record', 'export']
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

test('a process that was launched for a start that cannot be ends by itself', async () => {
  const home = hm()
  const id = `w${process.hrtime.bigint()}`
  const words = ['--id', id, '--', 'sleep', '1000']
  expect(await home.run(['run', '--cols', '0', ...words])).toMatchObject({ code: 2 })
  expect(await home.run(['run', '--no-such-flag', ...words])).toMatchObject({ code: 2 })
  expect(await home.run(['run', '--detach', '--id', id, '--', 'no-such-program'])).toMatchObject({ code: 127 })
  await until('no process of these starts', () => launched(id).length === 0)
  expect(await home.json(['ls'])).toMatchObject({ sessions: [] })

  await home.session(id, ['sleep', '1000'])
  const refused = await home.run(['run', '--detach', ...words])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is already running')])
  await until('the process of the one session alone', () => launched(id).length === 1)
})

/** Processes of sessions that were launched under an id. */
function launched(id: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => commandLine(pid).includes(`session.cjs ${id}`))
}

test('run without a terminal passes output through, all of it', async () => {
  const { stdout, code } = await hm().run(['run', '--', 'sh', '-c', 'seq 1 30000; echo end'])
  expect(code).toBe(0)
  const lines = stdout.split('\r\n')
  expect(lines.slice(0, 3)).toEqual(['1', '2', '3'])
  expect(lines.slice(-3)).toEqual(['30000', 'end', ''])
  expect(lines).toHaveLength(30_002)
})

test('run without a terminal starts when its command has filled the terminal before the echo is off', async () => {
  const home = hm()
  const [bin, full] = [join(home.home, 'bin'), join(home.home, 'full')]
  mkdirSync(bin)
  const stty = `#!/bin/sh\nuntil [ -e ${full} ]; do :; done\nPATH=\${PATH#*:}; exec stty "$@"\n`
  writeFileSync(join(bin, 'stty'), stty, { mode: 0o755 })
  // A writer that sleeps waits for the terminal to be read.
  const script = `seq 1 30000 >lines; cat lines & until grep -q '(cat) [SZ]' /proc/$!/stat; do :; done; touch ${full}; wait`
  const env = { PATH: `${bin}:${process.env['PATH']}` }
  const { stdout, code } = await home.run(['run', '--', 'sh', '-c', script], { env })
  expect([code, stdout.split('\r\n').length]).toEqual([0, 30_001])
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
  mkdirSync(join(home.home, '.config/heimdall'), { recursive: true })
  writeFileSync(
    join(home.home, '.config/heimdall/heimdall.toml'),
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

test('--socket-dir names another folder, for every command', async () => {
  const home = hm()
  const dir = join(home.home, 'd')
  await home.session('there', ['sleep', '1000'], ['--socket-dir', dir])
  expect(existsSync(join(dir, 'there.sock'))).toBe(true)
  expect((await home.run(['status', 'there'])).code).toBe(1)
  expect((await home.run(['status', 'there', '--socket-dir', 'd'])).code).toBe(0)
  expect((await home.run(['ls', '--socket-dir', dir])).stdout).toContain('  there ')
  expect((await home.run(['kill', 'there', '--wait', '--socket-dir', dir])).code).toBe(0)
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
  expect((await hm('heimdall').run(['logs', 'nope'])).code).toBe(3)
  expect((await home.run(['status', 's', '--config', '/no/such/file'])).code).not.toBe(0)
  expect((await home.run(['status'])).code).toBe(2)
})

test('status and wait answer after the end, from the record', async () => {
  const home = hm()
  await home.session('gone', ['sh', '-c', 'exit 11'])
  await home.ended('gone')
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
  expect(stdout).toMatch(
    /^Active sessions:\n {2}one +(active|idle) .*sleep 1000\nEnded sessions:\n {2}dead +lost .*sleep 1000\n$/,
  )
  expect(existsSync(join(home.dir, 'dead.pid'))).toBe(true)
  const all = await home.json(['ls', '--all'])
  expect((all['sessions'] as { id: string; state: string }[]).map(({ id, state }) => [id, state])).toContainEqual([
    'dead',
    'lost',
  ])
  expect(await home.json(['status', 'dead'])).toMatchObject({ alive: false, state: 'lost', reason: 'lost' })
  expect(existsSync(join(home.dir, 'dead.pid'))).toBe(true)
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
  await home.ended('bash')
  expect((await home.run(['kill', 'bash'])).stdout).toBe('Session bash had ended already\n')
})

test('ids that lead out of the folder are refused by every command (supervisor-origin §8.10)', async () => {
  const home = hm()
  const codes = await Promise.all(WITH_ID.map(async (name) => [name, (await home.run([name, '../../etc/x'])).code]))
  expect(codes).toEqual(WITH_ID.map((name) => [name, 2]))
})

test('clean shows what it would remove, removes with --force, and leaves the living alone', async () => {
  const home = hm()
  await home.session('old', ['true'])
  await home.session('living', ['sleep', '1000'])
  await home.ended('old')
  const old = join(home.dir, 'old.log')
  const past = new Date(Date.now() - 48 * 3_600_000)
  utimesSync(old, past, past)
  utimesSync(join(home.dir, 'living.log'), past, past)
  const dry = await home.run(['clean'])
  expect(dry.stdout).toContain(`would remove ${old} (`)
  expect(existsSync(old)).toBe(true)
  expect((await home.run(['clean', '--older-than', '3d'])).stdout).toMatch(/^Nothing to clean: /)
  expect((await home.run(['clean', '--older-than', '7'])).code).toBe(2)
  expect(await home.json(['clean', '--force'])).toMatchObject({ removed: true, files: [{ path: old }] })
  expect(existsSync(old)).toBe(false)
  expect(existsSync(join(home.dir, 'living.log'))).toBe(true)
})

test('every command answers --json with the envelope, also when it fails', async () => {
  const home = hm()
  const answers = await Promise.all(WITH_ID.map((name) => home.run([name, 'nope', '--json'])))
  expect(answers.map(({ code, stdout }) => [code, JSON.parse(stdout) as unknown])).toEqual(
    WITH_ID.map((name) => [
      1,
      expect.objectContaining({
        ok: false,
        command: `hm ${name}`,
        error: expect.objectContaining({ code: 'SESSION_NOT_FOUND' }) as unknown,
      }),
    ]),
  )
})

test('status loads neither the database nor the terminal library', async () => {
  const home = hm()
  await home.session('light', ['sleep', '1000'])
  const maps = join(home.home, 'maps')
  const hook = `import fs from 'node:fs'; process.on('exit', () => fs.writeFileSync(${JSON.stringify(maps)}, fs.readFileSync('/proc/self/maps')))`
  const { code } = await home.start(['status', 'light'], {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` },
  }).ended
  expect(code).toBe(0)
  const loaded = readFileSync(maps, 'utf8')
  expect(loaded).toContain('node')
  expect(loaded).not.toMatch(/\.node$/m)
})
