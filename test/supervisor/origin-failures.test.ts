// The measured failures of the supervisor that seed 001 describes (reference §8), each as a test that ours is immune to it.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resolveOptions } from '../../src/wire/session-options.ts'
import { readExitRecord } from '../../src/sessions/session-files.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { encodeFrame } from '../../src/wire/encode.ts'
import { descendants, fixture, isRunning, waitForTreeDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { until, waitForFile } from '../support/wait.ts'
import { type Client, sh, start } from './support/session.ts'
import { LineCheck, linesOf, writer } from './support/lines.ts'

async function check(client: Client): Promise<LineCheck> {
  const lines = new LineCheck()
  client.onOutput = (bytes) => lines.push(bytes)
  return lines
}

test('§8.1 a child that writes 200 KB and exits at once: every byte framed, then EXIT, in every run', async () => {
  for (let run = 0; run < scaled(5, 100); run += 1) {
    const session = await start(sh('read go; exec "$@"').concat('x', ...writer(200_000, 3)), {
      scrollbackBytes: 1 << 20,
    })
    const client = await session.connect()
    const lines = await check(client)
    client.subscribe()
    client.type('\n')
    expect(await client.exit()).toBe(3)
    expect([lines.isComplete, lines.lines, readExitRecord(session.dir, 't')?.exit_code]).toEqual([
      true,
      linesOf(200_000),
      3,
    ])
  }
})

test('§8.2 ordinary clients lose nothing: one, four, and one that pauses for two seconds in a burst', async () => {
  const bytes = scaled(20 << 20, 100 << 20)
  const session = await start(sh('read go; exec "$@"').concat('x', ...writer(bytes)), {
    cols: 200,
    // The pause is two seconds; how long a busy machine takes to catch up afterwards is not what is asked here.
    stallMs: 30_000,
  })
  const clients = await Promise.all(Array.from({ length: 5 }, () => session.connect()))
  const checks = await Promise.all(clients.map(check))
  for (const client of clients) client.subscribe()
  await Promise.all(clients.map((client) => client.status()))
  const [pausing] = clients
  let isPaused = false
  if (pausing !== undefined)
    pausing.onOutput = (bytes) => {
      checks[0]?.push(bytes)
      if (isPaused || (checks[0]?.lines ?? 0) < 100) return
      isPaused = true
      pausing.socket.pause()
      setTimeout(() => pausing.socket.resume(), 2_000)
    }
  clients[1]?.type('\n')
  await Promise.all(clients.map((client) => client.exit()))
  expect(isPaused).toBe(true)
  expect(checks.map(({ isComplete, lines }) => [isComplete, lines])).toEqual(checks.map(() => [true, linesOf(bytes)]))
})

test('§8.3 KILL ends an interactive shell that ignores SIGTERM, and a child that ignores everything', async () => {
  const shell = await start(['bash', '--norc', '-i'], { graceMs: 5_000, env: [{ name: 'PS1', value: 'prompt> ' }] })
  const stubborn = await start(sh('trap "" TERM HUP INT; echo ready; while :; do sleep 1; done'), { graceMs: 400 })
  const [a, b] = await Promise.all([shell.connect(), stubborn.connect()])
  for (const client of [a, b]) client.subscribe()
  await Promise.all([a.waitForOutput('prompt> '), b.waitForOutput('ready')])
  for (const client of [a, b]) client.send('kill')
  // bash went by SIGHUP (129), before the grace time that would have ended it by SIGKILL (137).
  expect(await Promise.all([a.exit(), b.exit()])).toEqual([129, 137])
})

test('§8.4 SIGTERM to the supervisor is as quick as the child', async () => {
  const session = await start(sh('echo up; sleep 1000'), { graceMs: 60_000 })
  const client = await session.connect()
  client.subscribe()
  await client.waitForOutput('up')
  process.kill(session.supervisor_pid, 'SIGTERM')
  expect(await client.exit()).toBe(143)
  await session.gone()
})

test('§8.5 jobs of an interactive shell and descendants that left the session do not survive', async () => {
  const session = await start(['bash', '--norc', '-i'], { graceMs: 1_000 })
  const client = await session.connect()
  client.subscribe()
  client.type(
    'sleep 1001 &\nsetsid sleep 1002 &\nnohup setsid sh -c "trap \'\' TERM HUP; sleep 1003; sleep 1004" >/dev/null 2>&1 &\n',
  )
  client.type('(setsid sleep 1005 &)\necho started all\n')
  await client.waitForOutput(/started all\r\n/)
  const tree = await until('the whole tree', () => {
    const found = readdirSync('/proc').filter(
      (name) => /^\d+$/.test(name) && environment(name).includes(`HOME=${session.dir}\0`),
    )
    const pids = found.map(Number).filter((pid) => pid !== session.supervisor_pid && isRunning(pid))
    return pids.length >= 6 && pids
  })
  client.send('kill')
  await client.exit()
  await session.gone()
  expect(tree.filter(isRunning)).toEqual([])
  // The two that ignore everything were there when the shell was not.
  expect(readExitRecord(session.dir, 't')?.swept).toBeGreaterThanOrEqual(2)
})

function environment(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

test('§8.6 SIGSTOP and SIGCONT of the child are harmless, and a stopped child can be killed', async () => {
  const session = await start(sh('while read line; do echo "got $line"; done'))
  const client = await session.connect()
  client.subscribe()
  process.kill(session.pid, 'SIGSTOP')
  expect(await client.status()).toMatchObject({ alive: true, pid: session.pid })
  client.type('while stopped\n')
  expect((await client.info()).alive).toBe(true)
  process.kill(session.pid, 'SIGCONT')
  await client.waitForOutput('got while stopped')
  process.kill(session.pid, 'SIGSTOP')
  client.send('kill')
  expect(await client.exit()).toBe(143)
})

test.each([20_000, 200_000, 1_000_000])(
  '§8.7 a paste of %i bytes to a child that does not read yet arrives whole',
  async (bytes) => {
    const session = await start([...fixture('pty-reader'), String(bytes), '300'])
    const client = await session.connect()
    client.subscribe({ acks: true })
    await client.waitForOutput('ready')
    const paste = Buffer.from(Array.from({ length: bytes }, (_, i) => 33 + (i % 90)))
    client.type(paste)
    expect(await client.exit()).toBe(0)
    expect(client.output()).toContain(`got ${bytes} ${createHash('sha256').update(paste).digest('hex')}`)
    const acked = client.frames.findLast((frame) => frame.name === 'ack')?.payload.readBigUInt64BE()
    expect(acked).toBe(BigInt(bytes))
  },
)

test('§8.8 INPUT frames that arrive in halves while output streams keep their boundaries', async () => {
  const folder = temporaryFolder()
  const session = await start(sh('stty -echo; echo ready; (while :; do echo noise; done) & exec cat > out'), {
    cwd: folder,
  })
  const [client, noisy, other] = await Promise.all([session.connect(), session.connect(), session.connect()])
  for (const one of [client, noisy]) {
    one.onOutput = () => undefined
    one.subscribe()
  }
  await client.waitFor('noise', () => client.outputBytes > 100_000)
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n} ${'x'.repeat(n % 7)}\n`)
  for (const [n, line] of lines.entries()) {
    const frames = Buffer.concat([encodeFrame('input', Buffer.from(line)), encodeFrame('status')])
    const half = 1 + (n % (frames.length - 1))
    await new Promise((resolve) => client.socket.write(frames.subarray(0, half), resolve))
    // Two answers to another client: whatever was in the first half's socket before them has been read.
    await other.status()
    await other.status()
    client.socket.write(frames.subarray(half))
  }
  await client.waitFor('100 answers', () => client.count('statusResp') === lines.length)
  expect(await waitForFile(join(folder, 'out'), (text) => text.length >= lines.join('').length)).toBe(lines.join(''))
})

test('§8.9 replay and live output join exactly for a client that starts to read late', async () => {
  // Writes for as long as the test goes on, and waits for its clients as long as they take.
  const session = await start(writer(Number.MAX_SAFE_INTEGER), { scrollbackBytes: 1 << 20, stallMs: 60_000 })
  const steady = await session.connect()
  steady.onOutput = () => undefined
  steady.subscribe()
  for (let n = 0; n < 4; n += 1) {
    const client = await session.connect()
    const seen: number[] = []
    let rest = ''
    client.onOutput = (bytes) => {
      const lines = (rest + bytes.toString('latin1')).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.length === 71) seen.push(Number(line.slice(0, 10)))
    }
    client.socket.pause()
    client.subscribe()
    const before = steady.outputBytes
    await steady.waitFor('output that the late one does not read', () => steady.outputBytes > before + (1 << 20))
    client.socket.resume()
    await client.waitFor('some lines', () => seen.length > scaled(15_000, 400_000))
    client.close()
    const jumps = seen.filter((line, i) => i > 0 && line !== (seen[i - 1] ?? 0) + 1)
    expect(jumps).toEqual([])
  }
})

test('§8.10 ids cannot leave the folder, the folder lets nobody in, secrets are not on disk or in argv', async () => {
  const folder = temporaryFolder()
  for (const id of ['../x', 'a/b', '.hidden', '', 'x'.repeat(65), 'a\nb', '-rf'])
    expect(() => resolveOptions({ id, socketDir: folder, cwd: '/', command: ['true'] }), id).toThrow(/not a valid id/)

  const dir = join(folder, 'sessions')
  mkdirSync(dir, { mode: 0o755 })
  await expect(start(['cat'], { socketDir: dir })).rejects.toMatchObject({ code: 'SESSION_DIR_UNSAFE' })
  mkdirSync(join(folder, 'real'), { mode: 0o700 })
  symlinkSync(join(folder, 'real'), join(folder, 'link'))
  await expect(start(['cat'], { socketDir: join(folder, 'link') })).rejects.toMatchObject({
    code: 'SESSION_DIR_UNSAFE',
  })

  const secret = 's3cret-value'
  const session = await start(['cat'], { env: [{ name: 'TOKEN', value: secret }] })
  for (const name of readdirSync(session.dir).filter((file) => statSync(join(session.dir, file)).isFile()))
    expect(readFileSync(join(session.dir, name), 'utf8'), name).not.toContain(secret)
  expect(readFileSync(`/proc/${session.supervisor_pid}/cmdline`, 'utf8')).not.toContain(secret)
})

test('§8.11 the log says something at its default level, and the state is right at the start', async () => {
  const session = await start(sh('sleep 1000'))
  expect(readFileSync(sessionPaths(session.dir, 't').log, 'utf8')).toMatch(
    /info session started: supervisor \d+, child \d+/,
  )
  const client = await session.connect()
  expect((await client.info()).state).toBe('idle')
})

test('a supervisor killed with SIGKILL takes its tree with it or leaves it to be settled by the next start', async () => {
  const session = await start(
    sh('trap "" HUP TERM; setsid sh -c "trap \'\' HUP TERM; sleep 1000; :" & sleep 1001; sleep 1002'),
  )
  const tree = await until('the tree', () => {
    const found = descendants(session.supervisor_pid)
    return found.length >= 4 && found
  })
  process.kill(session.supervisor_pid, 'SIGKILL')
  await session.gone()
  expect(existsSync(sessionPaths(session.dir, 't').pid)).toBe(true)
  const next = await start(['cat'], { socketDir: session.dir })
  await waitForTreeDeath(session.supervisor_pid, tree)
  expect(next.id).toBe('t')
})
