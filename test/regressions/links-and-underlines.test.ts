// OSC 8 links, and underlines in their styles and colours, reach the viewer's terminal when it can show them: from a
// snapshot (who attaches late) as from live output.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { atTerminal } from '../hm/person.ts'
import { launcher } from '../support/programs.ts'
import { openPane } from '../support/tmux.ts'

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
