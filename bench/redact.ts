// Known secrets taken out of bytes, in all their forms, against the least work possible: one search per secret for its plain form.
import { readFileSync } from 'node:fs'
import { KnownSecrets } from '../src/known-secrets/known-secrets.ts'
import { StreamRedactor } from '../src/known-secrets/stream-redactor.ts'
import { type Comparison, runBench } from './support/bench.ts'

const SECRETS = Array.from({ length: 20 }, (_, i) =>
  Buffer.from(`${i * 7919}-key-${i * i}-of-a-service`).toString('base64'),
)
const PIECE_BYTES = 64 << 10

const LINE = (i: number): string =>
  `2026-11-16T08:${i % 60}:00Z info server handled request id=${i * 31} path=/api/v1/items/${i % 977} status=200 in ${i % 80} ms\n`
/** A tool's result with a file of source in it. */
const SOURCE = readFileSync(new URL('../../src/limits.ts', import.meta.url), 'utf8')
const MESSAGE = (i: number): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id: i, result: { content: [{ type: 'text', text: SOURCE }] } })}\n`

function textOf(line: (i: number) => string): Buffer {
  const lines: string[] = []
  for (let i = 0, bytes = 0; bytes < 16 << 20; i += 1) bytes += lines[lines.push(line(i)) - 1]?.length ?? 0
  return Buffer.from(lines.join(''))
}

function compareOn(what: string, text: Buffer, atLeast: number): Comparison {
  const secrets = new KnownSecrets(SECRETS)
  const wanted = SECRETS.map((secret) => Buffer.from(secret))
  const megabytesPerSecond = (pass: () => number) => (): number => {
    const before = performance.now()
    if (pass() !== 0) throw new Error(`${what}: there is no secret in it`)
    return text.length / 1_000 / (performance.now() - before)
  }
  return {
    what,
    unit: 'MB/s',
    rounds: 9,
    ours: {
      name: '20 secrets, every form',
      measure: megabytesPerSecond(() => {
        let found = 0
        const redactor = new StreamRedactor(secrets, '[REDACTED]', () => (found += 1))
        for (let at = 0; at < text.length; at += PIECE_BYTES) redactor.push(text.subarray(at, at + PIECE_BYTES))
        redactor.end()
        return found
      }),
    },
    peers: [
      {
        name: 'one indexOf per secret, plain form',
        measure: megabytesPerSecond(() => wanted.filter((secret) => text.includes(secret)).length),
        goal: { atLeast },
      },
    ],
  }
}

await runBench({
  name: 'redact',
  about: 'bytes of an upstream with 20 secrets bound, none of them in the bytes, in pieces of 64 KiB',
  prepare: () => ({
    comparisons: [
      // A native search is at its best here: few letters of the lines begin a secret.
      compareOn('lines of a log', textOf(LINE), 0.08),
      compareOn('messages of JSON, with escapes', textOf(MESSAGE), 1),
    ],
  }),
})
