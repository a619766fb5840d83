// What a script says to a session and hears from it: send, logs, wait, peek, record and export.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startProgram } from '../support/programs.ts'
import { until, waitForFile } from '../support/wait.ts'
import { hm } from './hm.ts'

const SHELL = ['bash', '--norc', '--noprofile', '-i']

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

test('send presses Enter in the form that the program’s keyboard protocol expects', async () => {
  const home = hm()
  await home.session('kitty', ['sh', '-c', "stty -icanon -echo; printf '\\033[>9uready\\n'; od -An -c -w1"])
  await until('the mode', async () => (await home.run(['peek', 'kitty'])).stdout.includes('ready'))
  await home.run(['send', 'kitty', '', '--enter'])
  await home.run(['send', 'kitty', 'z'])
  const seen = await until('the keys', async () => {
    const { stdout } = await home.run(['logs', 'kitty'])
    return stdout.includes('z') && stdout
  })
  expect(
    seen
      .split('\n')
      .map((line) => line.trim())
      .join(''),
  ).toContain('033[13u')
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

test('peek prints the screen as it is: text, colours, cursor, alternate screen', async () => {
  const home = hm()
  const draw = "printf 'old\\033[2J\\033[H\\033[1;31mred\\033[0m plain\\033[3;5Hthird'; sleep 1000"
  await home.session('p', ['sh', '-c', draw], ['--cols', '40', '--rows', '5'])
  const seen = await until('the drawing', async () => {
    const data = await home.json(['peek', 'p'])
    return (data['lines'] as string[])[2] === '    third' && data
  })
  expect(seen).toMatchObject({ cols: 40, rows: 5, cursor: { x: 9, y: 2 }, alternate: false })
  expect((await home.run(['peek', 'p'])).stdout).toBe('red plain\n\n    third\n')
  for (const flag of ['--color', '--ansi'])
    expect((await home.run(['peek', 'p', flag])).stdout).toBe('\u001b[0;1;31mred\u001b[0m plain\n\n    third\n')
  await home.session('alt', ['sh', '-c', "echo main; printf '\\033[?1049h\\033[Hother'; sleep 1000"])
  await until('the alternate screen', async () => (await home.json(['peek', 'alt']))['alternate'] === true)
  expect((await home.run(['peek', 'alt'])).stdout).toBe('other\n')
})

test('needs input shows in status, ls and wait, with its evidence made safe', async () => {
  const home = hm()
  await home.session('ask', [
    'sh',
    '-c',
    "printf '\\033]9;Allow \\033\\\\'; printf '\\033]777;notify;Agent;May I\\xe2\\x80\\xae?\\007'; sleep 1000",
  ])
  const waited = await home.json(['wait', 'ask', '--for', 'needs-input', '--timeout', '30s'])
  expect(waited['needs_input']).toMatchObject({ value: true, source: 'osc' })
  const { stdout } = await home.run(['status', 'ask'])
  expect(stdout).toMatch(/^needs_input: yes \(osc: .*\)$/m)
  expect(stdout).not.toMatch(/[\u001b\u202e]/)
  expect((await home.run(['ls'])).stdout).toMatch(/ask +\w+ +needs input /)
})

test('a hook inside the session reports, and is believed', async () => {
  const home = hm()
  const hmPath = join(import.meta.dirname, '../../bin/hm')
  const script = `"${process.execPath}" "${hmPath}" report --needs-input "permission to push"; read x; "${process.execPath}" "${hmPath}" report --working; sleep 1000`
  await home.session('agent', ['sh', '-c', script])
  const waited = await home.json(['wait', 'agent', '--for', 'needs-input', '--timeout', '30s'])
  expect(waited['needs_input']).toEqual({ value: true, source: 'hook', evidence: 'permission to push' })
  await home.run(['send', 'agent', '', '--enter'])
  await until('the agent to work', async () => {
    const { value } = (await home.json(['status', 'agent']))['needs_input'] as { value: boolean }
    return !value
  })
  expect((await home.run(['report', '--working'])).code).toBe(0)
  expect((await home.run(['report'])).code).toBe(2)
  expect((await home.run(['report', 'nope', '--working'])).code).toBe(1)
})
