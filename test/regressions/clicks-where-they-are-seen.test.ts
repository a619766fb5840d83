// A click reaches the program at the cell that the person sees under it, in the form that the program asked for; one that
// is not on the program's screen reaches nobody.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hm, type Hm } from '../hm/hm.ts'
import { atTerminal, type Person } from '../hm/person.ts'
import { until } from '../support/wait.ts'

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

const pinned = (cols: number, rows: number): string[] => ['--pin-size', '--cols', String(cols), '--rows', String(rows)]

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
