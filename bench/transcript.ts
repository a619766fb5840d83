// Following a transcript of 100 MB against whoever only reads its lines.
import { closeSync, createReadStream, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { GrowingFile } from '../src/hosts/usage/growing-file.ts'
import { READERS } from '../src/hosts/usage/transcript-places.ts'
import type { UsageHost } from '../src/hosts/usage/usage.ts'
import { type Comparison, runBench } from './support/bench.ts'

const BYTES = 100_000_000

/** Recorded lines again and again, each message under an id of its own, and between them what tools have said, which is most of a transcript. */
function makeTranscript(host: UsageHost, path: string): void {
  const recorded = readFileSync(`test/fixtures/recordings/${host}/session.jsonl`, 'utf8').trimEnd().split('\n')
  const fd = openSync(path, 'w')
  let size = 0
  for (let round = 0; size < BYTES; round += 1) {
    const lines = recorded.flatMap((line, at) => [
      line.replace(/"(msg|resp)_(\d+)"/, `"$1_${round}_$2"`),
      JSON.stringify({ type: 'user', n: at, message: { content: `${round} line of a file\n`.repeat(100) } }),
    ])
    size += writeSync(fd, `${lines.join('\n')}\n`)
  }
  closeSync(fd)
}

function follow(host: UsageHost, path: string): number {
  const reader = READERS[host]()
  const file = new GrowingFile(path, reader.marks)
  let found = 0
  file.read({ line: (text) => (found += typeof reader.read(text) === 'object' ? 1 : 0), tooLong: () => undefined })
  file.close()
  return found
}

async function readLines(path: string): Promise<number> {
  let lines = 0
  for await (const line of createInterface({ input: createReadStream(path) })) lines += line === '' ? 0 : 1
  return lines
}

/** The barest there is: blocks, and where their lines end. */
function countLines(path: string): number {
  const fd = openSync(path, 'r')
  const block = Buffer.alloc(1 << 20)
  let lines = 0
  for (let count = readSync(fd, block); count > 0; count = readSync(fd, block)) {
    const bytes = block.subarray(0, count)
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1
  }
  closeSync(fd)
  return lines
}

const milliseconds = (act: () => number | Promise<number>) => async (): Promise<number> => {
  const before = performance.now()
  if ((await act()) === 0) throw new Error('nothing was found')
  return performance.now() - before
}

await runBench({
  name: 'transcript',
  about: 'following a transcript of 100 MB from its beginning, as a keeper does that takes over',
  prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'transcript-'))
    const comparisons = (['claude', 'codex', 'gemini'] as const).map((host): Comparison => {
      const path = join(folder, `${host}.jsonl`)
      makeTranscript(host, path)
      return {
        what: `${host}, all messages with their usage`,
        unit: 'ms',
        rounds: 5,
        ours: { name: 'follower', measure: milliseconds(() => follow(host, path)) },
        peers: [
          { name: 'node:readline', measure: milliseconds(() => readLines(path)), goal: { atMost: 2 } },
          { name: 'counting newlines', measure: milliseconds(() => countLines(path)) },
        ],
      }
    })
    return { comparisons, cleanup: () => rmSync(folder, { recursive: true, force: true }) }
  },
})
