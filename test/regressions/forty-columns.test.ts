// A terminal of 40 columns: help and lists fit it, the status line says what matters, and nothing that was left is lost.
import { expect, test } from 'vitest'
import { hm, type Hm } from '../hm/hm.ts'
import { atTerminal } from '../hm/person.ts'

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
