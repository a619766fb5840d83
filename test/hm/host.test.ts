// hm --host: sessions of another machine over ssh, here through a stand-in for the ssh program. A real sshd is in test/hm/sshd.test.ts.
import { connect } from 'node:net'
import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { openConnection } from '../../src/client/connection.ts'
import { systemClock } from '../../src/clock.ts'
import { parseSshHost } from '../../src/sessions/remote/ssh.ts'
import { ReturningLine } from '../../src/sessions/remote/returning-line.ts'
import { readExitRecord } from '../../src/sessions/session-files.ts'
import type { SubscribeOptions } from '../../src/wire/payloads.ts'
import { scaled } from '../support/scale.ts'
import { standInSsh } from '../support/stand-in-ssh.ts'
import { until } from '../support/wait.ts'
import { hm } from './hm.ts'
import { atTerminal } from './person.ts'

test('ls, peek, send, logs and kill reach a session of another machine', async () => {
  const box = hm()
  const here = hm()
  const ssh = standInSsh(box.home)
  await box.session('api', ['sh', '-c', 'echo ready; exec cat'])
  const over = (args: readonly string[]) => here.run(['--host', 'box', ...args], { env: ssh.env })

  expect((await here.run(['ls'])).stdout).toBe('No active sessions\n')
  expect((await over(['ls'])).stdout).toMatch(/^Active sessions:\n {2}api /)
  expect((await over(['peek', 'api'])).stdout).toBe('ready\n')
  const sent = await over(['send', 'api', 'it’s "here"; $(false)', '--enter'])
  expect(sent).toMatchObject({ code: 0, stderr: '' })
  await until('the echo', async () => (await box.run(['peek', 'api'])).stdout.includes('it’s "here"; $(false)\nit’s'))
  expect((await over(['logs', 'api'])).stdout).toContain('$(false)')
  expect(await over(['kill', 'api', '--wait'])).toMatchObject({
    code: 0,
    stdout: 'Session api ended with exit code 143\n',
  })
  // What it said is there after its end, and an id that nobody has is refused as it is there.
  expect((await over(['logs', 'api'])).stdout).toContain('ready')
  expect(await over(['peek', 'nobody'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('box: No session found: nobody'),
  })
  for (const call of ssh.calls()) expect(call).toMatch(/ -o ControlPath=\S+ -o ControlPersist=60 -- box hm pipe/)
})

test('a name that ssh or a shell would take for more than a name is refused before ssh is asked', async () => {
  for (const name of [
    '-oProxyCommand=x',
    '--',
    '-',
    '',
    'box;reboot',
    'a b',
    'box\n',
    '$(x)',
    '@box',
    'a@b@c',
    '[::1]',
  ])
    expect(() => parseSshHost(name), name).toThrow(/is not the name of a machine/)
  for (const name of ['box', 'ana@box.example', '10.0.0.7', 'fe80::1', 'box_2']) expect(parseSshHost(name)).toBe(name)
  const here = hm()
  const ssh = standInSsh(here.home)
  const { code, stderr } = await here.run(['--host', '-oProxyCommand=touch owned', 'ls'], { env: ssh.env })
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('is not the name of a machine') })
  expect(ssh.calls()).toEqual([])
})

test('a machine that is away, or has no hm, is said to be so', async () => {
  const here = hm()
  const ssh = standInSsh(here.home)
  ssh.away(true)
  const { code, stdout } = await here.run(['--host', 'box', '--json', 'ls'], { env: ssh.env })
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({
    code: 1,
    error: { code: 'REMOTE_UNREACHABLE', message: expect.stringContaining('Network is unreachable') },
  })
})

test('a viewer whose line is cut again and again sees every byte once, to the end that came while it was away', async () => {
  const box = hm()
  const here = hm()
  const ssh = standInSsh(box.home)
  await box.session('api', ['sh', '-c', 'read go; seq 1 4000; read go; seq 4001 6000; exit 3'])
  ssh.cutAfter([900, 5, 4_000, 9_000, 700])
  const logs = here.start(['--host', 'box', 'logs', 'api', '-f', '--raw'], { env: ssh.env })
  await until('the viewer to be there', () => ssh.calls().length > 0)
  await box.run(['send', 'api', '--enter'])
  await logs.waitForLine('4000\r')
  ssh.away(true)
  ssh.cut()
  await box.run(['send', 'api', '--enter'])
  await until('its end', () => readExitRecord(box.dir, 'api') !== undefined)
  ssh.away(false)
  const { stdout, code } = await logs.ended
  const all = Array.from({ length: 6_000 }, (_, n) => `${n + 1}\r\n`)
  expect(stdout.replaceAll(/^\r\n/gm, '').split('\n')).toEqual(all.join('').split('\n'))
  expect(code).toBe(0)
  expect(ssh.calls().length).toBeGreaterThan(5)
})

test('attached over ssh: typed, seen, cut, come back to, and left with the exit code', async () => {
  const box = hm()
  const here = hm()
  const ssh = standInSsh(box.home)
  await box.session('shell', ['bash', '--norc', '--noprofile', '-i'])
  const person = atTerminal(here, ['--host', 'box', 'attach', 'shell'], { extraEnv: ssh.env })
  await person.see(/\$ *$/m)
  person.type('echo one-$((1+1))\r')
  await person.see(/^one-2$/m)
  ssh.away(true)
  ssh.cut()
  await person.see('connection lost')
  // Typed into the gap, and not lost.
  person.type('echo two-$((1+1))\r')
  ssh.away(false)
  await person.see(/^two-2$/m)
  expect(person.screen().match(/^one-2$/gm)).toHaveLength(1)
  person.type('exit 7\r')
  expect(await person.ended).toBe(7)
})

/** A socket that ends after so many bytes. */
function cutOff(path: string, bytes: number): Duplex {
  const socket = connect(path)
  let left = bytes
  const line = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _encoding, done) => void socket.write(chunk, done),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    },
  })
  socket.on('data', (chunk: Buffer) => {
    line.push(chunk.subarray(0, left))
    left -= chunk.length
    if (left <= 0) line.destroy()
  })
  socket.on('close', () => line.destroy()).on('error', () => line.destroy())
  return line
}

test('cut after any number of bytes, again and again, nothing is lost and nothing comes twice', async () => {
  const box = hm()
  await box.session('s', ['sh', '-c', 'seq 1 200; printf end; sleep 1000'])
  await until('its output', async () => (await box.run(['peek', 's'])).stdout.includes('end'))
  const whole = Array.from({ length: 200 }, (_, n) => `${n + 1}\r\n`).join('') + 'end'
  const from: Partial<SubscribeOptions>[] = [
    { from: 0 },
    { from: 'scrollback' },
    { from: 'scrollback', replayEnd: true },
  ]
  for (const options of from)
    for (let bytes = scaled(101, 2); bytes < whole.length + 60; bytes += scaled(149, 1)) {
      // Every time a little further, or there would never be an end.
      let lines = 0
      const line = (): Duplex => cutOff(box.socket('s'), bytes * (lines += 1))
      const returning = new ReturningLine({
        first: line(),
        again: async () => ({ line: line() }),
        clock: systemClock,
        tell: () => undefined,
      })
      using connection = await openConnection({ name: 's', open: async () => returning })
      let seen = ''
      for await (const event of connection.subscribe({ ...options, gaps: true })) {
        if (event.type === 'output') seen += event.bytes.toString()
        if (seen.endsWith('end') || event.type === 'gap') break
      }
      expect(seen, `cut after ${bytes}`).toBe(whole)
    }
})
