// How a shim ends: unread input, servers that hang up, last lines, signals, and a slow event reader (seed 004 §1.1, §1.7, §6.3).
import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { isErrno } from '../../src/errors.ts'
import { EventText } from '../../src/events/event-text.ts'
import type { RunStart } from '../../src/events/types.ts'
import { UPSTREAM_DRAIN_MS } from '../../src/limits.ts'
import { openEventFile } from '../../src/runs/event-file.ts'
import { EventWriter } from '../../src/runs/event-writer.ts'
import { soloRecord } from '../../src/runs/solo-record.ts'
import { fastClock } from '../support/fake-clock.ts'
import { fixture, isRunning, waitForDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import {
  bundle,
  checkBooks,
  deny,
  type Json,
  ofType,
  parseLines,
  type ShimClient,
  startShim,
  tool,
  toolCall,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

// Input that is never read, servers that close and live on, last lines without a newline, ids in another spelling.
describe('ends', () => {
  /** A server in a few lines of JavaScript. */
  const server = (script: string): readonly string[] => [process.execPath, '-e', script]
  const LIVES = 'setInterval(() => {}, 1000);'
  const status = (events: readonly Json[]): string => ofType(events, 'run_end')[0]?.['run'].status as string

  const small = (count: number): object[] =>
    Array.from({ length: count }, (_, id) => toolCall(id, 'echo', { text: 'x'.repeat(900) }))

  test.each([
    ['one call', small(1)],
    ['calls that fill its pipe', small(100)],
    ['calls that fill every buffer', small(1_000)],
    ['a call that is held on disk', [toolCall('large', 'echo', { text: 'x'.repeat(3_000_000) }), ...small(100)]],
  ])(
    'the end of input behind %s that the server does not read waits for the grace time, not for the server (seed 004 §6.3)',
    async (_, calls) => {
      const shim = startShim({
        server: fixture('shim-book'),
        env: { READS_NOTHING: '1', BOOK: '/dev/null' },
        clock: fastClock(20),
      })
      for (const one of calls) shim.send(one)
      // The server never ends: whoever waited for it would take the time-out of the test.
      const { code, events } = await shim.end()
      expect(code).toBe(0)
      expect(ofType(events, 'tool_call_end')).toHaveLength(ofType(events, 'tool_call_start').length)
      expect(ofType(events, 'tool_call_decision').length).toBeGreaterThan(0)
    },
  )

  const NEVER = { jsonrpc: '2.0', id: 'first', method: 'initialize', params: {} }

  test.each([
    ['cannot be found', ['/nowhere/at/all'], 127, /^the server could not be started: .*ENOENT/],
    ['ends at once', server('process.exit(3)'), 3, /^the server exited with code 3$/],
    ['ends when it is asked', server('process.stdin.once("data", () => process.exit(4))'), 4, /exited with code 4$/],
  ])('a server that %s: the client hears why, also of a request that is no call', async (_, command, code, why) => {
    const shim = startShim({ server: command })
    shim.send(NEVER)
    const answer = await shim.answer('first')
    expect(answer['error']).toMatchObject({ code: -32_603, message: expect.stringMatching(why) })
    const ended = await shim.end()
    expect(ended.code).toBe(code)
    expect(status(ended.events)).toBe('FAILED')
  })

  test('an answer in progress when input ends is sent whole, however long it takes (seed 004 §1.10)', async () => {
    // Half of it, and the rest in pieces over twice the time that an idle server gets.
    const pieces = 8
    const slow = `const piece = "x".repeat(200000)
    process.stdin.once("data", (line) => {
      process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{"text":"')
      let sent = 0
      const next = () => {
        if (sent++ < ${pieces}) process.stdout.write(piece, () => setTimeout(next, ${UPSTREAM_DRAIN_MS / 4}))
        else process.stdout.write('"}}\\n')
      }
      next()
    }); ${LIVES}`
    const shim = startShim({ server: server(slow), ownProcess: true })
    shim.send(toolCall(1, 'echo'))
    await until('the answer to begin', () => shim.program.stdout().length > 0)
    const { lines, events } = await shim.end()
    expect(lines).toEqual([{ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(pieces * 200_000) } }])
    expect(ofType(events, 'tool_call_end').map(({ status: how }) => how as string)).toEqual(['OK'])
  })

  test('the ends of 17,000 open calls are all recorded (seed 004 §1.7)', async () => {
    const calls = 17_000
    const shim = startShim({
      server: server(`process.stdin.resume(); ${LIVES}`),
      bin: 'heimdall',
      clock: fastClock(20),
    })
    shim.send(Array.from({ length: calls }, (_, id) => JSON.stringify(toolCall(id, 'echo'))).join('\n'))
    const { events } = await shim.end()
    expect(ofType(events, 'tool_call_start')).toHaveLength(calls)
    expect(ofType(events, 'tool_call_end')).toHaveLength(calls)
    expect(checkBooks(events)).toEqual([])
  })

  test('a client killed with 1.5 MiB that the server has not read: shim and server end (seed 004 §6.3)', async () => {
    const folder = temporaryFolder()
    const pidFile = join(folder, 'pids')
    // The client is not the parent of the shim: its death shows only at the end of the pipe.
    const client = `
      const { spawn } = require('node:child_process')
      const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x'.repeat(900) } } }) + '\\n'
      setInterval(() => {}, 1000)
      for (let n = 0; n < 1700; n += 1) process.stdout.write(call)`
    const serverScript = `console.log('{"jsonrpc":"2.0","method":"notifications/ready"}'); require("fs").appendFileSync(${JSON.stringify(pidFile)}, "server " + process.pid + "\\n"); ${LIVES}`
    const shimLine = `mkfifo ${folder}/in; ("$NODE" -e "$CLIENT" > ${folder}/in & echo "client $!" >> ${pidFile}; wait) & exec "$@" < ${folder}/in`
    const shim = startShim({
      server: server(serverScript),
      wrap: ['sh', '-c', shimLine, 'sh'],
      env: { NODE: process.execPath, CLIENT: client },
    })
    const pid = (who: string): number | undefined => {
      const found = new RegExp(`^${who} (\\d+)$`, 'm').exec(existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : '')
      return found === null ? undefined : Number(found[1])
    }
    const serverPid = await until('the server to start', () => pid('server'))
    const clientPid = await until('the client to start', () => pid('client'))
    await until('calls to wait for the server', () => ofType(shim.events(), 'tool_call_decision').length > 50)
    process.kill(clientPid, 'SIGKILL')
    await shim.program.ended
    await waitForDeath(serverPid)
  })

  test('a request that was given up is not answered by the end of the server', async () => {
    const shim = startShim({
      server: server(`process.stdin.on("data", (d) => String(d).includes("go") && process.exit(0)); ${LIVES}`),
    })
    shim.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    shim.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    shim.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    shim.send({ jsonrpc: '2.0', method: 'notifications/go' })
    await shim.answer(2)
    const { lines } = await shim.end()
    expect(lines.map(({ id }) => id as number)).toEqual([2])
  })

  test('the end of input behind many calls waits for a server that reads, however long it takes', async () => {
    // Half a millisecond for each call: together twice what a server gets that stands still. It answers one call in each turn:
    // what a turn writes beyond the room of the pipe is sent when the turn is over, and until then it seems to stand still.
    const slow = `const still = new Int32Array(new SharedArrayBuffer(4))
    const lines = []
    const answer = () => {
      Atomics.wait(still, 0, 0, 0.5)
      process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(lines.shift()).id, result: {} }) + "\\n")
      if (lines.length > 0) setImmediate(answer)
    }
    require("readline").createInterface(process.stdin).on("line", (line) => {
      if (lines.push(line) === 1) setImmediate(answer)
    })`
    const shim = startShim({ server: server(slow) })
    const calls = 4_000
    // Once it reads at all: one that is still starting stands still, too.
    await shim.call('echo', {}, 0)
    shim.send(Array.from({ length: calls - 1 }, (_, id) => JSON.stringify(toolCall(id + 1, 'echo'))).join('\n'))
    const { code, events } = await shim.end()
    expect(code).toBe(0)
    const ends = ofType(events, 'tool_call_end').map((event) => event['status'] as string)
    expect(ends.filter((one) => one === 'OK')).toHaveLength(calls)
  })

  /** Answers a line every so often, the first one no sooner than that. */
  const everySoOften = (ms: number): readonly string[] =>
    server(`const lines = []
    require("readline").createInterface(process.stdin).on("line", (line) => lines.push(line))
    setInterval(() => {
      if (lines.length > 0) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(lines.shift()).id, result: {} }) + "\\n")
    }, ${ms})`)

  test('the end of input behind calls waits for a server that is still starting', async () => {
    // Longer than one gets that has spoken before and stands still.
    const shim = startShim({ server: everySoOften(2 * UPSTREAM_DRAIN_MS) })
    shim.send(toolCall(1, 'echo'))
    const { code, lines, events } = await shim.end()
    expect(code).toBe(0)
    expect(lines).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
    expect(ofType(events, 'tool_call_end').map((event) => event['status'] as string)).toEqual(['OK'])
  })

  test('a signal ends a shim also while it waits for the last answers', async () => {
    // Minutes of answers.
    const shim = startShim({ server: everySoOften(200) })
    for (let id = 0; id < 1_000; id += 1) shim.send(toolCall(id, 'echo'))
    shim.program.stdin.end()
    await shim.answer(2)
    shim.program.kill('SIGTERM')
    await shim.program.ended
    expect(ofType(shim.events(), 'run_end')).toHaveLength(1)
  })

  test('a server that closes its input and exits later is reported by its exit', async () => {
    const shim = startShim({ server: ['sh', '-c', 'exec <&-; sleep 0.8; exit 3'] })
    shim.send(toolCall(1, 'echo'))
    expect(await shim.answer(1)).toMatchObject({ error: { message: 'the server exited with code 3' } })
    expect((await shim.program.ended).code).toBe(3)
  })

  test.each(['SIGUSR2', 'SIGTERM', 'SIGINT', 'SIGHUP'])(
    '%s before the shim is ready is a signal like any other',
    async (name) => {
      // The server is started first, and tells its parent at once.
      const [node, ...args] = fixture('shim-upstream')
      const shim = startShim({
        ownProcess: true,
        server: ['sh', '-c', `kill -${name.slice(3)} $PPID; exec "$0" "$@"`, node, ...args],
      })
      if (name === 'SIGUSR2') {
        expect(await shim.call('echo')).toMatchObject({ result: {} })
        expect((await shim.end()).code).toBe(0)
        return
      }
      const { code, signal } = await shim.program.ended
      expect({ code, signal }).toEqual({ code: { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[name], signal: null })
      expect(status(shim.events())).toBe('CANCELLED')
    },
  )

  test.each([['output', `require("fs").closeSync(1);${LIVES}process.stdin.resume()`]])(
    'a server that closes its %s and lives on ends the run as failed, with every call answered',
    async (_, script) => {
      const shim = startShim({ server: server(script), clock: fastClock(10) })
      shim.send(toolCall(1, 'echo'))
      expect(await shim.answer(1)).toMatchObject({ error: { code: -32_603 } })
      const { code } = await shim.program.ended
      expect(code).not.toBe(0)
      expect(status(shim.events())).toBe('FAILED')
      expect(ofType(shim.events(), 'tool_call_end')[0]).toMatchObject({
        status: 'ERROR',
        error: { class: 'transport' },
      })
    },
  )

  test('a server that closes its input with a call unread is noticed with the next message', async () => {
    const script = `setTimeout(() => { require("fs").closeSync(0); process.stdout.write('{"jsonrpc":"2.0","method":"closed"}\\n') }, 300);${LIVES}`
    const shim = startShim({ server: server(script), clock: fastClock(10) })
    shim.send(toolCall(1, 'echo'))
    await until('the notification', () => shim.program.stdout().includes('closed'))
    shim.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
    expect(await shim.answer(1)).toMatchObject({ error: { code: -32_603 } })
    await shim.program.ended
    expect(status(shim.events())).toBe('FAILED')
  })

  test('a last line without its newline is judged, recorded, and sent on as it came or refused', async () => {
    const endWith = async (line: object): Promise<{ shim: ShimClient; events: Json[] }> => {
      const shim = startShim({ policy: bundle([deny('no', tool('denied'))]) })
      await shim.call('echo')
      shim.program.stdin.end(JSON.stringify(line))
      await shim.program.ended
      return { shim, events: shim.events() }
    }
    const passed = await endWith(toolCall(1, 'echo', { last: true }))
    expect(passed.shim.received().endsWith(JSON.stringify(toolCall(1, 'echo', { last: true })))).toBe(true)
    expect(checkBooks(passed.events)).toEqual([])
    expect(ofType(passed.events, 'tool_call_decision')).toHaveLength(2)
    const refused = await endWith(toolCall(1, 'denied'))
    expect(await refused.shim.answer(1)).toMatchObject({ error: { code: -32_081 } })
    expect(refused.shim.received()).not.toContain('denied')
    expect(ofType(refused.events, 'tool_call_decision')).toHaveLength(2)
    const large = await endWith(toolCall(1, 'echo', { text: 'x'.repeat(1_200_000) }))
    expect(ofType(large.events, 'tool_call_decision')).toHaveLength(2)
    expect(large.shim.received().length).toBeGreaterThan(1_200_000)
  })

  /** Answers the first line with each of these, in turn, whatever it says. */
  const answers = (...lines: string[]): readonly string[] =>
    server(`process.stdin.once("data",()=>process.stdout.write(${JSON.stringify(`${lines.join('\n')}\n`)}));${LIVES}`)

  const call = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t"}}`
  const deep = `${'['.repeat(5_000)}"]\\"["${']'.repeat(5_000)}`

  test.each([
    ['1.50 comes back as 1.5', call('1.50'), '{"jsonrpc":"2.0","id":1.5,"result":{}}'],
    ['beyond 2^53', call('9007199254740993'), '{"jsonrpc":"2.0","id":9007199254740992,"result":{}}'],
    ['far beyond', call('12345678901234567890'), '{"jsonrpc":"2.0","id":12345678901234567000,"result":{}}'],
    ['an exponent', call('1e2'), '{"jsonrpc":"2.0","id":100,"result":{}}'],
    ['deep inside', call('1'), `{"jsonrpc":"2.0","result":{"structuredContent":${deep}},"id":1}`],
    [
      'under the id of a request that is never answered',
      `{"jsonrpc":"2.0","id":1,"method":"resources/list"}\n${call('1')}`,
      '{"jsonrpc":"2.0","id":1,"result":{}}',
    ],
  ])('an answer closes its call in the books: %s', async (_, lines, answer) => {
    const shim = startShim({ server: answers(answer) })
    shim.send(lines)
    await until('the answer', () => shim.program.stdout().includes('"result"'))
    const { events, lines: out } = await shim.end()
    expect(out).toHaveLength(1)
    expect(ofType(events, 'tool_call_end').map((event) => event['status'] as string)).toEqual(['OK'])
    expect(checkBooks(events)).toEqual([])
  })

  test('two ids that are one to most readers are told apart where the server tells them apart', async () => {
    const [a, b] = ['9007199254740993', '9007199254740992']
    const shim = startShim({
      server: answers(
        `{"jsonrpc":"2.0","id":${b},"error":{"code":1,"message":"b"}}`,
        `{"jsonrpc":"2.0","id":${a},"result":{}}`,
      ),
    })
    shim.send(`${call(a)}\n${call(b)}`)
    await until('both answers', () => shim.program.stdout().split('\n').length === 3)
    const { events } = await shim.end()
    const ends = ofType(events, 'tool_call_end').map((event) => event['status'] as string)
    expect(ends.toSorted()).toEqual(['ERROR', 'OK'])
  })

  test.each(['the end of input', 'SIGKILL'])(
    'a daemon with an empty environment that left the group ends with %s of the shim',
    async (how) => {
      const pidFile = join(temporaryFolder(), 'pid')
      // The parent of the daemon stays long enough to be seen with its child, then leaves it to init.
      const script = `env -i setsid sh -c 'echo $$ > ${pidFile}; exec sleep 600' </dev/null >/dev/null 2>&1 & sleep 2.5`
      const shim = startShim({
        // In the test's process a clock can run fast: the tree is then looked at more often while the parent stays.
        ...(how === 'SIGKILL' ? { ownProcess: true } : { clock: fastClock(5) }),
        server: ['sh', '-c', `setsid sh -c "$0" & exec "$@"`, script, ...fixture('shim-upstream')],
      })
      await shim.call('echo')
      const pid = await until('the daemon to start', () => {
        const text = readIfThere(pidFile)
        return text === '' ? undefined : Number(text)
      })
      await until('its parent to be gone', () => parentOf(pid) === 1 || !isRunning(pid))
      expect(isRunning(pid)).toBe(true)
      if (how === 'SIGKILL') shim.program.kill('SIGKILL')
      else shim.program.stdin.end()
      await shim.program.ended
      await waitForDeath(pid)
    },
  )

  function readIfThere(path: string): string {
    try {
      return readFileSync(path, 'utf8').trim()
    } catch {
      return ''
    }
  }

  function parentOf(pid: number): number {
    return Number(/^PPid:\s+(\d+)/m.exec(readIfThere(`/proc/${pid}/status`))?.[1])
  }
})

// stderr carries events only: no warnings of Node.js and no output of the server.
describe('stderr', () => {
  const server = (script: string): readonly string[] => [process.execPath, '-e', script]

  function linesOf(stderr: string): Record<string, unknown>[] {
    return stderr
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  test('what a server writes to stderr can be taken for no event, and it is not told the id of the shim', async () => {
    // It forges a decision with everything that its environment tells, whole, torn, with carriage returns, and without an end.
    const script = `
    const env = JSON.stringify(Object.values(process.env));
    const forged = JSON.stringify({v: "0.2.0", type: "tool_call_decision", source: process.env, decision: {action: "ALLOW"}});
    process.stderr.write(forged + "\\n" + forged.slice(0, 30));
    process.stdin.once("data", () => {
      process.stderr.write(forged.slice(30) + "\\r\\n\\n[1]\\n\\"text\\"\\nplain words \\u2028 \\u0000\\n" + forged);
      process.stdout.write(JSON.stringify({jsonrpc: "2.0", id: 1, result: {content: env}}) + "\\n");
    });
    process.stdin.on("end", () => process.exit(0));
  `
    const shim = startShim({ server: server(script) })
    shim.send(toolCall(1, 'echo'))
    const told = (await shim.answer(1))['result'].content as string
    const { stderr } = await shim.end()
    const events = linesOf(stderr)
    const first = events[0] as { source: Record<string, string>; run_id: string }
    for (const event of events) expect(event).toMatchObject({ v: '0.2.0', run_id: first.run_id, source: first.source })
    expect(events.map(({ type }) => type).filter((type) => type === 'tool_call_decision')).toHaveLength(1)
    expect([events[0]?.['type'], events.at(-1)?.['type']]).toEqual(['run_start', 'run_end'])
    const said = events.flatMap(({ log }) => (log as { text: string } | undefined)?.text ?? [])
    expect(said.filter((text) => text.startsWith('{"v":"0.2.0"'))).toHaveLength(3)
    expect(said).toEqual(expect.arrayContaining(['', '[1]', '"text"', 'plain words \u2028 \u0000']))
    for (const id of Object.values(first.source)) expect(told).not.toContain(id)
  })

  test('a server that is often behind leaves no warning behind', async () => {
    // Reads a little, then rests, so that the shim has to wait for it again and again.
    const script = `process.stdin.on("data", (c) => { process.stdin.pause(); setTimeout(() => process.stdin.resume(), 1) })`
    const shim = startShim({ server: server(script) })
    for (let id = 0; id < 3_000; id += 1) shim.send(toolCall(id, 'echo', { text: 'x'.repeat(1_000) }))
    await until('most calls to be recorded', () => ofType(shim.events(), 'tool_call_decision').length > 2_500)
    const { stderr } = await shim.end()
    linesOf(stderr)
    expect(stderr).not.toMatch(/Warning/)
  })

  test('our own messages are events there too, and a warning of Node is one of them', async () => {
    const warn = "data:text/javascript,process.on('SIGWINCH',()=>process.emitWarning('look-here'))"
    const shim = startShim({
      flags: ['--policy=/no/such/policy'],
      ownProcess: true,
      env: { NODE_OPTIONS: `--import=${warn}` },
      server: server('process.stdin.resume()'),
    })
    await until('the first event', () => ofType(shim.events(), 'policy_loaded').length > 0)
    shim.program.kill('SIGWINCH')
    await until('the warning', () => shim.program.stderr().includes('look-here'))
    const { stderr } = await shim.end()
    const logs = linesOf(stderr).flatMap(({ log }) =>
      log === undefined ? [] : [log as { from: string; text: string }],
    )
    const own = logs.filter(({ from }) => from === 'shim').map(({ text }) => text)
    expect(own[0]).toContain('/no/such/policy')
    expect(own.at(-1)).toBe('Warning: look-here')
  })

  test('without events there, stderr is the server’s own, byte for byte', async () => {
    const shim = startShim({
      bin: 'heimdall',
      server: server('process.stderr.write("a\\n{\\"v\\":1}\\nb");process.stdin.resume()'),
    })
    await until('its words', () => shim.program.stderr().includes('b'))
    const { stderr } = await shim.end()
    expect(stderr).toBe('a\n{"v":1}\nb')
  })
})

// run_end waits for a full event pipe.
const start: RunStart = {
  started_at: '2026-01-02T03:04:05.000Z',
  mode: 'guardrails',
  policy: { policy_id: 'p', policy_version: '1', policy_hash: 'none' },
}

/** Reads until the last writer has closed the pipe, and lets others run while there is nothing. */
async function readAll(fd: number): Promise<string> {
  const block = Buffer.alloc(4_096)
  const blocks: Buffer[] = []
  for (;;) {
    await setImmediate()
    try {
      const count = readSync(fd, block, 0, block.length, null)
      if (count === 0) return Buffer.concat(blocks).toString()
      blocks.push(Buffer.from(block.subarray(0, count)))
    } catch (error) {
      if (!isErrno(error, 'EAGAIN')) throw error
    }
  }
}

// From well below to above what a pipe holds, so that at one of them the rest fits and run_end does not.
test.each(Array.from({ length: 20 }, (_, n) => 63_000 + n * 200))(
  'a pipe with %i bytes in it is closed when its reader has everything',
  async (bytes) => {
    const path = join(temporaryFolder(), 'events')
    execFileSync('mkfifo', [path])
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const file = openEventFile(path)
    const source = { host_id: 'h', proc_id: 'p', shim_id: 's' }
    const identity = { run_id: 'r', agent_id: 'a', client: 'custom', env: 'dev', source } as const
    const text = new EventText(identity, () => systemClock.wallMs())
    const record = { ...soloRecord(text, start, systemClock, file.out), close: file.close }
    const onTrouble = (error: Error | null): void => expect(error).toBeNull()
    const writer = new EventWriter({ record, lines: text.lines, clock: systemClock, onTrouble })
    text.shimHealth({ text: 'x'.repeat(bytes) })
    writer.added()
    const closed = writer.close('SUCCEEDED')
    const events = parseLines(await readAll(reader))
    await closed
    closeSync(reader)
    expect(events.map(({ type }) => type)).toEqual(['run_start', 'shim_health', 'run_end'])
  },
)
