// hm attach in a real terminal: what a person sees, types and is left with.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXIT_LINGER_MS } from '../../src/limits.ts'
import { readHolder } from '../../src/sessions/session-files.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { sh, start } from '../supervisor/support/session.ts'
import { until, waitForFile } from '../support/wait.ts'
import { hm } from './hm.ts'
import { atTerminal } from './person.ts'

const SHELL = ['bash', '--norc', '--noprofile', '-i']
/** What a terminal must be told so that a shell can be used in it again. */
const RESTORED = ['\u001b[?1049l', '\u001b[?25h', '2004l', '1006', '\u001b[0 q']

test('the screen above a status line; Ctrl-\\ detaches, the session goes on, and attach shows it as it was', async () => {
  const home = hm()
  await home.session('shell', SHELL)
  const person = atTerminal(home, ['attach', 'shell'])
  await person.see(/\$ *$/m)
  person.type('echo hello-$((20+3))\r')
  await person.see(/^hello-23$/m)
  expect(person.isAlternate()).toBe(true)
  expect(person.rows().at(-1)).toMatch(/^ \[hm\] shell {2}(active|idle) .*Ctrl-\\ detaches $/)
  person.type('\u001c')
  expect(await person.ended).toBe(0)
  expect(person.isAlternate()).toBe(false)
  await person.see('[detached; hm attach shell returns]')

  const again = atTerminal(home, ['attach', 'shell'], { cols: 100, rows: 30 })
  await again.see(/^hello-23$/m)
  again.type('exit 5\r')
  expect(await again.ended).toBe(5)
  expect(again.isAlternate()).toBe(false)
})

test('the session takes the size of the terminal, less the status line, and follows it', async () => {
  const home = hm()
  await home.session('size', SHELL)
  const person = atTerminal(home, ['attach', 'size'], { cols: 90, rows: 30 })
  await person.see(/\$ *$/m)
  person.type('stty size\r')
  await person.see(/^29 90$/m)
  person.resize(70, 20)
  await person.see(/\[hm\] size/)
  person.type('stty size\r')
  await person.see(/^19 70$/m)
  expect(person.rows()).toHaveLength(20)
  expect(person.rows().at(-1)).toMatch(/^ \[hm\] size /)
})

test.each(['SIGTERM', 'SIGHUP'] as const)('%s ends the viewing with 0 and a terminal as before', async (signal) => {
  const home = hm()
  await home.session('s', ['sh', '-c', "printf '\\033[?1000;1006;2004h\\033[?25lbusy'; sleep 1000"])
  const person = atTerminal(home, ['attach', 's'])
  await person.see('busy')
  expect(person.written()).toContain('\u001b[?1006h')
  process.kill(person.pid, signal)
  expect(await person.ended).toBe(0)
  expect(person.isAlternate()).toBe(false)
  for (const sequence of RESTORED) expect(person.written()).toContain(sequence)
  expect((await home.json(['status', 's']))['alive']).toBe(true)
})

test('a session that dies under the viewer leaves the terminal as before, and says what happened', async () => {
  const home = hm()
  await home.session('lost', ['sh', '-c', 'echo here; sleep 1000'])
  const person = atTerminal(home, ['attach', 'lost'])
  await person.see('here')
  process.kill(readHolder(home.dir, 'lost')?.supervisorPid ?? 0, 'SIGKILL')
  expect(await person.ended).toBe(1)
  expect(person.isAlternate()).toBe(false)
  await person.see(/error: the connection to the session was closed/)
})

test('a crash of the viewer itself leaves the terminal as before, with the reason to be read', async () => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'echo here; sleep 1000'])
  // A preloaded program throws on a signal: no code of ours is there to catch it.
  const crash = 'process.on("SIGUSR2", () => { throw new Error("struck by lightning") })'
  const person = atTerminal(home, ['attach', 's'], {
    extraEnv: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(crash)}` },
  })
  await person.see('here')
  process.kill(person.pid, 'SIGUSR2')
  expect(await person.ended).toBe(1)
  expect(person.isAlternate()).toBe(false)
  await person.see('struck by lightning')
  for (const sequence of RESTORED) expect(person.written()).toContain(sequence)
})

test('read-only: sees everything, types nothing, resizes nothing; other viewers are not disturbed', async () => {
  const home = hm()
  await home.session('ro', SHELL)
  const owner = atTerminal(home, ['attach', 'ro'], { cols: 60, rows: 15 })
  await owner.see(/\$ *$/m)
  const viewer = atTerminal(home, ['attach', 'ro', '--read-only'], { cols: 100, rows: 40 })
  await viewer.see(/read-only · 60x14 · Ctrl-\\ detaches/)
  viewer.type('echo not-typed\r')
  owner.type('echo size: $(stty size)\r')
  await owner.see(/^size: 14 60$/m)
  await viewer.see(/^size: 14 60$/m)
  expect(viewer.screen()).not.toContain('not-typed')
  viewer.type('\u001c')
  expect(await viewer.ended).toBe(0)
})

test('--inline keeps the terminal’s own screen and scroll-back, and is left with the same key', async () => {
  const home = hm()
  await home.session('in', SHELL)
  const person = atTerminal(home, ['attach', 'in', '--inline'])
  await person.see(/\$ *$/m)
  person.type('echo inline-$((1+1))\r')
  await person.see(/^inline-2$/m)
  expect(person.isAlternate()).toBe(false)
  expect(person.screen()).not.toContain('[hm]')
  person.type('\u001c')
  expect(await person.ended).toBe(0)
  await person.see('[detached; hm attach in returns]')
})

test('run attaches at once, and leaves on the terminal what the command has left on its screen', async () => {
  const home = hm()
  const person = atTerminal(home, ['run', '--id', 'r', '--', 'sh', '-c', 'printf "\\033[32mgreen\\033[0m\\n"; exit 6'])
  expect(await person.ended).toBe(6)
  expect(person.isAlternate()).toBe(false)
  await person.see(/^green$/m)
  expect(person.written()).toContain('\u001b[0;32mgreen')
})

test('a full-screen program: drawn whole, and gone without a trace when it ends', async () => {
  const home = hm()
  writeFileSync(join(home.home, 'f'), Array.from({ length: 200 }, (_, i) => `row ${i}`).join('\n'))
  const person = atTerminal(home, ['run', '--id', 'less', '--', ...SHELL], { cols: 60, rows: 12 })
  await person.see(/\$ *$/m)
  person.type('echo before\r')
  await person.see(/^before$/m)
  person.type('less f\r')
  await person.see(/^row 9$/m)
  expect(person.rows().slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, i) => `row ${i}`))
  expect(person.rows()[11]).toMatch(/^ \[hm\] less /)
  const viewer = atTerminal(home, ['attach', 'less', '--read-only'], { cols: 40, rows: 6 })
  await viewer.see(/Ctrl-\\ detaches/)
  person.type('G')
  await person.see(/^row 199$/m)
  // A viewer with fewer rows sees the part around the cursor, which less keeps in its last line.
  await viewer.see(/^row 199\n.*\n \[hm\] less /m)
  person.type('q')
  await person.see(/^before\n\$ less f\n\$ *$/m)
  expect(person.screen()).not.toContain('row 1')
})

test('a pinned size is shown, not changed', async () => {
  const home = hm()
  await home.session('pin', SHELL, ['--cols', '50', '--rows', '10', '--pin-size'])
  const person = atTerminal(home, ['attach', 'pin'], { cols: 80, rows: 24 })
  await person.see(/50x10 · Ctrl-\\ detaches/)
  person.type('stty size\r')
  await person.see(/^10 50$/m)
})

test('stopped and continued, the terminal belongs to the shell in between', async () => {
  const home = hm()
  await home.session('z', ['sh', '-c', "printf '\\033[?2004hstill here'; sleep 1000"])
  const person = atTerminal(home, ['attach', 'z'])
  await person.see('still here')
  process.kill(person.pid, 'SIGTSTP')
  await until('the normal screen', () => !person.isAlternate())
  expect(person.written()).toMatch(/2004l[^]*\u001b\[\?1049l/)
  process.kill(person.pid, 'SIGCONT')
  await until('the alternate screen', () => person.isAlternate())
  await person.see('still here')
  await until(
    'bracketed paste again',
    () => person.written().lastIndexOf('\u001b[?2004h') > person.written().lastIndexOf('1049l'),
  )
})

test('what the program wants of the terminal reaches it, unless --safe', async () => {
  const home = hm()
  await home.session('wish', SHELL)
  const wish = "printf '\\e]2;ti-%s\\a\\e]52;c;aGk=\\a\\e]52;c;?\\a\\e]9;do-%s\\adone-%s\\n' tle ne $((1+1))\r"
  const open = atTerminal(home, ['attach', 'wish'])
  const safe = atTerminal(home, ['attach', 'wish', '--safe'])
  await open.see(/\$ *$/m)
  await safe.see(/\$ *$/m)
  open.type(wish)
  await open.see(/^done-2$/m)
  await safe.see(/^done-2$/m)
  for (const sequence of ['\u001b]2;ti-tle', '\u001b]52;c;aGk=', '\u001b]9;do-ne']) {
    expect(open.written()).toContain(sequence)
    expect(safe.written()).not.toContain(sequence)
  }
  expect(open.written()).not.toContain('\u001b]52;c;?')
})

test('attaching to a session from inside it is refused', async () => {
  const home = hm()
  const person = atTerminal(home, ['run', '--id', 'outer', '--', ...SHELL])
  await person.see(/\$ *$/m)
  person.type(`${process.execPath} ${join(import.meta.dirname, '../../bin/hm')} attach outer\r`)
  await person.see(/error: this terminal is session outer itself/)
})

test('a configured detach key detaches; Ctrl-\\ then goes to the program', async () => {
  const home = hm()
  await home.session('k', ['sh', '-c', 'stty raw -echo; echo ready; od -An -c -w1'])
  const config = join(home.home, 'heimdall.toml')
  writeFileSync(config, 'detach_key = 1\n')
  const person = atTerminal(home, ['attach', 'k'])
  await person.see('ready')
  person.type('\u001cx')
  await person.see(/034/)
  person.type('\u0001')
  expect(await person.ended).toBe(0)
})

test('output that floods the viewer does not make it lose the last screen', async () => {
  const home = hm()
  const go = join(home.home, 'go')
  await home.session('flood', [
    'sh',
    '-c',
    `echo ready; until [ -e ${go} ]; do sleep 0.02; done; seq 1 400000; echo the-end; sleep 1000`,
  ])
  const person = atTerminal(home, ['attach', 'flood'])
  await person.see('ready')
  writeFileSync(go, '')
  await person.see(/^400000\nthe-end$/m)
})

// `hm attach --json` prints one envelope and no session output.
test('attach and run with --json print one object into a pipe; the output stays in the session', async () => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'echo before; read line; echo after; exit 5'])
  const attached = home.start(['attach', 's', '--json', '--read-only'])
  await until('the viewer to be there', async () => ((await home.json(['status', 's']))['clients'] as number) >= 2)
  await home.run(['send', 's', '--key', 'enter'])
  const { stdout, code } = await attached.ended
  expect(code).toBe(5)
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    command: 'hm attach',
    data: { id: 's', reason: 'exited', exit_code: 5 },
    error: null,
  })
  expect((await home.run(['logs', 's'])).stdout).toMatch(/^before\n[^]*after\n$/)

  const run = await home.run(['run', '--json', '--id', 'r', '--', 'sh', '-c', 'echo out; exit 4'], { stdin: '' })
  expect(run.code).toBe(4)
  expect(JSON.parse(run.stdout)).toMatchObject({ data: { id: 'r', reason: 'exited', exit_code: 4 } })
})

// `hm attach ID </dev/null` (cron, CI, ssh -n) must not type Ctrl-D into the session.
test('input that ends lets attach leave, and nothing is typed; what was piped before arrives', async () => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'read line || exit 9; [ "$line" = "a line" ] && exit 4; exit 5'])
  expect((await home.run(['attach', 's'], { stdin: '' })).code).toBe(0)
  // The program may be quicker than the end of input.
  expect([0, 4]).toContain((await home.run(['attach', 's'], { stdin: 'a line\n' })).code)
  expect(await home.json(['wait', 's'])).toMatchObject({ exit_code: 4 })
})

test('run hands the end of its input on, also of none at all', async () => {
  const { code, stdout } = await hm().run(['run', '--', 'sh', '-c', 'cat; echo over; exit 3'], { stdin: '' })
  expect([code, stdout]).toEqual([3, expect.stringContaining('over')])
})

// `hm run -- true` on a busy machine: a viewer that connects while the session stops still gets its output and exit code.
test('who is connected when a session ends may take a second to say what it wants, and still gets output and exit', async () => {
  const session = await start(sh('read go; echo last words; exit 6'), { stallMs: 60_000 })
  const late = await session.connect()
  await late.status()
  const other = await session.connect()
  other.type('\n')
  await waitForFile(sessionPaths(session.dir, 't').exit)
  // The time in which a session answers anybody goes by.
  const endMs = performance.now() + EXIT_LINGER_MS + 500
  while (performance.now() < endMs) await late.status()
  let text = ''
  late.onOutput = (bytes) => {
    text += bytes.toString('utf8')
  }
  late.subscribe()
  expect(await late.exit()).toBe(6)
  expect(text).toContain('last words')
})
