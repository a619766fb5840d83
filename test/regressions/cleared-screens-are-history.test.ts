// What stood on the screen before it was cleared is found by looking back. tmux's history is the judge.
import xterm from '@xterm/headless'
import { expect, test } from 'vitest'
import { keepCleared } from '../../src/cli/commands/session/view/keep-cleared.ts'
import { hm } from '../hm/hm.ts'
import { atTerminal } from '../hm/person.ts'
import { openPane } from '../support/tmux.ts'

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
