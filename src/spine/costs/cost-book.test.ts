// Each message is booked once, and what is summed is what hosts told.
import type { TokenCounts } from '../../token-counts.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NO_TOKENS, plusTokens, type TranscriptFacts } from '../../hosts/usage/usage.ts'
import type { ModelUsage } from '../../runs/owned-run.ts'
import { CostBook } from './cost-book.ts'

const START_MS = Date.parse('2026-11-16T10:00:00Z')
const facts: TranscriptFacts = { version: '1', session: 's', cwd: '/p', isSubagent: false, messages: 0, usages: 0 }
const found = { transcript: { host: 'claude', path: '/x/s.jsonl', session: 's' }, facts } as const
const used = (input: number, output: number, cached = 0): TokenCounts => ({ ...NO_TOKENS, input, output, cached })
const message = (id: string, tokens: TokenCounts, atMs: number | null = START_MS + 1, model = 'claude-opus-5-5') => ({
  id,
  model,
  atMs,
  tokens,
})

function book(restored: readonly ModelUsage[] = []) {
  const booked: ModelUsage[] = []
  const costs = new CostBook(START_MS, (usage) => void booked.push(usage))
  for (const usage of restored) costs.restore(usage)
  return { booked, costs }
}

test('a message on several lines is one booking; what is told of it later is booked as the difference', () => {
  const { booked, costs } = book()
  for (const output of [1, 1, 20]) costs.message(message('m', used(100, output, 1_000)), found)
  expect(booked.map(({ tokens, is_correction }) => [tokens.output, is_correction])).toEqual([
    [1, false],
    [19, true],
  ])
  // 100 × $4 + 1000 × $0.20 + 20 × $20, by the million.
  expect(costs.total).toMatchObject({ messages: 1, tokens: used(100, 20, 1_000), usd: 0.001 })
})

test('whoever goes on with a record books nothing twice, and all sums are those of one who was never interrupted', () => {
  const messages = fc.array(fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), output: fc.nat({ max: 9 }) }), {
    maxLength: 20,
  })
  fc.assert(
    fc.property(messages, fc.nat({ max: 20 }), (all, cut) => {
      const whole = book()
      for (const { id, output } of all) whole.costs.message(message(id, used(1, output)), found)
      const first = book()
      for (const { id, output } of all.slice(0, cut)) first.costs.message(message(id, used(1, output)), found)
      const second = book(first.booked)
      // The transcript is read from its beginning.
      for (const { id, output } of all) second.costs.message(message(id, used(1, output)), found)
      expect(second.costs.total).toEqual(whole.costs.total)
      const sum = [...first.booked, ...second.booked].reduce((tokens, one) => plusTokens(tokens, one.tokens), NO_TOKENS)
      expect(sum).toEqual(whole.costs.total.tokens)
    }),
  )
})

test('what was said before the run is another run’s', () => {
  const { booked, costs } = book()
  costs.message(message('old', used(5, 5), START_MS - 1), found)
  costs.message(message('new', used(1, 1)), found)
  expect(booked.map(({ message_id: id }) => id)).toEqual(['new'])
})

test('a model without a price is counted in tokens, and named', () => {
  const { booked, costs } = book()
  costs.message(message('m', used(1, 1), START_MS, 'some-new-model'), found)
  expect(booked[0]).toMatchObject({ usd: null, model: 'some-new-model' })
  expect(costs.total).toMatchObject({ usd: 0, unpriced: ['some-new-model'], tokens: used(1, 1) })
})

test('what the host counted beside its messages is booked at the end, without what it had before the run', () => {
  const { booked, costs } = book()
  costs.message(message('old', used(50, 5), START_MS - 10), found)
  // Before the run: 50 for the message, and 3 beside it.
  costs.count({ totals: new Map([['claude-opus-5-5', used(53, 5)]]) }, found, START_MS - 10)
  costs.message(message('new', used(7, 2)), found)
  costs.count({ totals: new Map([['claude-opus-5-5', used(53 + 7 + 4, 5 + 2 + 1)]]) }, found, START_MS + 5)
  costs.settle()
  costs.settle()
  expect(costs.total.tokens).toEqual(used(7 + 4, 2 + 1))
  expect(booked).toHaveLength(2)
  expect(booked[1]).toMatchObject({ message_id: 's claude-opus-5-5 beside its messages', tokens: used(4, 1) })
})
