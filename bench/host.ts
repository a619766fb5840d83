// A key typed into a session of another machine and its echo, against the same program in a plain `ssh -t`, over one sshd on the loopback (scripts/install-sshd.sh).
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openConnection } from '../src/client/connection.ts'
import { systemClock } from '../src/clock.ts'
import { RemoteSession } from '../src/sessions/remote/remote-session.ts'
import { startSshd } from '../test/support/sshd.ts'
import { runBench } from './support/bench.ts'

const KEYS = 300
const ECHO = ['sh', '-c', 'stty raw -echo; printf R; exec cat']

/** The median of many keys, each typed when the one before it has come back. */
async function keys(type: (key: string) => void, next: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < KEYS; n += 1) {
    const start = systemClock.monoMs()
    type('x')
    await next()
    times.push(systemClock.monoMs() - start)
  }
  return (times.sort((a, b) => a - b)[KEYS / 2] ?? 0) * 1_000
}

/** The same way with nothing of ours on it: no frames, no screen, no offsets, nothing that comes back. */
async function bareRelay(socket: string, env: { readonly PATH: string; readonly HOME: string }) {
  const relay = [process.execPath, resolve('bench/support/bare-relay.mjs')] as const
  const server = spawn(relay[0], [relay[1], 'serve', socket, ...ECHO], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(server.stdout, 'data')
  const line = spawn('ssh', ['-T', 'box', ...relay, 'join', socket], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const echoed = (): Promise<unknown> => once(line.stdout, 'data')
  await echoed()
  return {
    type: (key: string) => void line.stdin.write(key),
    echoed,
    stop: () => {
      line.kill()
      server.kill()
    },
  }
}

await runBench({
  name: 'host',
  about: 'hm --host over an sshd of this machine',
  async prepare() {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'hm-')))
    const [home, here] = [join(root, 'box'), join(root, 'here')]
    for (const folder of [home, here]) execFileSync('mkdir', ['-p', folder])
    const hm = [process.execPath, resolve('bin/hm')] as const
    const sshd = await startSshd(join(root, 'sshd'), home, hm)
    const there = (...args: string[]): void =>
      void execFileSync(hm[0], [hm[1], ...args], { env: { PATH: process.env['PATH'], HOME: home, TERM: 'xterm' } })
    there('run', '--id', 'echo', '--detach', '--', ...ECHO)
    const env = { PATH: sshd.env.PATH, HOME: here }
    const session = await RemoteSession.find({ host: 'box', env, clock: systemClock }, 'echo')
    const connection = await openConnection(session)
    const events = connection.subscribe({ from: 'live' })
    const shown = async (): Promise<void> => {
      for (;;) {
        const { value } = await events.next()
        if (value?.type === 'output') return
      }
    }
    const plain = spawn('ssh', ['-tt', 'box', ECHO.map((word) => `'${word}'`).join(' ')], { env })
    const echoed = (): Promise<unknown> => new Promise((resolve) => plain.stdout.once('data', resolve))
    await echoed()
    const bare = await bareRelay(join(root, 'bare'), env)
    return {
      comparisons: [
        {
          what: 'a key and its echo',
          unit: 'µs',
          rounds: 7,
          ours: { name: 'hm --host', measure: () => keys((key) => void connection.input(key), shown) },
          peers: [
            {
              name: 'ssh -t',
              measure: () => keys((key) => void plain.stdin.write(key), echoed),
              goal: { atMost: 1.3 },
            },
            // Without a goal: what is left to us is what we are above this.
            { name: 'ssh, a bare relay and terminal in Node', measure: () => keys(bare.type, bare.echoed) },
          ],
        },
      ],
      cleanup: async () => {
        connection.close()
        plain.kill()
        bare.stop()
        there('kill', '--wait', 'echo')
        sshd.stop()
        rmSync(root, { recursive: true, force: true })
      },
    }
  },
})
