import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LedgerRow } from './token-ledger.ts'
import { changeText, countedRows, deltaLine, reportLines, totalsBy, totalsOf } from './token-report.ts'

const row = (over: Partial<LedgerRow>): LedgerRow => ({
  ts: 't',
  role: 'r',
  kind: 'k',
  tokens: 1,
  source: 'declared',
  tokenizer: null,
  ...over,
})

test('seed 000, delta: a saving is a minus, a loss is a plus, and neither is a double minus', () => {
  const of = (tokens: number) => totalsOf([row({ tokens })])
  expect(deltaLine('orchestration', 41_000, of(11_250))).toBe(
    '  orchestration: 41000 -> 11250 tokens (v1 baseline -> measured; -73%)',
  )
  expect([changeText(100, 112), changeText(100, 340), changeText(100, 100), changeText(3, 1)]).toEqual([
    '+12%',
    '+240%',
    '-0%',
    '-67%',
  ])
  expect(deltaLine('r', undefined, of(5))).toBe('  r: baseline n/a -> 5 tokens (no v1 baseline recorded)')
  expect(deltaLine('r', 0, of(5))).toContain('baseline n/a')
})

test('seed 000, "delta computes the measured savings": a role without rows has none', () => {
  expect(deltaLine('orchestration', 41_000, totalsOf([]))).toBe(
    '  orchestration: 41000 -> nothing logged yet, no saving to report',
  )
})

test('a role cannot forge a line of the report', () => {
  expect(reportLines([row({ role: 'a\n  TOTAL: 0 tokens' })], 'all runs')).toHaveLength(3)
})

test('a number declared for a message that was measured is superseded, in its own run only', () => {
  const rows = [
    row({ tokens: 3_300, msg_id: 'b1' }),
    row({ tokens: 160, msg_id: 'b1', source: 'measured' }),
    row({ tokens: 7, msg_id: 'b1', run_id: 'other' }),
    row({ tokens: 5, msg_id: 'b2' }),
    row({ tokens: 5, msg_id: 'b2' }),
  ]
  expect(totalsOf(countedRows(rows)).tokens).toBe(160 + 7 + 5 + 5)
  expect(totalsOf(countedRows(rows, 'other')).tokens).toBe(7)
})

test('totals are the sum of their parts', () => {
  const rows = fc.array(
    fc
      .record({
        role: fc.constantFrom('a', 'b', 'c'),
        tokens: fc.nat(1e6),
        cached: fc.nat(1e6),
        measured: fc.boolean(),
      })
      .map(({ role, tokens, cached, measured }) =>
        row({ role, tokens, cached_tokens: Math.min(cached, tokens), source: measured ? 'measured' : 'declared' }),
      ),
  )
  fc.assert(
    fc.property(rows, (rows) => {
      const total = totalsOf(rows)
      const parts = [...totalsBy(rows, (entry) => entry.role).values()]
      for (const column of ['tokens', 'cached', 'uncached', 'messages', 'measured', 'declared'] as const)
        expect(parts.reduce((sum, part) => sum + part[column], 0)).toBe(total[column])
      expect(total.cached + total.uncached).toBe(total.tokens)
      expect(total.measured + total.declared).toBe(total.tokens)
    }),
  )
})
