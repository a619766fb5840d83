// Which session, who watches it, and what it is called.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/wait.ts'
import { hm } from './hm.ts'
import { atTerminal } from './person.ts'

const SHELL = ['bash', '--norc', '--noprofile', '-i']

test('attach without an id takes the only session, and says how it ended', async () => {
  const home = hm()
  const none = await home.run(['attach'])
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('no session runs') as string })
  await home.session('only', SHELL)
  const person = atTerminal(home, ['attach'])
  await person.see(/\[hm\] only /)
  person.type('exit 3\r')
  expect(await person.ended).toBe(3)
  await person.see('[session exited with code 3]')
})

test('attach without an id offers a choice, who waits first; without a terminal it says what there is', async () => {
  const home = hm()
  await home.session('calm', ['sh', '-c', 'echo I am calm; read x'])
  await home.session('waits', ['sh', '-c', 'printf "Proceed? [y/N] "; read x'])
  await home.run(['wait', 'waits', '--for', 'needs-input'])
  const piped = await home.run(['attach'], { stdin: '' })
  expect(piped.code).toBe(2)
  expect(piped.stderr).toContain('hint: waits, calm')
  const person = atTerminal(home, ['attach'])
  await person.see(/^1 +waits +\w+ +needs input +sh -c[^]*^2 +calm[^]*Attach to which\? \[1-2, q\]/m)
  person.type('9\r')
  await person.see(/which.*9\n.*which/)
  person.type('2\r')
  await person.see(/I am calm[^]*\[hm\] calm /)
  person.type('\u001c')
  expect(await person.ended).toBe(0)
  const other = atTerminal(home, ['attach'])
  await other.see('Attach to which?')
  other.type('q\r')
  expect(await other.ended).toBe(2)
})

test('of several viewers, the one that is typed into has the size; what its terminal sends by itself is no typing', async () => {
  const home = hm()
  await home.session('s', ['bash', '--norc', '--noprofile', '-i'])
  const desk = atTerminal(home, ['attach', 's'], { cols: 100, rows: 30 })
  await desk.see(/\$/)
  const phone = atTerminal(home, ['attach', 's'], { cols: 40, rows: 12 })
  await phone.see(/\$/)
  await desk.see(/40x11 · /)
  // Focus comes and goes wherever the person looks.
  desk.type('\u001b[I')
  phone.type('stty size\r')
  await phone.see('11 40')
  desk.type('stty size\r')
  await desk.see('29 100')
  phone.type('\u001c')
  desk.type('\u001c')
  expect(await Promise.all([phone.ended, desk.ended])).toEqual([0, 0])
})

test('detach sends the viewers away, read-only ones too; the session and those who only follow it stay', async () => {
  const home = hm()
  await home.session('s', SHELL)
  const follower = home.start(['logs', 's', '-f'])
  const people = [
    ['attach', 's'],
    ['attach', 's', '--read-only'],
    ['attach', 's', '--inline'],
  ].map((args) => atTerminal(home, args))
  for (const person of people) await person.see(/\$/)
  expect((await home.run(['detach', 's'])).stdout).toBe('Detached 3 viewer(s) from session s\n')
  for (const person of people) {
    expect(await person.ended).toBe(0)
    expect(person.isAlternate()).toBe(false)
    await person.see('[disconnected by another client; hm attach s returns]')
  }
  await home.run(['send', 's', 'echo still-$((1+1))', '--enter'])
  await follower.waitForLine('still-2')
  const first = atTerminal(home, ['attach', 's'])
  await first.see('still-2')
  const alone = atTerminal(home, ['attach', '-d', 's'])
  expect(await first.ended).toBe(0)
  await alone.see('still-2')
  // From inside, for whoever sits in front of it.
  alone.type(`${process.execPath} ${join(import.meta.dirname, '../../bin/hm')} detach\r`)
  expect(await alone.ended).toBe(0)
})

test('a renamed session goes on under its new id, for viewers, commands, its own hooks and at its end', async () => {
  const home = hm()
  await home.session('old', SHELL)
  const person = atTerminal(home, ['attach', 'old'], { cols: 100 })
  await person.see(/\[hm\] old /)
  expect((await home.run(['rename', 'old', 'new'])).stdout).toBe('Session old is now new\n')
  await person.see(/\[hm\] new /)
  expect((await home.run(['status', 'old'])).code).toBe(1)
  expect(await home.json(['status', 'new'])).toMatchObject({ id: 'new', alive: true })
  expect((await home.run(['ls'])).stdout).toMatch(/^ {2}new /m)
  // The old id is free, and belongs to whoever takes it.
  await home.session('old', ['sh', '-c', 'echo another; read x'])
  expect((await home.run(['rename', 'new', 'old'])).code).toBe(1)
  expect((await home.run(['rename', 'new', '../x'])).code).toBe(2)
  person.type(
    `clear; echo $HEIMDALL_SESSION_ID; ${process.execPath} ${join(import.meta.dirname, '../../bin/hm')} report --needs-input hook\r`,
  )
  await person.see(/^old$/m)
  await home.run(['wait', 'new', '--for', 'needs-input'])
  expect(await home.json(['status', 'old'])).toMatchObject({ needs_input: { value: false } })
  person.type('exit 4\r')
  expect(await person.ended).toBe(4)
  expect(await home.json(['status', 'new'])).toMatchObject({ id: 'new', alive: false, exit_code: 4 })
  await until('its socket to be gone', () => !existsSync(home.socket('new')))
  expect(await home.json(['status', 'old'])).toMatchObject({
    alive: true,
    command: ['sh', '-c', 'echo another; read x'],
  })
})
