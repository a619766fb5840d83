// The terminal around a session: its queries, keys, size, and what it looks like afterwards.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPty } from '../../src/supervisor/pty.ts'
import { encodeResize } from '../../src/wire/encode.ts'
import { type Client, start } from '../supervisor/support/session.ts'
import { perFile } from '../support/cleanup.ts'
import { needs } from '../support/needs.ts'
import { fixture, launcher } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { openPane } from '../support/tmux.ts'
import { until, waitForFile } from '../support/wait.ts'
import { hm, type Hm } from './hm.ts'
import { atTerminal } from './person.ts'

// A terminal query is answered exactly once: by the session, or by the viewer's terminal where it receives the raw bytes. Formats: ECMA-48, DEC STD 070, xterm's "Control Sequences".
const ESC = '\u001b'
const ask = (...rounds: string[]): string[] => [
  ...fixture('terminal-asker'),
  ...rounds.map((round) => JSON.stringify(round)),
]

/** What the program was told in its round `n`. */
function answersIn(output: string, n: number): string | undefined {
  const line = new RegExp(`answers ${n}: (".*")[\r\n]`).exec(output)?.[1]
  return line === undefined ? undefined : (JSON.parse(line) as string)
}

async function round(client: Client, n: number): Promise<string> {
  client.type('\r')
  return await client.waitFor(`round ${n}`, () => answersIn(client.output(), n))
}

test('nobody attached: cursor, device, version, colours and modes are answered once each, in the order asked', async () => {
  const session = await start(
    ask(
      `${ESC}[2J${ESC}[3;5Hab${ESC}[6n${ESC}[?6n`,
      `${ESC}[c${ESC}[0c`,
      `${ESC}[>c`,
      `${ESC}[>q`,
      `${ESC}]10;?\u0007${ESC}]11;?${ESC}\\${ESC}]4;1;?;255;?\u0007`,
      `${ESC}]11;#336699\u0007${ESC}]11;?\u0007${ESC}]111\u0007${ESC}]11;?\u0007`,
      `${ESC}[?2004h${ESC}[?2004$p${ESC}[?2004l${ESC}[?2004$p${ESC}[4$p${ESC}[?54321$p${ESC}[?2027$p`,
      `${ESC}[18t${ESC}[?u`,
    ),
    { cols: 80, rows: 24 },
  )
  const client = await session.connect()
  // Reads along as the seed's own client does; without a size it has no terminal that could answer.
  client.subscribe()
  await client.waitForOutput('ready')
  const color = 'rgb:[0-9a-f]{4}/[0-9a-f]{4}/[0-9a-f]{4}'
  const expected = [
    /^\x1b\[3;7R\x1b\[\?3;7R$/,
    /^(\x1b\[\?\d+(;\d+)*c){2}$/,
    /^\x1b\[>\d+;\d+;\d+c$/,
    /^\x1bP>\|heimdall\(\d+\.\d+\.\d+\)\x1b\\$/,
    new RegExp(
      `^\x1b]10;${color}\x1b\\\\\x1b]11;${color}\x1b\\\\\x1b]4;1;${color}\x1b\\\\\x1b]4;255;${color}\x1b\\\\$`,
    ),
    new RegExp(`^\x1b]11;rgb:3333/6666/9999\x1b\\\\\x1b]11;(?!rgb:3333)${color}\x1b\\\\$`),
    /^\x1b\[\?2004;1\$y\x1b\[\?2004;2\$y\x1b\[4;2\$y\x1b\[\?54321;0\$y\x1b\[\?2027;3\$y$/,
    /^\x1b\[8;24;80t\x1b\[\?0u$/,
  ]
  for (const [n, pattern] of expected.entries()) expect(await round(client, n)).toMatch(pattern)
  expect(await round(client, expected.length)).toBe('')
  expect(await client.exit()).toBe(0)
})

test('in the middle of a flood the answer comes while the flood goes on', async () => {
  const session = await start(ask(`FLOOD${ESC}[c`))
  const client = await session.connect()
  client.subscribe()
  client.onOutput = () => undefined
  await client.waitForOutput('ready')
  client.type('\r')
  await client.waitFor('the answer', () => answersIn(client.output(), 0)?.match(/^\x1b\[\?\d+(;\d+)*c$/) ?? undefined)
  expect(await round(client, 1)).toBe('')
})

test('a client of the seed with a terminal answers for it; when it has left, the session does', async () => {
  const session = await start(ask(`${ESC}[c`, `${ESC}[c`))
  const reader = await session.connect()
  reader.subscribe({ readOnly: true })
  await reader.waitForOutput('ready')
  const viewer = await session.connect()
  viewer.subscribe()
  viewer.socket.write(encodeResize({ cols: 80, rows: 24 }))
  await viewer.waitForOutput('ready')
  viewer.type('\r')
  await viewer.waitForOutput(`${ESC}[5n`)
  viewer.type(`${ESC}[?62;4c${ESC}[0n`)
  await reader.waitFor('the answer of the terminal', () => answersIn(reader.output(), 0) === `${ESC}[?62;4c`)
  viewer.close()
  const typist = await session.connect()
  await until('the viewer to be gone', async () => (await typist.info()).clients === 2)
  typist.type('\r')
  await reader.waitFor(
    'the answer of the session',
    () => answersIn(reader.output(), 1)?.match(/^\x1b\[\?1;2c$/) ?? undefined,
  )
  typist.type('\r')
  expect(await reader.waitFor('the last round', () => answersIn(reader.output(), 2))).toBe('')
})

test('of two clients with terminals of their own one answers, and what is typed at either arrives', async () => {
  const session = await start(ask(`${ESC}[c${ESC}]11;?\u0007`, `${ESC}[c`))
  const [reader, first, second] = [await session.connect(), await session.connect(), await session.connect()]
  reader.subscribe({ readOnly: true })
  for (const viewer of [first, second]) {
    viewer.subscribe()
    viewer.socket.write(encodeResize({ cols: 80, rows: 24 }))
    // Answered in order: both are known before anything is asked.
    await viewer.status()
  }
  await second.waitForOutput('ready')
  second.type('\r')
  for (const viewer of [first, second]) await viewer.waitForOutput(`${ESC}[5n`)
  second.type(`${ESC}[?62;2c${ESC}]11;rgb:0/0/0\u0007${ESC}[0n`)
  await second.status()
  first.type(`${ESC}[?61;1c${ESC}]11;rgb:f/f/f${ESC}\\${ESC}[0n`)
  expect(await reader.waitFor('the answer', () => answersIn(reader.output(), 0))).toBe(
    `${ESC}[?61;1c${ESC}]11;rgb:f/f/f${ESC}\\`,
  )
  first.close()
  await until('the first to be gone', async () => (await reader.info()).clients === 2)
  second.type('\r')
  await second.waitFor('the second question', () => second.output().split(`${ESC}[5n`).length === 3)
  second.type(`${ESC}[?62;2c${ESC}[0n`)
  expect(await reader.waitFor('the answer of the other', () => answersIn(reader.output(), 1))).toBe(`${ESC}[?62;2c`)
})

test('attached: the session answers once, however many watch; who comes later is not answered for again', async () => {
  const home = hm()
  await home.session('asked', ask(`${ESC}[6n`, `${ESC}[c`))
  const one = atTerminal(home, ['attach', 'asked'], { answers: true })
  const two = atTerminal(home, ['attach', 'asked'], { answers: true })
  await one.see('ready')
  await two.see('ready')
  one.type('\r')
  await one.see('answers 0: "\\u001b[2;1R"')
  const late = atTerminal(home, ['attach', 'asked'], { answers: true })
  await late.see('answers 0')
  late.type('\r')
  await late.see('answers 1: "\\u001b[?1;2c"')
  late.type('\r')
  await late.see('answers 2: ""')
})

test('--inline: the terminal outside answers, once, and is not asked again what was asked before it came', async () => {
  const home = hm()
  await home.session('inline', ask(`first${ESC}[c`, `second${ESC}[c`))
  const logs = home.start(['logs', 'inline', '-f'])
  await logs.waitForLine('ready')
  await home.run(['send', 'inline', '--key', 'enter'])
  await logs.waitForLine('answers 0: "\\u001b[?1;2c"')
  const person = atTerminal(home, ['attach', 'inline', '--inline'], { answers: `${ESC}[?64;1c` })
  await person.see('answers 0')
  expect(person.written()).toContain('first')
  expect(person.written()).not.toContain(`${ESC}[c`)
  person.type('\r')
  await person.see('answers 1: "\\u001b[?64;1c"')
  person.type('\r')
  await person.see('answers 2: ""')
})

test('the colours are those of the terminal that looks on, from the first question on; who only watches changes nothing', async () => {
  const home = hm()
  const light = { cols: 120, colors: ['rgb:1111/2222/3333', 'rgb:ffff/eeee/dddd'] } as const
  const program = ask(`${ESC}]10;?\u0007${ESC}]11;?\u0007`, `${ESC}]11;?\u0007`, `${ESC}]11;?\u0007`)
  const starter = atTerminal(home, ['run', '--id', 'colors', '--', ...program], light)
  await starter.see('ready')
  starter.type('\r')
  await starter.see('answers 0: "\\u001b]10;rgb:1111/2222/3333\\u001b\\\\\\u001b]11;rgb:ffff/eeee/dddd\\u001b\\\\"')

  const dark = { cols: 120, colors: ['rgb:ff/ff/ff', 'rgb:0/0/8'] } as const
  const watcher = atTerminal(home, ['attach', 'colors', '--read-only'], dark)
  await watcher.see('answers 0')
  starter.type('\r')
  await starter.see('answers 1: "\\u001b]11;rgb:ffff/eeee/dddd\\u001b\\\\"')

  const other = atTerminal(home, ['attach', 'colors'], dark)
  await other.see('answers 1')
  // What it says of itself comes before what is typed in it.
  await until('the terminal to be asked', () => other.answered().includes(`${ESC}]11;`))
  other.type('\r')
  await other.see('answers 2: "\\u001b]11;rgb:0000/0000/8888\\u001b\\\\"')
})

test('prompt_toolkit finds a terminal that says where the cursor is', async () => {
  needs('prompt_toolkit for python3')
  // Its own limit of two seconds for the answer is too short on a busy machine.
  const program = `
import asyncio
from prompt_toolkit import PromptSession
from prompt_toolkit.renderer import CPR_Support, Renderer
Renderer.CPR_TIMEOUT = 60
async def main():
    session = PromptSession()
    async def watch():
        while session.app.renderer.cpr_support == CPR_Support.UNKNOWN:
            await asyncio.sleep(0.01)
        session.app.exit(result=str(session.app.renderer.cpr_support))
    asyncio.ensure_future(watch())
    print('seen:', await session.prompt_async('> '))
asyncio.run(main())
`
  const session = await start(['python3', '-c', program], { cols: 80, rows: 24 })
  const client = await session.connect()
  client.subscribe()
  expect(await client.exit()).toBe(0)
  expect(client.output()).toContain('seen: CPR_Support.SUPPORTED')
  expect(client.output()).not.toContain('WARNING')
})

// Ctrl-\\ detaches in every keyboard protocol that a program can switch on.
const FORMS = ['\u001c', '\u001b[27;5;92~', '\u001b[92;5u']

const detachable = perFile(async () => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'echo here; cat'])
  return home
})

test.each(FORMS.flatMap((key) => [[], ['--inline']].map((flags) => ({ key, flags }))))(
  '$key detaches, attached $flags',
  async ({ key, flags }) => {
    const home = detachable()
    const person = atTerminal(home, ['attach', 's', ...flags])
    await person.see('here')
    person.type(key)
    expect(await person.ended).toBe(0)
    await person.see('[detached; hm attach s returns]')
    expect((await home.json(['status', 's']))['alive']).toBe(true)
  },
)

// At 40 columns help and lists fit, and the status line keeps what matters.
const COLS = 40
const LONG_ID = 'amber-otter-reviews-the-long-branch'
const ASKS = ['sh', '-c', 'printf "Do you want to proceed with all of this now? [y/N] "; read x; cat']
const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

/** What `hm …` leaves on a terminal of 40 columns. */
async function shown(home: Hm, args: readonly string[]): Promise<string[]> {
  const person = atTerminal(home, args, { cols: COLS, rows: 200 })
  await person.ended
  return person.rows()
}

test.each(['run --help', 'send --help', '--help'])('hm %s breaks between words', async (typed) => {
  const home = hm()
  const words = typed.split(' ')
  const { stdout } = await home.run(words)
  const rows = await shown(home, words)
  expect(wordsOf(rows.join('\n'))).toEqual(wordsOf(stdout))
  const whole = new Set(wordsOf(stdout))
  for (const row of rows) for (const word of wordsOf(row)) expect(whole).toContain(word)
})

test('ls: one row for each session, with whether it waits', async () => {
  const home = hm()
  await home.session(LONG_ID, ASKS)
  await home.session('short', ['sh', '-c', 'cat; a long command that goes on and on'])
  await home.run(['wait', LONG_ID, '--for', 'needs-input'])
  const rows = (await shown(home, ['ls'])).filter((row) => row !== '')
  expect(rows).toHaveLength(3)
  expect(rows[0]).toBe('Active sessions:')
  expect(rows[1]).toMatch(/^ {2}amber-otter-\S*… {2,}\S+ {2,}needs input/)
  expect(rows[2]).toMatch(/^ {2}short +(?:active|idle)/)
  // Who reads it in a pipe has all of it.
  expect((await home.run(['ls'])).stdout).toContain('a long command that goes on and on')
})

test('attached: a long id leaves room for what the session waits for, and for how to leave', async () => {
  const home = hm()
  await home.session(LONG_ID, ASKS)
  const person = atTerminal(home, ['attach', LONG_ID], { cols: COLS, rows: 12 })
  await person.see(/^ \[hm\] amber.*… {2}needs input/m)
  person.resize(80, 12)
  await person.see(/^ \[hm\] amber-otter\S* +needs input \d+s .*Ctrl-\\ detaches $/m)
  person.resize(100, 12)
  await person.see(/needs input \(Do you want .*…\) \d+s +Ctrl-\\ detaches $/m)
  person.resize(COLS, 12)
  person.type('\u001b[5;2~')
  await person.see(/Esc returns *$/m)
  person.type('q')
})

test('a session that is wider is shown from its beginning, and further right while the cursor is there', async () => {
  const home = hm()
  await home.session('wide', ['cat'], ['--pin-size', '--cols', '100', '--rows', '11'])
  const person = atTerminal(home, ['attach', 'wide'], { cols: COLS, rows: 12 })
  await person.see(/\[hm\] wide/)
  person.type('aaaaaaaaaabbbbbbbbbbcccccccccc')
  await person.see(/^aaaaaaaaaabbbbbbbbbbcccccccccc$/m)
  person.type('ddd日日日日日ddd')
  // The cursor is in the middle.
  await person.see(/^ccccddd日日日日日ddd$/m)
  expect(person.cursor().x).toBe(20)
  person.type('\r')
  await person.see(/^aaaaaaaaaabbbbbbbbbbccccccccccddd日日日 ?$/m)
})

test('what a wider session has left is all there, and long lines are one line each', async () => {
  const home = hm()
  const line = Array.from({ length: 24 }, (_, i) => String(i).padStart(5, '.')).join('')
  const person = atTerminal(home, ['run', '--pin-size', '--cols', '100', '--rows', '12', '--', 'echo', line], {
    cols: COLS,
    rows: 24,
  })
  expect(await person.ended).toBe(0)
  expect(person.rows().join('')).toContain(line)
})

// --inline draws what the program draws without us, also with output processing off, and restores the terminal.
const SIZE = { cols: 40, rows: 8 }
const STAIRS = "stty -opost; printf 'one\\ntwo\\nthree\\033[2Dx\\n'; stty opost; echo done; sleep 1000"

test('a program without output processing is drawn the same with and without us', async () => {
  const home = hm()
  const plain = await openPane(['sh', '-c', STAIRS], SIZE)
  const ours = await openPane([...launcher('hm'), 'run', '--inline', '--', 'sh', '-c', STAIRS], {
    ...SIZE,
    env: { HOME: home.home },
  })
  await plain.see('done')
  await ours.see('done')
  expect(await ours.capture()).toEqual(await plain.capture())
  expect(await plain.capture()).toContain('   two')
  expect(await ours.cursor()).toEqual(await plain.cursor())
})

test.each([
  ['--inline', 'sane'],
  ['--inline', '-onlcr ixany -icrnl'],
  ['--inline', '-opost'],
  ['', '-onlcr ixany'],
])('run %s leaves a terminal that was set `stty %s` as it was', async (flag, settings) => {
  const home = hm()
  const folder = temporaryFolder()
  const hmRun = [...launcher('hm'), 'run', ...(flag === '' ? [] : [flag]), '--', 'true'].join(' ')
  const script = `stty ${settings}; stty -g > before; ${hmRun}; stty -g > after.part; mv after.part after; sleep 1000`
  await openPane(['sh', '-c', script], { ...SIZE, cwd: folder, env: { HOME: home.home } })
  expect(await waitForFile(join(folder, 'after'))).toBe(readFileSync(join(folder, 'before'), 'utf8'))
})

// peek and logs keep joiners in emoji and Persian, and escape deceptive characters.
const FAMILY = 'a 👩\u200d👩\u200d👧 z'
const PERSIAN = 'می\u200cخواهم'

test('ZWJ and ZWNJ come through where they join; bidi controls and joiners in Latin do not', async () => {
  const home = hm()
  const lines = [FAMILY, PERSIAN, 'pass\u200cword\u202e', 'last']
  await home.session('j', ['sh', '-c', `printf '%s\\n' "$@"; cat`, 'sh', ...lines])
  await until('the output', async () => (await home.run(['logs', 'j'])).stdout.includes('last'))
  const expected = [FAMILY, PERSIAN, 'password', 'last']
  expect((await home.run(['logs', 'j'])).stdout.trimEnd().split('\n')).toEqual(expected)
  expect(((await home.json(['peek', 'j']))['lines'] as string[]).slice(0, 4)).toEqual(expected)
})

// A closed terminal window ends hm; Node.js used to abort with a core dump.
test.each([
  ['attach', 'attach s'],
  ['attach --inline', 'attach s --inline'],
  ['run', 'run --id other -- sh -c "echo ready; exec cat"'],
])('closing the terminal of %s is a way to leave, with 0', async (_, words) => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'echo ready; exec cat'])
  const file = join(home.home, 'code')
  const room = Buffer.alloc(64 << 10)
  let seen = ''
  const pty = openPty(
    {
      // The shell outlives the terminal to tell how it ended.
      command: ['sh', '-c', `trap '' HUP; ${launcher('hm').join(' ')} ${words}; echo "code $?" > ${file}`],
      cwd: home.home,
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', ...home.env },
      cols: 80,
      rows: 24,
    },
    {
      room: () => room,
      read(bytes) {
        seen += room.toString('utf8', 0, bytes)
      },
      ended() {},
    },
  )
  await until('the session to be seen', () => seen.includes('ready'))
  pty.close()
  await until('the end', () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'))
  expect(readFileSync(file, 'utf8')).toBe('code 0\n')
  expect(await home.json(['status', 's'])).toMatchObject({ id: 's' })
})
