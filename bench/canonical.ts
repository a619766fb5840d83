// Canonical hash from source text against the library `canonicalize` with `crypto`, which has to parse first.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { canonicalHash } from '../src/canonical/canonical.ts'
import { type Comparison, runBench } from './support/bench.ts'

/** What a tool call carries: paths, numbers, flags, short texts; `ordered` has the keys in order already. */
function structuredArgs(bytes: number, ordered: boolean): string {
  const items: unknown[] = []
  for (let size = 0; size < bytes;) {
    const i = items.length
    const item = {
      path: `src/module${i % 97}/file-${(i * 7919) % 100_003}.ts`,
      line: (i * 31) % 5_000,
      ratio: ((i * 7) % 1_000) / 1_000,
      flags: [true, false, null],
      nested: { id: `n${i}`, text: 'say "yes"\nor no', count: i },
    }
    const entries = Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))
    items.push(
      ordered ? { ...Object.fromEntries(entries), nested: { count: i, id: `n${i}`, text: 'say "yes"\nor no' } } : item,
    )
    size += JSON.stringify(item).length + 1
  }
  return JSON.stringify({ items })
}

function compareOn(what: string, text: string, atLeast: number): Comparison {
  const source = Buffer.from(text)
  const repeats = Math.max(3, Math.ceil(6_000_000 / source.length))
  const peerHash = (): string =>
    createHash('sha256')
      .update(canonicalize(JSON.parse(source.toString())) ?? '')
      .digest('hex')
  if (canonicalHash(source) !== peerHash()) throw new Error(`${what}: the two hashes differ`)
  const megabytesPerSecond = (hash: () => string) => (): number => {
    const before = performance.now()
    for (let i = 0; i < repeats; i += 1) hash()
    return (source.length * repeats) / 1_000 / (performance.now() - before)
  }
  return {
    what: `${what}, ${source.length} bytes`,
    unit: 'MB/s',
    rounds: 9,
    ours: { name: 'canonicalHash', measure: megabytesPerSecond(() => canonicalHash(source)) },
    peers: [{ name: 'JSON.parse + canonicalize + sha256', measure: megabytesPerSecond(peerHash), goal: { atLeast } }],
  }
}

await runBench({
  name: 'canonical',
  about:
    'SHA-256 of canonical JSON, from source bytes (the aim for structured arguments is 150 MB/s on a quiet machine)',
  prepare: () => ({
    comparisons: [
      compareOn('structured arguments, keys in order', structuredArgs(1 << 20, true), 1),
      compareOn('structured arguments, keys in any order', structuredArgs(1 << 20, false), 1),
      compareOn('one small call', structuredArgs(200, false), 1),
      compareOn('pretty-printed', JSON.stringify(JSON.parse(structuredArgs(1 << 20, false)), null, 2), 1),
      compareOn('one long text', JSON.stringify({ content: 'const answer = "forty-two";\n'.repeat(40_000) }), 1),
    ],
  }),
})
