// The line that the cursor is on is not lost when a smaller terminal attaches: its rest goes to the next row, as in tmux,
// and a question in it still asks.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { atTerminal } from '../hm/person.ts'

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
