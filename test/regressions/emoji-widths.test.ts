// Emoji are two cells wide, as the shell thinks they are: who edits a line edits the one on the screen. tmux is the judge.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { launcher } from '../support/programs.ts'
import { openPane } from '../support/tmux.ts'

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
