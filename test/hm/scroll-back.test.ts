// Looking back while attached: the session's history, searched and copied, with the program left alone meanwhile.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readHolder } from '../../src/sessions/session-files.ts'
import { launcher } from '../support/programs.ts'
import { openPane } from '../support/tmux.ts'
import { hm } from './hm.ts'
import { atTerminal } from './person.ts'

const PAGE_UP = '\u001b[5;2~'
const rows = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => `row ${from + i}`)

test('Shift-PageUp and the wheel show what was before the attach; / finds; Escape returns to what is now', async () => {
  const home = hm()
  const more = join(home.home, 'more')
  const script = `i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo row $i; done; until [ -e ${more} ]; do sleep 0.05; done; echo news; cat`
  await home.session('s', ['sh', '-c', script], ['--cols', '80', '--rows', '23'])
  const person = atTerminal(home, ['attach', 's'])
  await person.see(/^row 300$/m)
  person.type(PAGE_UP)
  await person.see(/history: line 279 of 301 · \/ searches · Esc returns/)
  expect(person.rows().slice(0, 23)).toEqual(rows(257, 279))
  person.type('\u001b[<64;5;5M')
  await person.see(/history: line 276 of 301/)
  expect(person.rows()[0]).toBe('row 254')
  person.type('/row 17\r')
  await person.see(/n older, N newer match/)
  expect(person.rows()[11]).toBe('row 179')
  person.type('nn')
  await person.see(/^row 166$[^]*^row 177$/m)
  expect(person.rows()[11]).toBe('row 177')
  // The session goes on behind it, and nothing of this was typed into it.
  writeFileSync(more, '')
  person.type('g')
  await person.see(/^row 1$/m)
  expect(person.screen()).not.toContain('news')
  person.type('\u001b')
  await person.see(/^news$/m)
  await person.see(/\[hm\] s .*Ctrl-\\ detaches/)
  expect(person.screen()).not.toContain('/row 17')
  person.type('typed\r')
  await person.see(/^typed\ntyped$/m)
  // Down past the end leads back as well.
  person.type('\u001b[<64;5;5M')
  await person.see(/history:/)
  person.type('\u001b[<65;5;5M\u001b[<65;5;5M')
  await person.see(/Ctrl-\\ detaches/)
  person.type(`${PAGE_UP}\u001c`)
  expect(await person.ended).toBe(0)
  expect(person.isAlternate()).toBe(false)
  expect(person.written().lastIndexOf('1000')).toBeGreaterThan(person.written().lastIndexOf('\u001b[?1000h'))
})

test('a drag without Shift is answered with how to select, and types nothing', async () => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'echo alpha beta; echo gamma delta; cat'])
  const person = atTerminal(home, ['attach', 's'])
  await person.see('gamma')
  person.type('\u001b[<0;7;1M\u001b[<0;5;2m')
  await person.see('hold Shift to select text')
  person.type('live\r')
  await person.see(/^live\nlive$/m)
})

test('Alt+] reaches the program at once, and typing goes on after it', async () => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'stty raw -echo; echo ready; od -An -c -w2'])
  const person = atTerminal(home, ['attach', 's'])
  await person.see('ready')
  person.type('\u001b]')
  await person.see(/033 +\]/)
  person.type('xy')
  await person.see(/x +y/)
})

test('the history shows a character whose bytes came in two frames', async () => {
  const home = hm()
  const go = join(home.home, 'go')
  const script = `printf 'a\\342\\200'; until [ -e ${go} ]; do sleep 0.05; done; printf '\\224b\\n'; echo end; cat`
  await home.session('s', ['sh', '-c', script])
  const person = atTerminal(home, ['attach', 's'])
  await person.see(/^a/m)
  writeFileSync(go, '')
  await person.see('end')
  person.type(PAGE_UP)
  await person.see(/history: /)
  expect(person.screen()).toContain('a\u2014b')
})

test('a program that asked for the mouse has it; Shift-PageUp is the viewer’s all the same', async () => {
  const home = hm()
  const script = "stty raw -echo; printf '\\033[?1006;1000hmouse\\r\\n'; od -An -c -w9"
  await home.session('s', ['sh', '-c', script])
  const person = atTerminal(home, ['attach', 's'])
  await person.see('mouse')
  person.type('\u001b[<64;5;5M')
  await person.see('[ < 6 4 ; 5 ; 5'.replaceAll(' ', '   '))
  person.type(PAGE_UP)
  await person.see(/history: /)
  person.type('q')
  await person.see(/Ctrl-\\ detaches/)
})

test('a read-only viewer may look back too', async () => {
  const home = hm()
  await home.session(
    's',
    ['sh', '-c', 'i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo row $i; done; cat'],
    ['--pin-size'],
  )
  const person = atTerminal(home, ['attach', 's', '--read-only'])
  await person.see(/^row 100$/m)
  person.type('\u001b[<64;1;1M')
  await person.see(/history: /)
  person.type('g')
  await person.see(/^row 1$/m)
})

test('a history that takes its time is said to be read, and can be given up; one that cannot be read ends nothing', async () => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo row $i; done; cat'])
  const { supervisorPid = 0 } = readHolder(home.dir, 's') ?? {}
  const person = atTerminal(home, ['attach', 's'])
  await person.see(/^row 100$/m)
  process.kill(supervisorPid, 'SIGSTOP')
  person.type(PAGE_UP)
  await person.see(/reading the history · Esc returns/)
  person.type('\u001b')
  await person.see(/Ctrl-\\ detaches/)
  person.type(PAGE_UP)
  await person.see(/the history cannot be read/)
  process.kill(supervisorPid, 'SIGCONT')
  await person.see(/Ctrl-\\ detaches/)
  person.type('typed\r')
  await person.see(/^typed\ntyped$/m)
})

test('a terminal of one row shows the program, and no status line in its place', async () => {
  const home = hm()
  await home.session('s', ['sh', '-c', 'printf hello; cat'])
  const pane = await openPane([...launcher('hm'), 'attach', 's'], { cols: 40, rows: 1, env: { HOME: home.home } })
  await pane.see('hello')
  await pane.type(' one row')
  await pane.see(/^hello one row$/)
  // Drawn anew at each second, it stays what it is.
  await home.run(['wait', 's', '--for', 'idle'])
  expect(await pane.capture()).toEqual(['hello one row'])
})
