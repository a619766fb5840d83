// Bytes through the shim are the bytes that were sent: random traffic, in random pieces, in both directions at once.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { fixture, launcher } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { checkBooks, parseLines } from '../support/shim-client.ts'

const MIB = 1 << 20

/** A small generator of numbers, so that a failure can be repeated from its seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function randomText(random: () => number, length: number): string {
  const alphabet = ['a', 'Z', '0', ' ', '\\"', '\\\\', '\\u00e9', 'é', '😀', '\\n', '{', '}', '[', ':', ',', '\u2028']
  let text = ''
  while (text.length < length)
    text += (alphabet[Math.floor(random() * alphabet.length)] ?? 'a').repeat(1 + Math.floor(random() * 9))
  return text
}

/** A line of some kind that a client may send: calls and others, small and large, in odd spellings. */
function randomLine(random: () => number, id: number): string {
  const kind = random()
  const size = kind > 0.995 ? Math.floor(random() * 3 * MIB) : Math.floor(random() ** 4 * 40_000)
  const space = random() < 0.3 ? '  ' : ''
  const text = randomText(random, size)
  if (kind < 0.1) return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"t":"${text}"}}`
  if (kind < 0.2) return `{"id":${id},${space}"result":{"t":"${text}"},"jsonrpc":"2.0"}`
  if (kind < 0.3) return `{"jsonrpc":"2.0","id":"r-${id}","method":"resources/read","params":{"uri":"${text}"}}`
  if (kind < 0.35) return space
  return `{${space}"jsonrpc":"2.0","id":${id},"method":"tools/call",${space}"params":{"name":"echo","arguments":{"t":"${text}","n":1.50}}}`
}

test('random traffic is byte-identical both ways, and its books are right', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const random = randomFrom(seed)
  const total = scaled(6, 1_024) * MIB
  const [node, bin] = launcher('sub')
  // The mirror sends every byte back as it came: what was sent must come back, and nothing else.
  const child = spawn(node, [bin, 'shim', '--server-name=mirror', '--', ...fixture('shim-mirror')], {
    stdio: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', HOME: temporaryFolder() },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let tail = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-100_000)
  })
  const received = createHash('sha256')
  let receivedBytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    received.update(chunk)
    receivedBytes += chunk.length
  })
  const sent = createHash('sha256')
  const traffic = { sentBytes: 0 }
  let pending = ''
  const write = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text)
    sent.update(bytes)
    traffic.sentBytes += bytes.length
    if (!child.stdin.write(bytes)) await new Promise<void>((resolve) => void child.stdin.once('drain', resolve))
  }
  for (let id = 1; traffic.sentBytes < total; id += 1) {
    const line = randomLine(random, id)
    // A mirror answers nothing: each request is cancelled, or the shim would answer it in the end.
    const asked = /"method":"(?:tools\/call|resources\/read)"/.exec(line)?.[0]
    const requestId = asked?.includes('resources') === true ? `"r-${id}"` : id
    const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${requestId}}}\n`
    pending += `${line}\n${asked === undefined ? '' : cancel}`
    // Pieces end anywhere, also within a character's bytes once encoded by the pipe.
    if (pending.length > random() * 100_000) {
      const cut = Math.floor(random() * pending.length)
      const isSplit = pending.charCodeAt(cut) >= 0xdc00 && pending.charCodeAt(cut) <= 0xdfff
      const end = isSplit ? cut + 1 : cut
      await write(pending.slice(0, end))
      pending = pending.slice(end)
    }
  }
  await write(pending)
  child.stdin.end()
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve))
  expect({ seed, code, bytes: receivedBytes }).toEqual({ seed, code: 0, bytes: traffic.sentBytes })
  expect(received.digest('hex')).toBe(sent.digest('hex'))
  const runEnd = parseLines(tail).at(-1)
  expect(runEnd).toMatchObject({ type: 'run_end', run: { status: 'SUCCEEDED' } })
})

test('framing holds for any bytes in any pieces: nothing crashes, the next good call passes', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const random = randomFrom(seed)
  const { startShim, toolCall } = await import('../support/shim-client.ts')
  const shim = startShim({
    policy: {
      policy_id: 'p',
      version: '1',
      mode: 'guardrails',
      defaults: { decision_on_error: 'BLOCK' },
      selectors: {},
      rules: [],
    },
  })
  for (let round = 0; round < scaled(60, 20_000); round += 1) {
    const base = Buffer.from(
      random() < 0.5
        ? JSON.stringify(toolCall(round, 'echo', { t: randomText(random, 40).replaceAll('\\', '') }))
        : randomLine(random, round).slice(0, 5_000),
    )
    for (let edits = Math.floor(random() * 4); edits > 0; edits -= 1)
      base[Math.floor(random() * base.length)] = Math.floor(random() * 256)
    const cut = Math.floor(random() * base.length)
    shim.program.stdin.write(base.subarray(0, cut))
    shim.program.stdin.write(Buffer.concat([base.subarray(cut), Buffer.of(10)]))
  }
  expect(await shim.call('echo', { seed }, 'last')).toHaveProperty('result')
  const { code, events } = await shim.end()
  expect({ seed, code, books: checkBooks(events) }).toEqual({ seed, code: 0, books: [] })
})
