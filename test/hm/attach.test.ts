// hm attach in a real terminal: what a person sees, types and is left with.
import { expect, test } from 'vitest'
import { hm } from './hm.ts'
import { atTerminal } from './person.ts'

const SHELL = ['bash', '--norc', '--noprofile', '-i']

test('the screen of the session above a status line; Ctrl-\\ detaches, and the session goes on', async () => {
  const home = hm()
  await home.session('shell', SHELL)
  const person = atTerminal(home, ['attach', 'shell'])
  await person.see(/\$ *$/m)
  person.type('echo hello-$((20+3))\r')
  await person.see(/^hello-23$/m)
  expect(person.isAlternate()).toBe(true)
  expect(person.rows().at(-1)).toMatch(/^ \[hm\] shell .*Ctrl-\\ detaches $/)
  person.type('\u001c')
  expect(await person.ended).toBe(0)
  expect(person.isAlternate()).toBe(false)
  await person.see('[detached; hm attach shell returns]')

  const again = atTerminal(home, ['attach', 'shell'])
  await again.see(/\[hm\] shell/)
  again.type('exit 5\r')
  expect(await again.ended).toBe(5)
})
