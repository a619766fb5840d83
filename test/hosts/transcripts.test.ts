// Usage in the hosts' own files, on recordings of the real hosts (npm run test:hosts makes them and holds them against the hosts).
import type { TokenCounts } from '../../src/token-counts.ts'
import { recording } from '../support/hosts/recordings.ts'
import { expect, test } from 'vitest'
import { READERS } from '../../src/hosts/usage/transcript-places.ts'
import { type MessageUsage, NO_TOKENS, plusTokens, type UsageHost } from '../../src/hosts/usage/usage.ts'

const linesOf = (host: UsageHost, name: string): string[] => recording(host, `${name}.jsonl`).trimEnd().split('\n')

function readAll(host: UsageHost, lines: readonly string[]) {
  const reader = READERS[host]()
  const messages = new Map<string, MessageUsage>()
  const totals: ReadonlyMap<string, TokenCounts>[] = []
  let strange = 0
  for (const line of lines) {
    const news = reader.read(line)
    if (news === 'strange') strange += 1
    else if (news !== undefined && 'totals' in news) totals.push(news.totals)
    else if (news !== undefined) messages.set(news.id, news)
  }
  const sum = [...messages.values()].reduce((all, { tokens }) => plusTokens(all, tokens), NO_TOKENS)
  return { messages: [...messages.values()], sum, totals, strange, facts: reader.facts }
}

const none = { cache_write: 0, cache_write_1h: 0 }

/** What the scripted model said in the recorded session, and to its subagent. */
test.each([
  [
    'claude',
    'claude-opus-5-5',
    '2.1.325',
    { ...none, input: 900, cached: 9000, cache_write: 10, output: 130, reasoning: 11 },
    { ...none, input: 18, cached: 31, output: 36, reasoning: 3 },
  ],
  [
    'codex',
    'gpt-6.1-sol',
    '0.166.0',
    { ...none, input: 617, cached: 6000, output: 99, reasoning: 11 },
    { ...none, input: 18, cached: 31, output: 36, reasoning: 3 },
  ],
  [
    'gemini',
    'gemini-2.5-pro',
    null,
    { ...none, input: 600, cached: 6000, output: 90, reasoning: 11 },
    // It is asked once more when it forgot to say that it is done.
    { ...none, input: 25, cached: 40, output: 39, reasoning: 3 },
  ],
] as const)('%s: the recorded session and its subagent, to the token', (host, model, version, main, subagent) => {
  const session = readAll(host, linesOf(host, 'session'))
  expect(session).toMatchObject({ sum: main, strange: 0, facts: { version } })
  expect(session.messages.every((message) => message.model === model && message.atMs !== null)).toBe(true)
  expect(session.facts.session).not.toBeNull()
  expect(readAll(host, linesOf(host, 'subagent'))).toMatchObject({ sum: subagent, strange: 0 })
})

test('claude: the count of the session has its subagent in it', () => {
  const { totals } = readAll('claude', linesOf('claude', 'session'))
  const sum = plusTokens(
    readAll('claude', linesOf('claude', 'session')).sum,
    readAll('claude', linesOf('claude', 'subagent')).sum,
  )
  expect(totals.at(-1)?.get('claude-opus-5-5')).toEqual(sum)
})

test('codex: a version that writes no records is read by the count that only grows, and both together count once', () => {
  const lines = linesOf('codex', 'session')
  const whole = readAll('codex', lines)
  const counted = readAll(
    'codex',
    lines.filter((line) => !line.includes('"token_usage_record"')),
  )
  expect(counted.sum).toEqual(whole.sum)
  expect(counted.messages).toHaveLength(whole.messages.length)
})

test.each(['claude', 'codex', 'gemini'] as const)(
  '%s: a cut line, another form and other types are strange, and never numbers',
  (host) => {
    const lines = linesOf(host, 'session')
    const used = lines.filter((line) => READERS[host]().marks.some((mark) => line.includes(mark)))
    for (const line of used) expect(READERS[host]().read(line.slice(0, -10))).toBe('strange')
    const other = lines.map((line) => line.replaceAll(/"(input|output)(_tokens)?":(\d+)/g, '"$1$2":"$3"'))
    expect(readAll(host, other)).toMatchObject({ messages: [], sum: NO_TOKENS })
    expect(readAll(host, other).strange).toBeGreaterThan(0)
    for (const hostile of ['null', '[]', '7', '"x"', '{}', '{"type":null}', '{"payload":[]}'])
      expect([undefined, 'strange']).toContain(READERS[host]().read(hostile))
  },
)
