// What an attached terminal shows: widths, marks, links, clicks and history. tmux is the oracle.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import xterm from '@xterm/headless'
import { describe, expect, test } from 'vitest'
import { keepCleared } from '../../src/sessions/view/history.ts'
import { launcher } from '../support/programs.ts'
import { openPane } from '../support/tmux.ts'
import { until } from '../support/wait.ts'
import { hm, type Hm } from './hm.ts'
import { atTerminal, type Person } from './person.ts'

// Emoji are two cells wide, as the shell counts them, so that line editing matches the screen.
const SHELL = ['bash', '--norc', '--noprofile', '-i']
const SIZE = { cols: 60, rows: 10 }
const ENV = { PS1: '$ ', LC_ALL: 'C.UTF-8' }

/** Typed one after the other, each when the screen shows the one before. */
const EDITS: readonly (readonly [typed: string, line: string])[] = [
  ['echo 🎉🎉🎉', '$ echo 🎉🎉🎉'],
  ['\u007f\u007f', '$ echo 🎉'],
  ['X', '$ echo 🎉X'],
]

test('two Backspaces and X behind `echo 🎉🎉🎉` are seen as they are', async () => {
  const home = hm()
  // Such as every terminal has them: the shell of the session must know that it writes UTF-8.
  await home.session('emoji', ['env', 'LC_ALL=C.UTF-8', ...SHELL])
  const plain = await openPane(SHELL, { ...SIZE, env: ENV })
  const attached = await openPane([...launcher('hm'), 'attach', 'emoji'], {
    ...SIZE,
    rows: SIZE.rows + 1,
    env: { ...ENV, HOME: home.home },
  })
  await plain.see(/\$ *$/m)
  await attached.see(/\$ *$/m)
  for (const [typed, line] of EDITS)
    for (const pane of [plain, attached]) {
      await pane.type(typed)
      await pane.see(new RegExp(`^${line.replace('$', '\\$')} *$`, 'm'))
    }
  expect(await attached.cursor()).toEqual(await plain.cursor())
  expect((await home.json(['peek', 'emoji']))['lines']).toContain('$ echo 🎉X')
})

// tmux gives a skin tone cells of its own: what is one character for the session may take more cells on the viewer's terminal.
describe('skin tones', () => {
  const COLS = 60
  const LINES = ['1 A👋🏽B and 👩🏽‍💻C', '2 🧑🏽‍🤝‍🧑🏻D 👍🏿👍🏿 ✌🏽E ❤️‍🔥F', '3 flags 🇩🇪🇯🇵 family 👨‍👩‍👧 keycap 1️⃣ end', '4 done 👍🏽']
  const TABLE = ['5 👍🏽    | yes', '6 no    | no']
  /** In pieces, as a program may write them: between characters, and between their bytes. */
  const PIECES = "printf '7 \\360\\237\\221'; sleep 0.1; printf '\\213'; sleep 0.1; printf '\\360\\237\\217\\275Z\\n'"
  const program = ['sh', '-c', `printf '%s\\n' "$@"; ${PIECES}; echo last; cat`, 'sh', ...LINES, ...TABLE]
  const SHOWN = [...LINES, ...TABLE, '7 👋🏽Z']

  test('attach in tmux shows what tmux shows of the same program, live, looking back and after the end', async () => {
    const home = hm()
    await home.session('tones', program, ['--cols', String(COLS), '--rows', '20'])
    const plain = await openPane(program, { cols: COLS, rows: 20 })
    const attached = await openPane([...launcher('hm'), 'attach', 'tones'], {
      cols: COLS,
      rows: 21,
      env: { HOME: home.home },
    })
    await plain.see('last')
    await attached.see('last')
    const numbered = (rows: readonly string[]): string[] => rows.filter((row) => /^\d /.test(row))
    const seen = numbered(await plain.capture())
    expect(seen).toEqual(SHOWN)
    await attached.see(seen[0] ?? '')
    // Blanks may differ: beside what tmux takes for narrower, and in place of what it takes for wider.
    const alike = (rows: readonly string[]): string[] => numbered(rows).map((row) => row.replaceAll(' ', ''))
    expect(alike(await attached.capture())).toEqual(alike(seen))
    // Columns of a table stay where they are, as long as there are blanks to take the room from.
    const bars = numbered(await attached.capture()).filter((row) => row.includes('|'))
    expect(bars).toEqual(['5 👍🏽  | yes', '6 no    | no'])
    await attached.type('\u001b[5;2~')
    await attached.see('history:')
    await attached.type('/done\r')
    await attached.see(/n older/)
    expect(alike(await attached.capture())).toEqual(alike(seen))
    await attached.type('q')
    await attached.see('detaches')
    // What is typed behind such a character is seen behind it.
    await attached.type('👋🏽x')
    await attached.see('👋🏽x')
    await attached.type('\r\u0004')
    await attached.see('session exited')
    expect(numbered(await attached.capture())).toEqual(SHOWN)
  })

  test('as text they are whole everywhere', async () => {
    const home = hm()
    await home.session('tones', program, ['--cols', String(COLS), '--rows', '20'])
    const person = atTerminal(home, ['attach', 'tones'], { cols: COLS, rows: 21, answers: true })
    await person.see('last')
    expect((await home.json(['peek', 'tones']))['lines']).toEqual(expect.arrayContaining(SHOWN))
    const logged = async (): Promise<string[]> => (await home.run(['logs', 'tones'])).stdout.split('\n')
    expect(await logged()).toEqual(expect.arrayContaining(SHOWN))
    person.type('\u0004')
    expect(await person.ended).toBe(0)
    expect(await logged()).toEqual(expect.arrayContaining(SHOWN))
    expect((await home.json(['peek', 'tones']))['lines']).toEqual(expect.arrayContaining(SHOWN))
    const cast = (await home.run(['export', 'tones'])).stdout
    const replayed = cast
      .split('\n')
      .slice(1, -1)
      .map((line) => (JSON.parse(line) as [number, string, string])[2])
    expect(replayed.join('').split('\r\n')).toEqual(expect.arrayContaining(SHOWN))
  })

  test('a terminal that says nothing of its widths is drawn into as ever, and what it says late is nobody’s input', async () => {
    const home = hm()
    await home.session('s', ['sh', '-c', 'stty raw -echo; printf "A👋🏽B"; exec cat -v'])
    const silent = atTerminal(home, ['attach', 's'])
    await silent.see(/A.*B/)
    silent.type('k\u001b[3;5Rk')
    await silent.see('kk')
    expect(silent.screen()).not.toContain('[3;5R')
  })
})

// A character with combining marks in the last column is drawn as one.
describe('marks in the last column', () => {
  const COLS = 80
  const NARROW = ['e\u0301', 'o\u0308\u0323'].map((cluster) => '5'.repeat(COLS - 1) + cluster)
  const WIDE = ['日', '🇩🇪'].map((cluster) => '5'.repeat(COLS - 2) + cluster)
  const LINES = [...NARROW, ...WIDE]

  test('attach shows at the right edge what tmux shows of the same program', async () => {
    const home = hm()
    const program = ['sh', '-c', `printf '%s\\n' "$@"; echo last; cat`, 'sh', ...LINES]
    await home.session('edge', program, ['--cols', String(COLS), '--rows', '20'])
    const plain = await openPane(program, { cols: COLS, rows: 20 })
    const attached = await openPane([...launcher('hm'), 'attach', 'edge'], {
      cols: COLS,
      rows: 21,
      env: { HOME: home.home },
    })
    await plain.see('last')
    await attached.see('last')
    const seen = (await plain.capture()).filter((line) => line.includes('55'))
    expect(seen).toEqual(LINES)
    expect((await attached.capture()).filter((line) => line.includes('55'))).toEqual(seen)
    // Drawn once more on top, in reverse, as what was found.
    await attached.type('\u001b[5;2~')
    await attached.see('history:')
    await attached.type('/55e\u0301\r')
    await attached.see(/n older/)
    expect((await attached.capture()).filter((line) => line.includes('55'))).toEqual(seen)
  })
})

// OSC 8 links and styled underlines reach a terminal that can show them, from a snapshot and from live output.
const DRAWN =
  "printf '\\033]8;;https://example.org/%s\\033\\\\link %s\\033]8;;\\033\\\\ \\033[4:3;58:2::10:20:30mcurly %s\\033[0m \\033[4:2;58:5:9mdouble\\033[0m \\033[4:4mdotted\\033[24m \\033[4:5mdashed\\033[m\\n'"
/** Once before anybody watches, once for each line that is typed. */
const PROGRAM = ['sh', '-c', `${DRAWN} a a a; while read n; do ${DRAWN} $n $n $n; done`]

const expected = (n: string): RegExp[] => [
  new RegExp(`\u001b]8;id=\\w+;https://example\\.org/${n}\u001b\\\\link ${n}\u001b]8;;\u001b\\\\`),
  new RegExp(`\u001b\\[0;4:3;58:2::10:20:30mcurly ${n}`),
  /\u001b\[0;4:2;58:5:9mdouble/,
  /\u001b\[0;4:4mdotted/,
  /\u001b\[0;4:5mdashed/,
]

test('a terminal that can show them is sent links and underlines, of before and of now', async () => {
  const home = hm()
  await home.session('marks', PROGRAM)
  const person = atTerminal(home, ['attach', 'marks'], { cols: 120, extraEnv: { TERM: 'xterm-kitty' } })
  await person.see('link a')
  for (const pattern of expected('a')) expect(person.written()).toMatch(pattern)
  person.type('b\r')
  await person.see('link b')
  for (const pattern of expected('b')) expect(person.written()).toMatch(pattern)
})

test.each([
  ['a terminal that does not say it can', ['attach', 'marks'], { TERM: 'xterm' }],
  [
    'a terminal known not to',
    ['attach', 'marks'],
    { TERM: 'xterm-256color', TERM_PROGRAM: 'Apple_Terminal', COLORTERM: 'truecolor' },
  ],
])('%s is sent straight underlines, and no links', async (_, args, extraEnv) => {
  const home = hm()
  await home.session('marks', PROGRAM)
  const person = atTerminal(home, args, { cols: 120, extraEnv })
  await person.see('link a')
  expect(person.written()).toMatch(/\u001b\[0;4mcurly a/)
  expect(person.written()).not.toMatch(/\u001b]8;|\u001b\[[\d;]*4:|58[:;]/)
})

test('--safe follows no link', async () => {
  const home = hm()
  await home.session('marks', PROGRAM)
  const person = atTerminal(home, ['attach', 'marks', '--safe'], { cols: 120, extraEnv: { TERM: 'xterm-kitty' } })
  await person.see('link a')
  expect(person.written()).not.toContain('\u001b]8;')
  expect(person.written()).toContain('4:3')
})

test('in tmux, whose terminfo says so, the underlines are the ones that the program drew', async () => {
  const home = hm()
  await home.session('marks', PROGRAM)
  const [plain, attached] = await Promise.all([
    openPane(PROGRAM, { cols: 80, rows: 5 }),
    openPane([...launcher('hm'), 'attach', 'marks'], { cols: 80, rows: 6, env: { HOME: home.home } }),
  ])
  await plain.see('dashed')
  await attached.see('dashed')
  const [line = ''] = await plain.capture('-e')
  expect(line).toMatch(/\u001b\[4:3/)
  expect((await attached.capture('-e'))[0]).toBe(line)
})

// The cursor's line wraps and is not cut when a smaller terminal attaches.
const QUESTION = 'Do you want to proceed with all of this now? [y/N]'
const ASKS = ['sh', '-c', `printf '${QUESTION} '; read x; cat`]

test('attached from 40 columns and from 80 again, the question is whole and asks', async () => {
  const home = hm()
  await home.session('s', ASKS, ['--cols', '80', '--rows', '12'])
  await home.run(['wait', 's', '--for', 'needs-input'])
  const person = atTerminal(home, ['attach', 's'], { cols: 40, rows: 12 })
  await person.see(/^Do you want to proceed with all of this *\nnow\? \[y\/N\]/m)
  expect(person.cursor()).toEqual({ x: 11, y: 1 })
  await person.see('needs input')
  expect((await home.json(['peek', 's']))['lines']).toEqual(expect.arrayContaining(['now? [y/N]']))
  person.resize(80, 12)
  await person.see(new RegExp(`^${QUESTION.replaceAll(/[?[\]/]/g, '\\$&')}`, 'm'))
  expect(person.cursor()).toEqual({ x: QUESTION.length + 1, y: 0 })
  await home.run(['wait', 's', '--for', 'needs-input', '--timeout', '20s'])
  expect((await home.json(['status', 's']))['needs_input']).toMatchObject({ value: true })
})

// A cleared screen stays in the scroll-back.
const SCREENS = [
  ['ED 2', 'one\\r\\n\\r\\nBEFORE\\033[H\\033[2Jafter\\r\\n'],
  ['ED 0 from the first cell', 'one\\r\\nBEFORE\\033[H\\033[Jafter\\r\\n'],
  ['below a scroll region', 'one\\r\\nBEFORE\\033[2;4r\\033[H\\033[2J\\033[rafter\\r\\n'],
  ['not a full-screen program’s', 'one\\r\\n\\033[?1049h\\033[HFULL\\033[2J\\033[?1049lafter\\r\\n'],
  ['not a part of the screen', 'one\\r\\ntwo\\r\\nthree\\033[2;1H\\033[Jafter\\r\\n'],
] as const

const unescaped = (text: string): string =>
  text.replaceAll('\\033', '\u001b').replaceAll('\\r', '\r').replaceAll('\\n', '\n')

test.each(SCREENS)('history and screen are those of tmux: %s', async (_, output) => {
  const pane = await openPane(['sh', '-c', `printf '${output}end'; cat`], { cols: 40, rows: 8 })
  await pane.see('end')
  const terminal = new xterm.Terminal({ cols: 40, rows: 8, scrollback: 100, allowProposedApi: true })
  keepCleared(terminal)
  await new Promise<void>((resolve) => terminal.write(`${unescaped(output)}end`, resolve))
  const { active } = terminal.buffer
  const rows = Array.from({ length: active.length }, (_row, y) => active.getLine(y)?.translateToString(true) ?? '')
  const visible = (lines: readonly string[]): string => lines.join('\n').trimEnd()
  // `capture` keeps as many rows as the screen has: these programs write fewer.
  expect(visible(rows)).toBe(visible(await pane.capture('-S', '-')))
})

test('rows with nothing but a background are cleared, and the saved cursor stays where it was', async () => {
  const terminal = new xterm.Terminal({ cols: 20, rows: 6, scrollback: 100, allowProposedApi: true })
  keepCleared(terminal)
  const output = 'text\u001b[3;5H\u001b7\u001b[5;1H\u001b[41m\u001b[K\u001b[0m\u001b[H\u001b[2J\u001b8x'
  await new Promise<void>((resolve) => terminal.write(output, resolve))
  const { active } = terminal.buffer
  expect(active.getLine(0)?.translateToString(true)).toBe('text')
  expect(active.getLine(active.baseY + 2)?.translateToString(true)).toBe('    x')
  expect(
    active
      .getLine(active.baseY + 4)
      ?.getCell(0)
      ?.isBgDefault(),
  ).toBe(true)
})

test('/ finds what stood there before Ctrl-L', async () => {
  const home = hm()
  await home.session('s', ['bash', '--norc', '--noprofile', '-i'])
  const person = atTerminal(home, ['attach', 's'])
  person.type('echo BEFORE-$((40+2))\r')
  await person.see(/^BEFORE-42$/m)
  person.type('\u000cseq 101 160\r')
  await person.see(/^160$/m)
  person.type('\u001b[5;2~')
  await person.see(/history: /)
  person.type('/BEFORE-42\r')
  await person.see(/^BEFORE-42$/m)
})

// A click reaches the program at the cell shown under it, in the encoding that the program asked for; a click outside its screen is dropped.
describe('clicks', () => {
  const press = (x: number, y: number, button = 0): string => `\u001b[<${button};${x};${y}M`
  const release = (x: number, y: number): string => `\u001b[<0;${x};${y}m`

  /** Numbers its rows, puts the cursor somewhere, asks for the mouse and writes down what it is sent. */
  function program(home: Hm, rows: number, cursor: string, modes: string): string[] {
    const script = `stty raw -echo; i=1; while [ $i -le ${rows} ]; do printf '\\033[%d;1Hrow %d' $i $i; i=$((i+1)); done
    printf '\\033[?${modes}h\\033[${cursor}H*'; exec cat >${join(home.home, 'got')}`
    return ['sh', '-c', script]
  }

  async function gets(home: Hm, what: string): Promise<void> {
    const got = (): string => readFileSync(join(home.home, 'got'), 'latin1')
    await until('the program to be sent the clicks', () => got().length >= what.length, { context: got })
    expect(got()).toBe(what)
  }

  const pinned = (cols: number, rows: number): string[] => [
    '--pin-size',
    '--cols',
    String(cols),
    '--rows',
    String(rows),
  ]

  async function look(home: Hm, at: RegExp): Promise<Person> {
    const person = atTerminal(home, ['attach', 's'], { cols: 80, rows: 24 })
    await person.see(at)
    await until('the mouse to be asked for', () => person.written().includes('1006h'))
    return person
  }

  test('a screen that is shown from its eighth row on: clicks are eight rows further down', async () => {
    const home = hm()
    await home.session('s', program(home, 40, '30;1', '1000;1006'), pinned(100, 40))
    const person = await look(home, /^\*ow 30$/m)
    expect(person.rows()[2]).toBe('row 10')
    person.type(press(5, 3) + release(5, 3))
    await gets(home, press(5, 10) + release(5, 10))
  })

  test('the status line is not the program’s, nor is a release whose press was there', async () => {
    const home = hm()
    await home.session('s', program(home, 40, '30;1', '1000;1006'), pinned(100, 40))
    const person = await look(home, /^\*ow 30$/m)
    person.type(press(5, 24) + release(5, 24) + press(5, 24) + release(5, 20) + press(1, 23))
    await gets(home, press(1, 30))
  })

  test('a screen whose cursor is beyond the right edge is shown from further right, and clicks are there too', async () => {
    const home = hm()
    await home.session('s', program(home, 10, '3;95', '1000;1006'), pinned(100, 20))
    const person = await look(home, /\*/)
    expect(person.rows()[2]).toBe(`${' '.repeat(74)}*`)
    person.type(press(75, 3))
    await gets(home, press(95, 3))
  })

  test('beside a smaller screen there is nobody; what is dragged out of it stays at its edge', async () => {
    const home = hm()
    await home.session('s', program(home, 10, '1;8', '1002;1006'), pinned(40, 10))
    const person = await look(home, /\*/)
    person.type(press(60, 5) + press(5, 12) + press(5, 5) + press(60, 20, 32) + release(60, 20))
    await gets(home, press(5, 5) + press(40, 10, 32) + release(40, 10))
  })

  test.each([
    ['1000', '\u001b[M %*\u001b[M#%*'],
    ['9', '\u001b[M %*'],
    ['1000;1005', '\u001b[M %*\u001b[M#%*'],
    ['1000;1015', '\u001b[32;5;10M\u001b[35;5;10M'],
  ])('a program that asked for %s gets them written so', async (modes, written) => {
    const home = hm()
    await home.session('s', program(home, 40, '30;1', modes), pinned(100, 40))
    const person = await look(home, /^\*ow 30$/m)
    person.type(press(5, 3) + release(5, 3))
    await gets(home, written)
  })
})
