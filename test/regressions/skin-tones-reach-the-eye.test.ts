// What is one character for us may be several for the viewer's terminal, and take more of its cells: nothing of it is
// drawn over. tmux, which gives skin colours cells of their own, is the judge.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { atTerminal } from '../hm/person.ts'
import { launcher } from '../support/programs.ts'
import { openPane } from '../support/tmux.ts'

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
